import assert from 'node:assert/strict'
import { test } from 'node:test'
import { resources } from '@gyropilot/api'
import type { KubernetesObject, Pod, ResourceClaim } from '@gyropilot/api'
import type { Outcome, Write } from '@gyropilot/runtime'
import { RecordingMetrics, drive, fakeInformers } from '@gyropilot/runtime/testing'
import type { DriveOptions } from '@gyropilot/runtime/testing'
import { defaultControllersConfiguration } from '../configuration.ts'
import { refused } from '../workload-support/fixtures.ts'
import { ALLOCATION, claim, consumer, fromTemplate, pod, template } from './fixtures.ts'
import { resourceClaimLogic } from './index.ts'

const created = (name: string): Outcome => ({ ok: true, object: claim(name, { owner: pod() }) })

/** Claims that are created get the names `made-0`, `made-1`, ... as far as the test says nothing else. */
function controller(
  objects: readonly KubernetesObject[],
  featureGates: Readonly<Record<string, boolean>> = {},
) {
  const metrics = new RecordingMetrics()
  const informers = fakeInformers(objects)
  const logic = resourceClaimLogic({
    informers,
    configuration: { ...defaultControllersConfiguration, featureGates },
    metrics,
  })
  let made = 0
  const name = (write: Write): Outcome | undefined =>
    write.verb === 'create'
      ? {
          ok: true,
          object: {
            ...write.object,
            metadata: { ...write.object.metadata, name: `made-${made++}`, uid: 'u' },
          },
        }
      : undefined
  return {
    informers,
    metrics,
    creates: (status: string, admin_access = 'false') =>
      metrics.value('resourceclaim_controller_creates_total', { status, admin_access }),
    sync(options: DriveOptions = {}) {
      const observed = logic.observe('pod:ns/p')
      assert.ok(observed)
      const { onWrite } = options
      return drive(logic.reconcile(observed), {
        ...options,
        onWrite: (write, index) => onWrite?.(write, index) ?? name(write),
      })
    },
    observe: (key: string) => logic.observe(key),
    /** As the shell does it. */
    tell(resource: string, what: 'onAdd' | 'onDelete', object: KubernetesObject): void {
      const watch = logic.watches.find(({ type }) => type.resource === resource)
      watch?.[what]?.(object)
    },
  }
}

function sync(objects: readonly KubernetesObject[], options: DriveOptions = {}) {
  return controller(objects).sync(options)
}

/** What a sync wrote, in short. */
function story(writes: readonly Write[]): readonly unknown[] {
  return writes.map((write) => {
    if (write.verb === 'create') return `create ${write.object.metadata?.generateName}`
    if (write.verb === 'apply') {
      const { status } = write.object as Pod
      return Object.fromEntries(
        status!.resourceClaimStatuses!.map(({ name, resourceClaimName = null }) => [
          name,
          resourceClaimName,
        ]),
      )
    }
    if (write.verb === 'update')
      return (write.object as ResourceClaim).status?.reservedFor?.map(({ uid }) => uid)
    return write.verb
  })
}

function textOf(error: unknown): string | undefined {
  return (error as Error | undefined)?.message
}

test('Given a pod with a template entry, then a claim with owner, annotation and status entry.', () => {
  const { writes, result } = sync([pod(), template()])
  assert.equal(result, undefined)
  assert.deepEqual(writes, [
    {
      verb: 'create',
      type: resources.resourceclaims,
      namespace: 'ns',
      object: {
        apiVersion: 'resource.k8s.io/v1',
        kind: 'ResourceClaim',
        metadata: {
          generateName: 'p-gpu-',
          namespace: 'ns',
          labels: { l: 'x' },
          annotations: { a: 'y', 'resource.kubernetes.io/pod-claim-name': 'gpu' },
          ownerReferences: [
            { apiVersion: 'v1', kind: 'Pod', name: 'p', uid: 'p-uid', controller: true },
          ],
        },
        spec: { devices: { requests: [{ name: 'r', exactly: { deviceClassName: 'c' } }] } },
      },
    },
    {
      verb: 'apply',
      type: resources.pods,
      namespace: 'ns',
      name: 'p',
      fieldManager: 'ResourceClaimController',
      force: true,
      subresource: 'status',
      object: {
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { name: 'p', namespace: 'ns', uid: 'p-uid' },
        status: { resourceClaimStatuses: [{ name: 'gpu', resourceClaimName: 'made-0' }] },
      },
    },
  ])
})

test('Given admin access in the template with the gate off or on, then an error or a claim.', () => {
  const off = controller([pod(), template({ adminAccess: true })], { DRAAdminAccess: false })
  const refusal = off.sync()
  const text = 'admin access is requested, but the feature is disabled'
  assert.deepEqual([refusal.writes, textOf(refusal.result?.error)], [[], text])
  assert.equal(refusal.events[0]?.message, `PodResourceClaim gpu: ${text}`)
  assert.equal(off.creates('failure', 'true'), undefined)
  const on = controller([pod(), template({ adminAccess: true })])
  assert.deepEqual(story(on.sync().writes), ['create p-gpu-', { gpu: 'made-0' }])
  assert.deepEqual([on.creates('success', 'true'), on.creates('success')], [1, undefined])
})

test('a template with alternatives needs its gate', () => {
  const objects = [pod(), template({ prioritized: true })]
  const refusal = controller(objects, { DRAPrioritizedList: false }).sync()
  assert.equal(
    textOf(refusal.result?.error),
    'template includes a prioritized list of subrequests, but the feature is disabled',
  )
  assert.equal(sync(objects).writes.length, 2)
})

test('Given status and claim already in place, then no writes.', () => {
  const known = pod({ recorded: { gpu: 'known' } })
  assert.deepEqual(sync([known, template(), claim('known', { owner: known })]).effects, [])
  // A null name says that none is needed.
  assert.deepEqual(sync([pod({ recorded: { gpu: null } }), template()]).effects, [])
})

test('Given status names a missing claim, then it is created again and status changed.', () => {
  const { writes } = sync([pod({ recorded: { gpu: 'gone' } }), template()])
  assert.deepEqual(story(writes), ['create p-gpu-', { gpu: 'made-0' }])
})

test('a pod that is over gets what was never recorded, and nothing anew', () => {
  const over = { node: 'n', phase: 'Failed' }
  assert.deepEqual(sync([pod({ ...over, recorded: { gpu: 'gone' } }), template()]).effects, [])
  const theirs = [pod({ ...over, recorded: { gpu: 'theirs' } }), claim('theirs'), template()]
  assert.deepEqual(sync(theirs).effects, [])
  assert.deepEqual(story(sync([pod(over), template()]).writes), [
    'create p-gpu-',
    { gpu: 'made-0' },
  ])
})

test('Given no template, then an error.', () => {
  const { writes, events, result } = sync([pod()])
  const text =
    'resource claim template "tpl": resourceclaimtemplate.resource.k8s.io "tpl" not found'
  assert.deepEqual([writes, textOf(result?.error)], [[], text])
  assert.deepEqual(events, [
    {
      type: 'Warning',
      reason: 'FailedResourceClaimCreation',
      message: `PodResourceClaim gpu: ${text}`,
    },
  ])
})

test('Given an existing owned claim without status entry, then only status is written.', () => {
  const { writes } = sync([pod(), template(), claim('known', { owner: pod() })])
  assert.deepEqual(story(writes), [{ gpu: 'known' }])
  // Made by this process and not in the cache yet; it may have been deleted since.
  const world = controller([pod(), template()])
  world.sync({ onWrite: (write) => (write.verb === 'create' ? created('own') : undefined) })
  const live = world.sync({ onRead: () => created('own') })
  assert.deepEqual(story(live.writes), [{ gpu: 'own' }])
  const deleted = world.sync({ onRead: () => refused(404, 'NotFound') })
  assert.deepEqual(story(deleted.writes), ['create p-gpu-', { gpu: 'made-0' }])
  assert.deepEqual(world.creates('success'), 2)
})

test('a claim for another entry, or for an earlier pod of the name, is none for this one', () => {
  const others = [
    claim('of-entry', { owner: pod(), entry: 'nic' }),
    claim('of-earlier', { owner: pod({ uid: 'earlier' }) }),
  ]
  assert.deepEqual(story(sync([pod(), template(), ...others]).writes), [
    'create p-gpu-',
    { gpu: 'made-0' },
  ])
})

test('what was created is remembered for an hour, and no longer than the cache needs', () => {
  const world = controller([pod(), template()])
  const startMs = Date.UTC(2026, 0, 1)
  world.sync({ nowMs: startMs })
  const early = world.sync({ nowMs: startMs + 3_599_999, onRead: () => created('made-0') })
  assert.deepEqual(story(early.writes), [{ gpu: 'made-0' }])
  const late = world.sync({ nowMs: startMs + 3_600_000 })
  assert.deepEqual(story(late.writes), ['create p-gpu-', { gpu: 'made-1' }])
  // Seen and deleted again: no read is needed to know.
  world.tell('resourceclaims', 'onAdd', claim('made-1', { owner: pod() }))
  assert.deepEqual(story(world.sync({ nowMs: startMs + 3_600_001 }).writes), [
    'create p-gpu-',
    { gpu: 'made-2' },
  ])
})

test('a claim that the cache shows before its create is answered is not remembered', () => {
  const world = controller([pod(), template()])
  const startMs = Date.UTC(2026, 0, 1)
  const seen = claim('made-0', { owner: pod() })
  world.sync({
    nowMs: startMs,
    onWrite(write) {
      if (write.verb !== 'create') return undefined
      world.tell('resourceclaims', 'onAdd', seen)
      world.informers.apply(resources.resourceclaims, seen)
      return { ok: true, object: seen }
    },
  })
  world.informers.remove(resources.resourceclaims, seen)
  // Read live, it would be there still.
  const onRead = (): Outcome => ({ ok: true, object: seen })
  const { writes } = world.sync({ nowMs: startMs + 1, onRead })
  assert.equal(story(writes)[0], 'create p-gpu-')
})

test('nothing is reserved of a claim that the cache has under the name, but for somebody else', () => {
  const world = controller([pod({ node: 'n' }), template()])
  world.sync()
  const theirs = claim('made-0', { owner: pod({ name: 'other' }), allocated: true })
  world.informers.apply(resources.resourceclaims, theirs)
  const { writes, result } = world.sync({
    onRead: () => ({ ok: true, object: claim('made-0', { owner: pod(), allocated: true }) }),
  })
  assert.deepEqual(story(writes), [{ gpu: 'made-0' }])
  assert.equal(
    textOf(result?.error),
    'ResourceClaim ns/made-0 was not created for pod ns/p (pod is not owner)',
  )
})

test('a live look that fails is an error and no second claim', () => {
  const world = controller([pod(), template()])
  world.sync()
  const failed = world.sync({ onRead: () => refused(503, 'ServiceUnavailable', 'later') })
  assert.deepEqual([failed.writes, textOf(failed.result?.error)], [[], 'later'])
})

test('after a create without an answer the server is asked what there is', () => {
  const lost: Outcome = { ok: false, error: new Error('connection reset'), attempted: true }
  const world = controller([pod(), template()])
  world.sync({ onWrite: () => lost })
  const list = (...items: ResourceClaim[]): Outcome => ({
    ok: true,
    object: { items } as KubernetesObject,
  })
  const failing = world.sync({ onRead: () => refused(500, 'InternalError', 'no') })
  assert.deepEqual([failing.writes, textOf(failing.result?.error)], [[], 'no'])
  const found = world.sync({
    onRead: ({ verb }) => {
      assert.equal(verb, 'list')
      return list(claim('other'), claim('lost', { owner: pod() }))
    },
  })
  assert.deepEqual(story(found.writes), [{ gpu: 'lost' }])
  // Asked once, and not for a refusal; and never where the pod is gone.
  assert.deepEqual(story(world.sync().writes), ['create p-gpu-', { gpu: 'made-0' }])
  const another = controller([pod(), template()])
  another.sync({ onWrite: () => lost })
  another.tell('pods', 'onDelete', pod())
  assert.equal(story(another.sync().writes).length, 2)
})

test('Given a missing, deleting or claim-less pod, then nothing.', () => {
  assert.equal(controller([template()]).observe('pod:ns/p'), undefined)
  assert.deepEqual(sync([pod({ deleting: true }), template()]).effects, [])
  assert.deepEqual(sync([pod({ entries: [] })]).effects, [])
  const { spec: _, ...bare } = pod()
  assert.deepEqual(sync([bare as Pod]).effects, [])
})

test('Given a same-named claim in another namespace, then creation proceeds.', () => {
  const elsewhere = claim('known', { owner: pod(), metadata: { namespace: 'other' } })
  const recorded = pod({ recorded: { gpu: 'known' } })
  assert.deepEqual(story(sync([recorded, template(), elsewhere]).writes).at(0), 'create p-gpu-')
})

test('Given a recorded claim owned by someone else, then a new one is created.', () => {
  const recorded = pod({ recorded: { gpu: 'theirs' } })
  for (const theirs of [claim('theirs'), claim('theirs', { owner: pod({ uid: 'earlier' }) })])
    assert.deepEqual(story(sync([recorded, template(), theirs]).writes), [
      'create p-gpu-',
      { gpu: 'made-0' },
    ])
})

test('Given the create call conflicts, then error and failure metric.', () => {
  const world = controller([pod(), template()])
  const driven = world.sync({ onWrite: () => refused(409, 'AlreadyExists', 'it is there') })
  const text = 'create ResourceClaim : it is there'
  assert.equal(textOf(driven.result?.error), text)
  assert.equal(driven.events[0]?.message, `PodResourceClaim gpu: ${text}`)
  assert.deepEqual([world.creates('failure'), world.creates('success')], [1, undefined])
  assert.equal(driven.writes.length, 1)
  // A refusal is an answer: nothing is looked up.
  assert.equal(world.sync().writes.length, 2)
})

test('all claims come before the one status write; a retry finds the first again', () => {
  const two = pod({ entries: [fromTemplate('a'), fromTemplate('b', 'later')] })
  const world = controller([two, template()])
  const first = world.sync()
  assert.deepEqual(story(first.writes), ['create p-a-'])
  assert.match(textOf(first.result?.error)!, /"later" not found/)
  world.informers.apply(resources.resourceclaims, claim('made-0', { owner: two, entry: 'a' }))
  world.informers.apply(resources.resourceclaimtemplates, {
    ...template(),
    metadata: { namespace: 'ns', name: 'later' },
  })
  assert.deepEqual(story(world.sync().writes), ['create p-b-', { a: 'made-0', b: 'made-1' }])
})

test('entries that are recorded already are applied again, lest the server drops them', () => {
  const entries = [fromTemplate('a'), fromTemplate('b'), fromTemplate('c')]
  const recorded = pod({ entries, recorded: { a: 'gone', b: 'kept', c: null } })
  const kept = claim('kept', { owner: recorded, entry: 'b' })
  assert.deepEqual(story(sync([recorded, template(), kept]).writes), [
    'create p-a-',
    { a: 'made-0', b: 'kept', c: null },
  ])
})

test('claims that are named directly are neither made nor judged by owner', () => {
  const named = pod({ entries: [{ name: 'gpu', resourceClaimName: 'theirs' }] })
  assert.deepEqual(sync([named]).effects, [])
  const entry = pod({ entries: [{ name: 'gpu' }] })
  const { result, events } = sync([entry])
  assert.equal(textOf(result?.error), 'pod "ns/p": none of the supported fields are set')
  assert.equal(events.length, 1)
})

test('a status that cannot be written is an error', () => {
  const driven = sync([pod({ node: 'n' }), template(), claim('known', { owner: pod() })], {
    onWrite: () => refused(409, 'Conflict', 'changed'),
  })
  assert.deepEqual([textOf(driven.result?.error), driven.writes.length], ['changed', 1])
})

test('Given a scheduled pod and an allocated claim, then it is reserved.', () => {
  const bound = pod({ node: 'n', recorded: { gpu: 'known' } })
  const other = { resource: 'pods', name: 'q', uid: 'q-uid' }
  const free = claim('known', { owner: bound, allocated: true, reservedFor: [other] })
  const [write, ...more] = sync([bound, free]).writes
  assert.deepEqual(more, [])
  assert.deepEqual(write, {
    verb: 'update',
    type: resources.resourceclaims,
    namespace: 'ns',
    subresource: 'status',
    object: {
      ...free,
      status: { allocation: ALLOCATION, reservedFor: [other, consumer(bound)] },
    },
  })
  assert.deepEqual(sync([pod({ recorded: { gpu: 'known' } }), free]).effects, [])
  const reserved = claim('known', {
    owner: bound,
    allocated: true,
    reservedFor: [{ ...consumer(bound), name: 'renamed' }],
  })
  assert.deepEqual(sync([bound, reserved]).effects, [])
  assert.deepEqual(sync([bound, claim('known', { owner: bound })]).effects, [])
  const over = pod({ node: 'n', phase: 'Succeeded', recorded: { gpu: 'known' } })
  assert.deepEqual(sync([over, free]).effects, [])
  const refusal = sync([bound, free], { onWrite: () => refused(409, 'Conflict', 'changed') })
  assert.equal(textOf(refusal.result?.error), 'changed')
})

test('reserving goes by entry, and ends where one is not known yet', () => {
  const named = (name: string) => ({ name, resourceClaimName: name })
  const entries = [named('x'), fromTemplate('gpu'), named('y'), named('z')]
  const bound = pod({ node: 'n', entries, recorded: { gpu: null } })
  const x = claim('x', { allocated: true })
  const z = claim('z', { allocated: true })
  assert.deepEqual(story(sync([bound, x, z]).writes), [['p-uid']])
  const all = [bound, x, z, claim('y', { allocated: true })]
  assert.equal(story(sync(all).writes).length, 3)
  // Just made: the cache brings it, and then the next sync reserves.
  const fresh = sync([pod({ node: 'n' }), template()])
  assert.deepEqual([story(fresh.writes).length, fresh.result], [2, undefined])
})
