import assert from 'node:assert/strict'
import { test } from 'node:test'
import { revisionHash } from '@gyropilot/api'
import type { ControllerRevision, PodTemplateSpec } from '@gyropilot/api'
import { drive } from '@gyropilot/runtime/testing'
import { controllerRevision } from '../revision-support/fixtures.ts'
import { templatePatch } from '../revision-support/revision-data.ts'
import { TEMPLATE, refused } from '../workload-support/fixtures.ts'
import { ownedRevision, setPod, statefulSet } from './fixtures.ts'
import { determineRevisions, truncateHistory } from './revisions.ts'
import type { RevisionRules } from './revisions.ts'

const image = (tag: number): PodTemplateSpec => ({
  ...TEMPLATE,
  spec: { containers: [{ name: 'c', image: `img:${tag}` }] },
})
const set = statefulSet({ spec: { template: image(2) } })
const history = [1, 2, 3].map((tag) => ownedRevision(set, `r${tag}`, tag, image(tag)))
const RULES = { semanticRevisions: true, cached: () => undefined }
const hashOf = (template: PodTemplateSpec, count: number) =>
  revisionHash(templatePatch(template).text, count)

function determined(
  revisions: readonly ControllerRevision[],
  given: { set?: typeof set; rules?: RevisionRules; options?: Parameters<typeof drive>[1] } = {},
) {
  const rules = determineRevisions(given.set ?? set, revisions, given.rules ?? RULES)
  const { result, writes } = drive(rules, given.options)
  return {
    writes,
    result,
    found: result.ok && {
      current: result.object.current.metadata?.name,
      update: result.object.update.metadata?.name,
      number: result.object.update.revision,
      collisionCount: result.object.collisionCount,
    },
  }
}

test('the first revision is number 1, of the hash with collision count 0, and both current and update', () => {
  const name = `db-${hashOf(image(2), 0)}`
  const { found, writes } = determined([])
  assert.deepEqual(found, { current: name, update: name, number: 1, collisionCount: 0 })
  const [made] = writes
  assert.ok(made?.verb === 'create')
  assert.deepEqual(made.object.metadata?.labels, {
    app: 'a',
    'controller.kubernetes.io/hash': hashOf(image(2), 0),
  })
})

test('Given revisions 1, 2, 3 and a set equal to 2, then revision 2 is renumbered 4', () => {
  const { found, writes } = determined(history)
  assert.deepEqual(found, { current: 'r2', update: 'r2', number: 4, collisionCount: 0 })
  assert.deepEqual(
    writes.map((write) => [write.verb, 'object' in write && write.object.metadata?.name]),
    [['update', 'r2']],
  )
})

test('a renumbering that meets a conflict goes on with what the cache has by then', () => {
  const [, second] = history
  const metadata = { ...second!.metadata, resourceVersion: '99' }
  const cached = (name: string) => (name === 'r2' ? { ...second!, metadata } : undefined)
  const { writes, found } = determined(history, {
    rules: { ...RULES, cached },
    options: {
      onWrite: (_, index) => (index === 0 ? refused(409, 'Conflict', 'changed') : undefined),
    },
  })
  assert.deepEqual(
    writes.map((write) => 'object' in write && write.object.metadata?.resourceVersion),
    [second!.metadata?.resourceVersion, '99'],
  )
  assert.equal(found && found.number, 4)
})

test('the newest revision is kept as it is, and so is the current one that the status names', () => {
  const at3 = statefulSet({ spec: { template: image(3) }, status: { currentRevision: 'r1' } })
  const { found, writes } = determined(history, { set: at3 })
  assert.deepEqual(found, { current: 'r1', update: 'r3', number: 3, collisionCount: 0 })
  assert.equal(writes.length, 0)
})

test('of two revisions with equal data the newest counts', () => {
  const twin = ownedRevision(set, 'twin', 4, image(2))
  assert.deepEqual(determined([...history, twin]).found, {
    current: 'twin',
    update: 'twin',
    number: 4,
    collisionCount: 0,
  })
})

test('a current revision that is gone is replaced by the update revision', () => {
  const lost = statefulSet({ spec: { template: image(3) }, status: { currentRevision: 'lost' } })
  assert.equal(determined(history, { set: lost }).found && 'r3', 'r3')
  assert.deepEqual(determined(history, { set: lost }).found, {
    current: 'r3',
    update: 'r3',
    number: 3,
    collisionCount: 0,
  })
})

/** As the server has it. */
const COMPLETE: PodTemplateSpec = {
  ...TEMPLATE,
  spec: {
    ...TEMPLATE.spec!,
    restartPolicy: 'Always' as const,
    dnsPolicy: 'ClusterFirst' as const,
    schedulerName: 'default-scheduler',
    securityContext: {},
    terminationGracePeriodSeconds: 30,
    containers: [
      {
        ...TEMPLATE.spec!.containers[0]!,
        imagePullPolicy: 'IfNotPresent' as const,
        resources: {},
        terminationMessagePath: '/dev/termination-log',
        terminationMessagePolicy: 'File' as const,
      },
    ],
  },
}
const complete = statefulSet({ spec: { template: COMPLETE } })
const inOldWords = (template: PodTemplateSpec) =>
  ({ ...template, metadata: { ...template.metadata, creationTimestamp: null } }) as never

test('Given a revision stored by 1.33 with a null creationTimestamp in the data, then no new revision is created', () => {
  const stored = ownedRevision(complete, 'old', 7, inOldWords(COMPLETE))
  const { found, writes } = determined([history[0]!, stored], { set: complete })
  assert.deepEqual(found, { current: 'old', update: 'old', number: 7, collisionCount: 0 })
  assert.equal(writes.length, 0)
})

test('a revision of a release that knew fewer defaults is the same, one that said something else is not', () => {
  const bare = ownedRevision(complete, 'bare', 7)
  assert.equal(determined([bare], { set: complete }).writes.length, 0)
  const other = ownedRevision(complete, 'other', 7, {
    ...TEMPLATE,
    spec: { ...TEMPLATE.spec!, terminationGracePeriodSeconds: 5 },
  })
  assert.equal(determined([other], { set: complete }).writes[0]?.verb, 'create')
  assert.equal(
    bare.data && 'spec' in bare.data && JSON.stringify(bare.data).includes('dnsPolicy'),
    false,
  )
})

test('with the gate off, or where it is not the newest, other words are another revision', () => {
  const stored = ownedRevision(complete, 'old', 7, inOldWords(COMPLETE))
  const off = determined([stored], {
    set: complete,
    rules: { ...RULES, semanticRevisions: false },
  })
  assert.equal(off.writes[0]?.verb, 'create')
  assert.deepEqual(off.found && off.found.number, 8)
  const older = ownedRevision(complete, 'old', 1, inOldWords(COMPLETE))
  assert.equal(determined([older, history[2]!], { set: complete }).writes[0]?.verb, 'create')
  const broken = controllerRevision({ data: {}, revision: 9 })
  assert.equal(determined([broken]).writes[0]?.verb, 'create')
})

test('a name that is taken raises the collision count, beginning with that of the status', () => {
  const counted = statefulSet({ spec: { template: image(2) }, status: { collisionCount: 3 } })
  const { found } = determined([], {
    set: counted,
    options: {
      onWrite: (_, index) => (index === 0 ? refused(409, 'AlreadyExists') : undefined),
      onRead: () => ({ ok: true, object: controllerRevision({ data: { spec: {} } }) }),
    },
  })
  const name = `db-${hashOf(image(2), 4)}`
  assert.deepEqual(found, { current: name, update: name, number: 1, collisionCount: 4 })
})

test('a refusal is handed on', () => {
  const refusal = refused(403, 'Forbidden')
  assert.deepEqual(determined([], { options: { onWrite: () => refusal } }).result, refusal)
})

const five = [1, 2, 3, 4, 5].map((tag) => ownedRevision(set, `r${tag}`, tag, image(tag)))

function truncated(limit: number | undefined, refuse?: number, code = 500) {
  const limited = statefulSet({ spec: { revisionHistoryLimit: limit } })
  const pods = [setPod(limited, 0, { revision: 'r2' })]
  const { writes, result } = drive(truncateHistory(limited, five, pods, ['r4', 'r5']), {
    onWrite: (_, index) =>
      index === refuse ? refused(code, code === 404 ? 'NotFound' : 'Oops') : undefined,
  })
  return { result, names: writes.map((write) => 'name' in write && write.name) }
}

test('history: current, update and what pods are of stay, of the rest the lowest go until the limit remains', () => {
  assert.deepEqual(truncated(1).names, ['r1'])
  assert.deepEqual(truncated(0).names, ['r1', 'r3'])
  assert.deepEqual(truncated(2).names, [])
  assert.deepEqual(truncated(undefined).names, [])
  assert.deepEqual(truncated(-1).names, [])
})

test('history: a set that does not say how much of it is kept keeps ten', () => {
  const { revisionHistoryLimit: _, ...silent } = statefulSet().spec!
  const many = Array.from({ length: 12 }, (_each, index) =>
    ownedRevision(statefulSet(), `r${index}`, index + 1),
  )
  const { writes } = drive(truncateHistory({ ...statefulSet(), spec: silent }, many, [], ['r11']))
  assert.deepEqual(
    writes.map((write) => 'name' in write && write.name),
    ['r0'],
  )
})

test('history: a deletion that fails does not keep the next from going', () => {
  const { names, result } = truncated(0, 0)
  assert.deepEqual(names, ['r1', 'r3'])
  assert.match(String(result.error), /Oops/)
  assert.deepEqual(truncated(0, 0, 404).result, {})
})
