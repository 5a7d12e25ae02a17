import assert from 'node:assert/strict'
import { test } from 'node:test'
import { resources } from '@gyropilot/api'
import type { ControllerRevision, DaemonSet, Pod } from '@gyropilot/api'
import { drive } from '@gyropilot/runtime/testing'
import type { DriveOptions } from '@gyropilot/runtime/testing'
import { TEMPLATE, refused } from '../workload-support/fixtures.ts'
import { podTemplateHash } from '../workload-support/pod-template-hash.ts'
import { HASH, OLD_HASH, daemonPod, daemonSet, revision } from './fixtures.ts'
import { cleanUpHistory, constructHistory } from './history.ts'

const OTHER = { ...TEMPLATE, spec: { containers: [{ name: 'c', image: 'img:0' }] } }

interface Given {
  readonly owner?: DaemonSet
  readonly pods?: readonly Pod[]
  readonly podsError?: unknown
}

function constructed(
  revisions: readonly ControllerRevision[],
  { owner = daemonSet(), pods = [], podsError }: Given = {},
  options: DriveOptions = {},
) {
  const { writes, result } = drive(
    constructHistory({
      daemonSet: owner,
      matches: ({ metadata }) => metadata?.labels?.['app'] === 'a',
      revisions,
      // Nothing to adopt.
      *claimPods() {
        return { objects: pods, error: podsError }
      },
    }),
    options,
  )
  return { writes, result, verbs: writes.map(({ verb, type }) => `${verb} ${type.resource}`) }
}

function named(result: ReturnType<typeof constructed>['result']) {
  assert.ok(result.ok)
  return {
    current: [result.current.metadata?.name, result.current.revision],
    old: result.old.map(({ metadata }) => metadata?.name),
    relabelled: result.podsRelabelled,
  }
}

test('the first revision is made with the name, labels, annotations and owner of the page', () => {
  const { writes, result } = constructed([])
  const [write] = writes
  assert.ok(write?.verb === 'create')
  assert.deepEqual(write.object, {
    apiVersion: 'apps/v1',
    kind: 'ControllerRevision',
    metadata: {
      name: `ds-${HASH}`,
      namespace: 'ns',
      labels: { app: 'a', 'controller-revision-hash': HASH },
      annotations: { 'deprecated.daemonset.template.generation': '1' },
      ownerReferences: [
        {
          apiVersion: 'apps/v1',
          kind: 'DaemonSet',
          name: 'ds',
          uid: 'ds-uid',
          controller: true,
          blockOwnerDeletion: true,
        },
      ],
    },
    data: { spec: { template: { ...TEMPLATE, $patch: 'replace' } } },
    revision: 1,
  })
  assert.deepEqual(named(result), { current: [`ds-${HASH}`, 1], old: [], relabelled: false })
})

test('a revision of the same data is the current one, whatever its name, and nothing is written', () => {
  const known = revision({ name: 'other', revision: 3 })
  const old = [
    revision({ name: 'b', hash: OLD_HASH, template: OTHER, revision: 2 }),
    revision({ name: 'a', hash: OLD_HASH, template: OTHER, revision: 1 }),
  ]
  const { writes, result } = constructed([known, ...old])
  assert.deepEqual(writes, [])
  assert.deepEqual(named(result), { current: ['other', 3], old: ['a', 'b'], relabelled: false })
})

test('a template that comes back gets the next number', () => {
  const { writes, result } = constructed([
    revision({ revision: 1 }),
    revision({ name: 'later', hash: OLD_HASH, template: OTHER, revision: 2 }),
  ])
  assert.deepEqual(
    writes.map(
      (write) => write.verb === 'update' && [write.object.metadata?.name, write.subresource],
    ),
    [[`ds-${HASH}`, undefined]],
  )
  assert.deepEqual(named(result).current, [`ds-${HASH}`, 3])
})

test('a revision without the hash label gets its own name as its hash', () => {
  const bare = revision({ name: 'bare', labels: { app: 'a' } })
  const { writes, result } = constructed([bare])
  assert.ok(writes[0]?.verb === 'update')
  assert.deepEqual(writes[0].object.metadata?.labels, {
    app: 'a',
    'controller-revision-hash': 'bare',
  })
  assert.equal(writes.length, 1)
  assert.deepEqual(named(result).current, ['bare', 1])
})

test('orphans of the selector are adopted after a live look, owned ones that do not match are released', () => {
  const orphan = revision({ owner: undefined as never })
  const stranger = revision({ name: 'stranger', labels: { app: 'b' }, template: OTHER })
  const onRead = () => ({ ok: true, object: daemonSet() }) as const
  const { verbs, result } = constructed([orphan, stranger], {}, { onRead })
  assert.deepEqual(verbs, ['patch controllerrevisions', 'patch controllerrevisions'])
  assert.deepEqual(named(result).old, [])
})

test('Given duplicate current revisions, then pods are relabelled to the newest and duplicates deleted', () => {
  const duplicates = [
    revision({ name: 'first', hash: 'x', revision: 1 }),
    revision({ name: 'third', hash: 'z', revision: 3 }),
    revision({ name: 'second', hash: 'y', revision: 2 }),
  ]
  const pods = [
    daemonPod('n0', { hash: 'x' }),
    daemonPod('n1', { hash: 'z' }),
    daemonPod('n2', { hash: 'y' }),
    // Of another template, which it must not seem to have left.
    daemonPod('n3', { hash: OLD_HASH }),
  ]
  const { writes, result } = constructed(duplicates, { pods })
  assert.deepEqual(
    writes.map((write) => `${write.verb} ${'name' in write ? write.name : ''}`),
    ['patch on-n0', 'patch on-n2', 'delete first', 'delete second'],
  )
  assert.ok(writes[0]?.verb === 'patch')
  assert.deepEqual(writes[0].patch, {
    type: 'merge',
    value: { metadata: { labels: { 'controller-revision-hash': 'z' } } },
  })
  assert.deepEqual(named(result), { current: ['third', 3], old: [], relabelled: true })
})

test('the newest of duplicates is renumbered too, and labels that are right stay', () => {
  const duplicates = [revision({ name: 'a', revision: 1 }), revision({ name: 'b', revision: 1 })]
  const later = revision({ name: 'later', hash: OLD_HASH, template: OTHER, revision: 4 })
  const { verbs, result } = constructed([...duplicates, later], { pods: [daemonPod('n')] })
  assert.deepEqual(verbs, ['delete controllerrevisions', 'update controllerrevisions'])
  assert.deepEqual(named(result), { current: ['b', 5], old: ['later'], relabelled: false })
  const renamed = [revision({ name: 'a', hash: 'former', revision: 1 }), duplicates[1]!, later]
  const moved = constructed(renamed, { pods: [daemonPod('n', { hash: 'former' })] })
  assert.deepEqual(named(moved.result), { current: ['b', 5], old: ['later'], relabelled: true })
})

function errorOf(result: ReturnType<typeof constructed>['result']): unknown {
  return result.ok ? undefined : result.error
}

function errorIn(outcome: object): unknown {
  return (outcome as { error: unknown }).error
}

const taken = refused(409, 'AlreadyExists')
const nameTaken: DriveOptions['onWrite'] = ({ verb }) => (verb === 'create' ? taken : undefined)

test('a name that is taken by the same data is the current revision', () => {
  const onRead = () =>
    ({ ok: true, object: revision({ revision: 7, owner: undefined as never }) }) as const
  const { result, verbs } = constructed([], {}, { onWrite: nameTaken, onRead })
  assert.deepEqual(verbs, ['create controllerrevisions'])
  assert.deepEqual(named(result).current, [`ds-${HASH}`, 7])
})

function colliding(
  cached: number | undefined,
  live: number | undefined,
  options: DriveOptions = {},
) {
  const counted = (count: number | undefined) =>
    daemonSet({ status: count === undefined ? {} : { collisionCount: count } })
  return constructed(
    [],
    { owner: counted(cached) },
    {
      onWrite: nameTaken,
      onRead: (read) => ({
        ok: true,
        object:
          read.verb === 'get' && read.type === resources.daemonsets
            ? counted(live)
            : revision({ template: OTHER }),
      }),
      ...options,
    },
  )
}

test('Given a name collision, then collisionCount rises and a new name is used', () => {
  for (const [before, after] of [
    [undefined, 1],
    [1, 2],
  ] as const) {
    const { writes, result } = colliding(before, before)
    const last = writes.at(-1)
    assert.ok(last?.verb === 'update')
    assert.equal(last.subresource, 'status')
    assert.equal((last.object as DaemonSet).status?.collisionCount, after)
    assert.equal(errorOf(result), errorIn(taken))
  }
  const { writes } = constructed([], { owner: daemonSet({ status: { collisionCount: 1 } }) })
  assert.ok(writes[0]?.verb === 'create')
  const hash = podTemplateHash(TEMPLATE, 1)
  assert.notEqual(hash, HASH)
  assert.equal(writes[0].object.metadata?.name, `ds-${hash}`)
  assert.equal(writes[0].object.metadata?.labels?.['controller-revision-hash'], hash)
})

test('A name match with other data bumps collisionCount only if the cached count equals the live one.', () => {
  const { verbs, result } = colliding(undefined, 1)
  assert.deepEqual(verbs, ['create controllerrevisions'])
  assert.ok(!result.ok)
  assert.equal(
    String(result.error),
    'Error: found a stale collision count (undefined, expected 1) of DaemonSet "ds" while processing; will retry until it is updated',
  )
})

test('the DaemonSet keeps all else when a collision is counted, as it is on the server', () => {
  const cached = daemonSet({ status: { collisionCount: 1 } })
  const live = daemonSet({
    status: { collisionCount: 1, numberReady: 4 },
    metadata: { resourceVersion: '99', labels: { team: 'x' } },
  })
  const { writes } = constructed(
    [],
    { owner: cached },
    {
      onWrite: nameTaken,
      onRead: (read) => ({
        ok: true,
        object:
          read.verb === 'get' && read.type === resources.daemonsets
            ? live
            : revision({ template: OTHER }),
      }),
    },
  )
  const last = writes.at(-1)
  assert.ok(last?.verb === 'update')
  assert.deepEqual(last.object, { ...live, status: { ...live.status, collisionCount: 2 } })
})

test('the DaemonSet itself is asked for its collision count, and one that is gone is the error', () => {
  const gone = refused(404, 'NotFound')
  const asked: string[] = []
  const { verbs, result } = colliding(undefined, undefined, {
    onRead(read) {
      assert.ok(read.verb === 'get')
      asked.push(`${read.type.kind} ${read.namespace}/${read.name}`)
      return read.type === resources.daemonsets
        ? gone
        : { ok: true, object: revision({ template: OTHER }) }
    },
  })
  assert.deepEqual(asked, [`ControllerRevision ns/ds-${HASH}`, 'DaemonSet ns/ds'])
  assert.deepEqual(verbs, ['create controllerrevisions'])
  assert.equal(errorOf(result), errorIn(gone))
})

test('a collision count that cannot be written is the error', () => {
  const conflict = refused(409, 'Conflict')
  const onWrite: DriveOptions['onWrite'] = ({ verb }) => (verb === 'create' ? taken : conflict)
  const { result } = colliding(undefined, undefined, { onWrite })
  assert.equal(errorOf(result), errorIn(conflict))
})

const failing: readonly (readonly [string, readonly ControllerRevision[], Given])[] = [
  ['a refused create', [], {}],
  ['a refused label', [revision({ labels: { app: 'a' } })], {}],
  ['a refused number', [revision(), revision({ name: 'o', hash: 'o', template: OTHER })], {}],
  ['a refused deletion', [revision(), revision({ name: 'twin' })], {}],
  [
    'a refused relabelling',
    [revision(), revision({ name: 'twin' })],
    { pods: [daemonPod('n', { hash: 'o' })] },
  ],
  ['a refused adoption', [revision({ owner: undefined as never })], {}],
]
for (const [title, revisions, given] of failing) {
  test(`${title} ends the history`, () => {
    const refusal = refused(500, 'InternalError')
    const { result, writes } = constructed(revisions, given, {
      onWrite: () => refusal,
      onRead: () => ({ ok: true, object: daemonSet() }),
    })
    assert.equal(errorOf(result), errorIn(refusal))
    assert.equal(writes.length, 1)
  })
}

test('pods that cannot be claimed keep duplicates from being deleted', () => {
  const podsError = new Error('no')
  const { result, writes } = constructed([revision(), revision({ name: 'twin' })], { podsError })
  assert.deepEqual([result, writes], [{ ok: false, error: podsError }, []])
})

function cleaned(
  limit: number | undefined,
  count: number,
  pods: readonly Pod[] = [],
  options: DriveOptions = {},
) {
  const old = Array.from({ length: count }, (_, index) =>
    revision({ name: `r${index}`, hash: `h${index}`, revision: index + 1 }),
  )
  const base = daemonSet()
  const owner = { ...base, spec: { ...base.spec!, revisionHistoryLimit: limit } } as DaemonSet
  const { writes, result } = drive(cleanUpHistory(owner, old, pods), options)
  return { deleted: writes.map((write) => write.verb === 'delete' && write.name), result }
}

test('the oldest revisions beyond the limit go', () => {
  assert.deepEqual(cleaned(2, 4).deleted, ['r0', 'r1'])
  assert.deepEqual(cleaned(2, 2).deleted, [])
  assert.deepEqual(cleaned(0, 2).deleted, ['r0', 'r1'])
  assert.deepEqual(cleaned(undefined, 11).deleted, ['r0'])
})

test('revisions of pods stay and count', () => {
  const pods = [daemonPod('n', { hash: 'h0' })]
  assert.deepEqual(cleaned(2, 4, pods).deleted, ['r1', 'r2'])
  assert.deepEqual(cleaned(0, 2, pods).deleted, ['r1'])
})

test('a refused deletion ends the clean-up', () => {
  const refusal = refused(500, 'InternalError')
  const { deleted, result } = cleaned(0, 3, [], { onWrite: () => refusal })
  assert.deepEqual([deleted, result], [['r0'], errorIn(refusal)])
})
