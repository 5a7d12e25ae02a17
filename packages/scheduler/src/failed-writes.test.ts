import assert from 'node:assert/strict'
import { test } from 'node:test'
import { resources } from '@gyropilot/api'
import type { PersistentVolumeClaim, Pod } from '@gyropilot/api'
import { StatusError } from '@gyropilot/client'
import { claim, request, slice } from './devices/fixtures.ts'
import { SchedulerWorld, asking, nodeOf } from './fixtures.ts'

test('Given a binding whose answer is lost, when the pod is seen on its node, then it counts there', async () => {
  const world = new SchedulerWorld()
  const answer = Promise.withResolvers<void>()
  world.answers.bind = () => answer.promise
  world.set(resources.nodes, nodeOf('n', '1'))
  world.set(resources.pods, asking('first', '1'))
  world.start()
  await world.clock.advance(10)
  world.set(resources.pods, asking('first', '1', { nodeName: 'n' }))
  answer.reject(new Error('the connection was lost'))
  await world.clock.advance(10)
  world.set(resources.pods, asking('second', '1'))
  await world.clock.advance(1_000)
  assert.deepEqual(world.bound, [['first', 'n']])
  assert.deepEqual(
    world.patched.map(([name]) => name),
    ['second'],
  )
  world.stop()
})

test('Given a claim that is not found while it is written, then its pod is tried again', async () => {
  const world = new SchedulerWorld()
  world.set(resources.nodes, nodeOf('n', '1'))
  world.set(resources.deviceclasses, { metadata: { name: 'c' }, spec: {} } as never)
  world.set(resources.resourceslices, slice('s', [{ name: 'd' }]) as never)
  const wanted = claim({ requests: [request('r')] }, 'wanted')
  world.set(resources.resourceclaims, {
    ...wanted,
    metadata: { ...wanted.metadata, namespace: 'default', resourceVersion: '1' },
  } as never)
  const resourceClaims = [{ name: 'device', resourceClaimName: 'wanted' }]
  world.set(resources.pods, asking('user', '1', { resourceClaims }))
  world.answers.update = (resource) => {
    const message = `${resource} "wanted" not found`
    const status = { kind: 'Status', apiVersion: 'v1', status: 'Failure' } as const
    throw new StatusError({ ...status, message, reason: 'NotFound', code: 404 })
  }
  world.start()
  await world.clock.advance(100)
  assert.deepEqual(world.bound, [])
  const reasons = world.patched.flatMap(([, status]) => status?.conditions ?? [])
  assert.deepEqual(
    reasons.map(({ reason }) => reason),
    ['SchedulerError'],
  )
  delete world.answers.update
  await world.clock.advance(20_000)
  assert.deepEqual(world.bound, [['user', 'n']])
  world.stop()
})

test('Given a victim that could not be evicted, then the pod that needs its room tries again', async () => {
  const world = new SchedulerWorld()
  world.answers.evict = async () => {
    throw new Error('the server is overloaded')
  }
  world.set(resources.nodes, nodeOf('n', '1'))
  world.set(resources.pods, asking('victim', '1', { nodeName: 'n', priority: 0 }))
  world.set(resources.pods, asking('important', '1', { priority: 100 }))
  world.start()
  await world.clock.advance(100)
  assert.deepEqual(world.evicted, ['victim'])
  await world.clock.advance(20_000)
  assert.ok(world.evicted.length > 1, `asked ${world.evicted.length} times`)
  world.stop()
})

test('another message for a pod that finds no node is no transition of its condition', async () => {
  const world = new SchedulerWorld()
  const since = '2025-12-31T23:00:00Z'
  const condition = (status: string) => ({
    type: 'PodScheduled',
    status,
    reason: 'Unschedulable',
    message: 'once',
    lastTransitionTime: since,
  })
  const waiting = (name: string, status: string): Pod => ({
    ...asking(name, '2'),
    status: { conditions: [condition(status)] } as Pod['status'],
  })
  world.set(resources.nodes, nodeOf('n', '1'))
  world.set(resources.pods, waiting('still', 'False'))
  world.set(resources.pods, waiting('newly', 'True'))
  world.start()
  await world.clock.advance(100)
  const times = world.patched.map(([name, status]) => [
    name,
    status?.conditions?.[0]?.lastTransitionTime === since,
  ])
  assert.deepEqual(Object.fromEntries(times), { still: true, newly: false })
  world.stop()
})

/** A pod whose claim waits for a volume that is made for its node, and says already for which. */
function waitingForVolume(annotations: Readonly<Record<string, string>>) {
  const world = new SchedulerWorld()
  const wanted: PersistentVolumeClaim = {
    metadata: { name: 'data', namespace: 'default', uid: 'data', annotations },
    spec: { storageClassName: 'slow', accessModes: ['ReadWriteOnce'] },
  }
  world.set(resources.nodes, nodeOf('n', '1'))
  world.set(resources.storageclasses, {
    metadata: { name: 'slow' },
    provisioner: 'disk.example.com',
    volumeBindingMode: 'WaitForFirstConsumer',
  } as never)
  world.set(resources.persistentvolumeclaims, wanted)
  const volumes = [{ name: 'data', persistentVolumeClaim: { claimName: 'data' } }]
  const user = asking('user', '1', { volumes })
  world.set(resources.pods, user)
  return { world, wanted, user }
}

test('Given a volume that could not be made for a claim that named its node before, then another is looked for', async () => {
  const { world, wanted } = waitingForVolume({ 'volume.kubernetes.io/selected-node': 'n' })
  world.start()
  await world.clock.advance(3_000)
  assert.deepEqual(world.updated, [])
  const { annotations: _, ...metadata } = wanted.metadata ?? {}
  world.set(resources.persistentvolumeclaims, { ...wanted, metadata })
  await world.clock.advance(30_000)
  assert.equal(world.updated[0], 'data')
  world.stop()
})

test('Given a pod that goes while its node is written, then no volume is asked for', async () => {
  const { world, user } = waitingForVolume({})
  const nominated = Promise.withResolvers<void>()
  world.answers.patch = () => nominated.promise
  world.start()
  await world.clock.advance(100)
  world.unset(resources.pods, user)
  nominated.resolve()
  await world.clock.advance(3_000)
  assert.deepEqual(world.updated, [])
  world.stop()
})

test('Given a pod that took the place of another in one step, then the room of that is free, and the binding means the new one', async () => {
  const world = new SchedulerWorld()
  const of = (uid: string, nodeName?: string): Pod => {
    const { metadata, ...rest } = asking('web-0', '1', nodeName === undefined ? {} : { nodeName })
    return { ...rest, metadata: { ...metadata, uid } }
  }
  world.set(resources.nodes, nodeOf('n', '1'))
  world.set(resources.pods, of('old', 'n'))
  world.start()
  world.set(resources.pods, of('new'))
  await world.clock.advance(1_000)
  assert.deepEqual([world.bound, world.boundUids], [[['web-0', 'n']], ['new']])
  world.stop()
})

test('Given a pod that waits for its volume, when a more important one needs its room, then it is put back and not deleted', async () => {
  const { world } = waitingForVolume({})
  world.start()
  await world.clock.advance(3_000)
  world.set(resources.pods, asking('important', '1', { priority: 100 }))
  await world.clock.advance(30_000)
  assert.deepEqual([world.evicted, world.bound], [[], [['important', 'n']]])
  const uid = asking('important', '1').metadata?.uid
  const [preempted, failed] = world.events.filter(([name]) => name === 'user')
  assert.deepEqual(preempted, [
    'user',
    'Preempted',
    `Preempted by pod ${uid} on node n (in kube-scheduler memory).`,
  ])
  const text = 'running PreBind plugin "VolumeBinding": binding volumes: context canceled'
  assert.deepEqual(failed, ['user', 'FailedScheduling', text])
  // It looks for a node again, and goes on where there is one.
  world.set(resources.nodes, nodeOf('m', '1'))
  await world.clock.advance(30_000)
  assert.equal(world.patched.findLast(([name]) => name === 'user')?.[1]?.nominatedNodeName, 'm')
  world.stop()
})

test('Given a pod that waits for its devices, when a more important one needs its room, then it is put back and not deleted', async () => {
  const world = new SchedulerWorld()
  world.set(resources.nodes, nodeOf('n', '1'))
  world.set(resources.deviceclasses, { metadata: { name: 'c' }, spec: {} } as never)
  const device = { name: 'd', bindingConditions: ['Ready'] }
  world.set(resources.resourceslices, slice('s', [device]) as never)
  const wanted = claim({ requests: [request('r')] }, 'wanted')
  const metadata = { ...wanted.metadata, namespace: 'default', resourceVersion: '1' }
  world.set(resources.resourceclaims, { ...wanted, metadata } as never)
  const resourceClaims = [{ name: 'device', resourceClaimName: 'wanted' }]
  world.set(resources.pods, asking('user', '1', { resourceClaims }))
  world.start()
  await world.clock.advance(100)
  const result = { request: 'r', driver: 'd.example.com', pool: 'p', device: 'd' }
  const results = [{ ...result, bindingConditions: ['Ready'] }]
  world.set(resources.resourceclaims, {
    ...wanted,
    metadata,
    status: { allocation: { devices: { results } } },
  } as never)
  await world.clock.advance(3_000)
  world.set(resources.pods, asking('important', '1', { priority: 100 }))
  await world.clock.advance(30_000)
  assert.deepEqual([world.evicted, world.bound], [[], [['important', 'n']]])
  const notes = world.events.flatMap(([name, reason, note]) =>
    name === 'user' && reason === 'FailedScheduling' ? [note] : [],
  )
  assert.equal(notes[0], 'running PreBind plugin "DynamicResources": context canceled')
  world.stop()
})

test('Given a pod that changes while it is bound, when the binding fails, then it is tried as it is by then', async () => {
  const world = new SchedulerWorld()
  const answer = Promise.withResolvers<void>()
  world.answers.bind = () => answer.promise
  world.set(resources.nodes, nodeOf('n', '1'))
  world.set(resources.pods, asking('p', '1'))
  world.start()
  await world.clock.advance(10)
  const narrowed = asking('p', '1', { nodeSelector: { disk: 'ssd' } })
  const metadata = { ...narrowed.metadata, generation: 2 }
  world.set(resources.pods, { ...narrowed, metadata })
  delete world.answers.bind
  answer.reject(new Error('the server is overloaded'))
  await world.clock.advance(5_000)
  assert.deepEqual(world.bound, [['p', 'n']])
  assert.match(world.events.at(-1)![2], /didn't match Pod's node affinity/)
  world.stop()
})

test('Given a pod that was bound, when news of it from before comes, then it is not bound again', async () => {
  const world = new SchedulerWorld()
  world.set(resources.nodes, nodeOf('n', '1'))
  world.set(resources.pods, asking('p', '1'))
  world.start()
  await world.clock.advance(10)
  const { metadata, ...rest } = asking('p', '1')
  world.set(resources.pods, { ...rest, metadata: { ...metadata, generation: 2 } })
  await world.clock.advance(30_000)
  assert.deepEqual(world.bound, [['p', 'n']])
  world.stop()
})
