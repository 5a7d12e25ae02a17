import assert from 'node:assert/strict'
import { test } from 'node:test'
import { resources } from '@gyropilot/api'
import type { KubernetesObject, Pod, ResourceClaim } from '@gyropilot/api'
import type { Outcome, Write } from '@gyropilot/runtime'
import { RecordingMetrics, drive, fakeInformers } from '@gyropilot/runtime/testing'
import type { DriveOptions } from '@gyropilot/runtime/testing'
import { defaultControllersConfiguration } from '../configuration.ts'
import { refused } from '../workload-support/fixtures.ts'
import { claim, consumer, pod } from './fixtures.ts'
import { resourceClaimLogic } from './index.ts'

const user = pod({ node: 'n', phase: 'Running' })
const reservedFor = [consumer(user)]

function controller(objects: readonly KubernetesObject[]) {
  return resourceClaimLogic({
    informers: fakeInformers(objects),
    configuration: defaultControllersConfiguration,
    metrics: new RecordingMetrics(),
  })
}

/** Of the claim `c`. */
function sync(objects: readonly KubernetesObject[], options: DriveOptions = {}) {
  return syncBy(controller(objects), options)
}

function syncBy(logic: ReturnType<typeof controller>, options: DriveOptions = {}) {
  const observed = logic.observe('claim:ns/c')
  assert.ok(observed)
  const driven = drive(logic.reconcile(observed), options)
  return { ...driven, story: driven.writes.map(inShort) }
}

/** Of a status what is left, of another write the finalizers. */
function inShort(write: Write): unknown {
  if (write.verb !== 'update') return write.verb
  const { metadata, status } = write.object as ResourceClaim
  if (write.subresource !== 'status') return metadata?.finalizers
  const users = (status?.reservedFor ?? []).map(({ name }) => name)
  return `${status?.allocation ? 'allocated' : 'free'} for ${users.join(',')}`
}

const live = (found: Pod) => (): Outcome => ({ ok: true, object: found })
const gone = () => refused(404, 'NotFound')

test('a claim that is gone is nothing to do', () => {
  assert.equal(controller([]).observe('claim:ns/c'), undefined)
})

test('of 500 pods that were seen to go the oldest is asked for again first', () => {
  const used = claim('c', { allocated: true, finalizer: true, reservedFor })
  const logic = controller([used])
  const [podWatch] = logic.watches as unknown as [{ onDelete(pod: Pod): void }]
  let asked = 0
  const onRead = (): Outcome => {
    asked++
    return gone()
  }
  podWatch.onDelete(user)
  for (let other = 1; other < 500; other++) podWatch.onDelete(pod({ uid: `other-${other}` }))
  syncBy(logic, { onRead })
  assert.equal(asked, 0)
  // To look for it has made it the newest.
  for (let other = 0; other < 500; other++) podWatch.onDelete(pod({ uid: `further-${other}` }))
  syncBy(logic, { onRead })
  assert.equal(asked, 1)
})

test('Given a consumer pod in cache or only live, then the reservation stays.', () => {
  const used = claim('c', { allocated: true, finalizer: true, reservedFor })
  assert.deepEqual(sync([used, user]).effects, [])
  assert.deepEqual(sync([used], { onRead: live(user) }).story, [])
  // One that is on its node while it ends is at work still.
  const ending = pod({ node: 'n', phase: 'Running', deleting: true })
  assert.deepEqual(sync([used, ending]).story, [])
})

test('Given the consumer is gone, then reservation, allocation and finalizer go; without finalizer the allocation stays.', () => {
  const used = { allocated: true, reservedFor }
  assert.deepEqual(sync([claim('c', { ...used, finalizer: true })], { onRead: gone }).story, [
    'free for ',
    ['example.com/other'],
  ])
  assert.deepEqual(sync([claim('c', used)], { onRead: gone }).story, ['allocated for '])
  const deleting = { deletionTimestamp: '2026-01-01T00:00:00Z' }
  const ending = claim('c', { ...used, finalizer: true, metadata: deleting })
  assert.deepEqual(sync([ending], { onRead: gone }).story, ['free for ', ['example.com/other']])
})

test('a claim that is being deleted is let go when nobody uses it', () => {
  const metadata = { deletionTimestamp: '2026-01-01T00:00:00Z' }
  const held = (allocated: boolean) => claim('c', { allocated, finalizer: true, metadata })
  assert.deepEqual(sync([held(true)]).story, ['free for ', ['example.com/other']])
  assert.deepEqual(sync([held(false)]).story, [['example.com/other']])
  assert.deepEqual(sync([claim('c', { allocated: true, metadata })]).story, [])
  const used = claim('c', { allocated: true, finalizer: true, metadata, reservedFor })
  assert.deepEqual(sync([used, user]).story, [])
  // Made for a pod that is over, and deleted already: not once more.
  const owner = pod({ phase: 'Failed' })
  assert.deepEqual(sync([claim('c', { owner, metadata }), owner]).story, [])
})

test('an allocated claim that nobody uses or deletes is left alone', () => {
  assert.deepEqual(sync([claim('c', { allocated: true, finalizer: true })]).effects, [])
})

test('the finalizer is taken from what the server answered', () => {
  const used = claim('c', { allocated: true, finalizer: true, reservedFor })
  const answer = (object: ResourceClaim) => (_: Write, index: number) =>
    index === 0 ? ({ ok: true, object } as const) : undefined
  const stillAllocated = claim('c', { allocated: true, finalizer: true })
  assert.equal(sync([used], { onRead: gone, onWrite: answer(stillAllocated) }).writes.length, 1)
  const letGo = claim('c', { metadata: { finalizers: ['example.com/other'] } })
  assert.equal(sync([used], { onRead: gone, onWrite: answer(letGo) }).writes.length, 1)
  const newer = claim('c', { finalizer: true, metadata: { resourceVersion: '9' } })
  const { writes } = sync([used], { onRead: gone, onWrite: answer(newer) })
  const last = writes[1] as Extract<Write, { verb: 'update' }>
  assert.equal(last.object.metadata?.resourceVersion, '9')
})

test('Given the consumer is finished, then its reservation goes; a generated claim is deleted.', () => {
  for (const phase of ['Succeeded', 'Failed']) {
    const done = pod({ node: 'n', phase })
    const used = { allocated: true, finalizer: true, reservedFor }
    assert.deepEqual(sync([claim('c', used), done]).story, ['free for ', ['example.com/other']])
    assert.deepEqual(sync([claim('c', { ...used, owner: done }), done]).story, [
      'free for ',
      ['example.com/other'],
      'delete',
    ])
  }
  const never = pod({ deleting: true })
  assert.deepEqual(sync([claim('c', { owner: never }), never]).story, ['delete'])
})

test('a generated claim is deleted for a successor of its pod, and left where its pod is not cached or not a pod', () => {
  const earlier = pod({ uid: 'earlier' })
  const former = [claim('c', { owner: earlier }), pod()]
  assert.deepEqual(sync(former, { onRead: live(pod()) }).story, ['delete'])
  assert.deepEqual(sync(former, { onRead: gone }).story, ['delete'])
  const owned = claim('c', { owner: pod() })
  assert.deepEqual(sync([owned]).effects, [])
  assert.deepEqual(sync([owned, pod()]).effects, [])
  const over = pod({ phase: 'Succeeded' })
  assert.deepEqual(sync([claim('c'), over]).effects, [])
  const [reference] = owned.metadata!.ownerReferences!
  for (const other of [{ kind: 'Job' }, { apiVersion: 'v2' }, { controller: false }]) {
    const ownerReferences = [{ ...reference!, ...other }]
    assert.deepEqual(sync([claim('c', { metadata: { ownerReferences } }), over]).effects, [])
  }
})

test('Given pod and non-pod consumers, then only the pod entry is cleaned.', () => {
  const others = [
    { apiGroup: 'example.com', resource: 'pods', name: 'p', uid: 'a' },
    { resource: 'configmaps', name: 'p', uid: 'b' },
  ]
  const used = claim('c', {
    owner: user,
    allocated: true,
    finalizer: true,
    reservedFor: [others[0]!, ...reservedFor, others[1]!],
  })
  const { writes, story } = sync([used, pod({ phase: 'Succeeded' })])
  assert.deepEqual(story, ['allocated for p,p'])
  const [write] = writes as Extract<Write, { verb: 'update' }>[]
  assert.deepEqual((write!.object as ResourceClaim).status?.reservedFor, others)
})

test('a consumer of another uid is another pod, in the cache as on the server', () => {
  const used = claim('c', { allocated: true, finalizer: true, reservedFor })
  const successor = pod({ uid: 'later', node: 'n', phase: 'Running' })
  const onRead = live(successor)
  assert.deepEqual(sync([used, successor], { onRead }).story[0], 'free for ')
  assert.deepEqual(sync([used], { onRead }).story[0], 'free for ')
})

test('a cache of pods that still shows the former one takes nothing from its successor', () => {
  const former = pod({ uid: 'former', node: 'n', phase: 'Running' })
  const used = claim('c', { owner: user, allocated: true, finalizer: true, reservedFor })
  assert.deepEqual(sync([used, former], { onRead: live(user) }).story, [])
  const fresh = claim('c', { owner: user })
  assert.deepEqual(sync([fresh, former], { onRead: live(user) }).story, [])
  const unread = sync([fresh, former], { onRead: () => refused(500, 'InternalError', 'no') })
  assert.deepEqual([unread.story, (unread.result?.error as Error | undefined)?.message], [[], 'no'])
})

test('a pod that was seen to go needs no live look', () => {
  const used = claim('c', { allocated: true, finalizer: true, reservedFor })
  const logic = controller([used])
  const watch = logic.watches.find(({ type }) => type.resource === resources.pods.resource)
  assert.deepEqual(watch?.onDelete?.(user), [])
  assert.deepEqual(syncBy(logic).story[0], 'free for ')
})

test('pods without claims take no room among those that are remembered', () => {
  const used = claim('c', { allocated: true, finalizer: true, reservedFor })
  const logic = controller([used])
  const watch = logic.watches.find(({ type }) => type.resource === resources.pods.resource)
  watch?.onDelete?.(pod({ entries: [] }))
  assert.throws(() => syncBy(logic), /no answer for the live read/)
  watch?.onDelete?.(user)
  for (let count = 0; count < 600; count++)
    watch?.onDelete?.(pod({ entries: [], uid: `other-${count}` }))
  assert.equal(syncBy(logic).story[0], 'free for ')
})

test('what cannot be read or written is an error, and nothing follows it', () => {
  const refusal = refused(409, 'Conflict', 'changed')
  const used = { allocated: true, finalizer: true, reservedFor }
  const unread = sync([claim('c', used)], { onRead: () => refused(500, 'InternalError', 'no') })
  assert.deepEqual([unread.story, (unread.result?.error as Error | undefined)?.message], [[], 'no'])
  const ending = { deletionTimestamp: '2026-01-01T00:00:00Z' }
  const over = pod({ phase: 'Failed' })
  const cases: readonly [ResourceClaim, number][] = [
    [claim('c', used), 0],
    [claim('c', used), 1],
    [claim('c', { allocated: true, finalizer: true, metadata: ending }), 0],
    [claim('c', { finalizer: true, metadata: ending }), 0],
    [claim('c', { owner: over }), 0],
  ]
  for (const [each, failing] of cases) {
    const { result, writes } = sync([each, over], {
      onWrite: (_, index) => (index === failing ? refusal : undefined),
    })
    assert.deepEqual(
      [(result?.error as Error | undefined)?.message, writes.length],
      ['changed', failing + 1],
    )
  }
  const deleted = sync([claim('c', { owner: over }), over], { onWrite: () => gone() })
  assert.equal(deleted.result, undefined)
})
