/** Pods, claims and drivers that come, go or change in ways that no single event tells. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { resources } from '@gyropilot/api'
import type { Pod } from '@gyropilot/api'
import { DeletedFinalStateUnknown } from '@gyropilot/runtime'
import {
  ATTACHED,
  DATA,
  MINUTE_MS,
  attaching,
  claim,
  driver,
  node,
  persistentVolume,
  pod,
} from './fixtures.ts'

test('Given a pod tombstone, then its volumes are released', async (t) => {
  const world = await attaching(t, { objects: [node('a'), ...DATA, pod('p')] })
  await world.advance(1_000)
  world.state.frozen.add('Pod')
  world.informers.remove(resources.pods, new DeletedFinalStateUnknown<Pod>('ns/p', pod('p')))
  await world.advance(1_500)
  assert.deepEqual(world.attachments(), [])
})

test('Given attachable turned off, then volumes leave the model', async (t) => {
  const world = await attaching(t, { objects: [node('a'), ...DATA, pod('p'), driver(true)] })
  await world.advance(1_000)
  assert.deepEqual(world.attachments(), ['data@a'])
  world.put(driver(false))
  await world.advance(MINUTE_MS + 1_000)
  assert.deepEqual(world.attachments(), [])
})

test('Given pods deleted while events are missed, updated, added late, or PVC bound late, then the model converges', async (t) => {
  const late = [persistentVolume('late'), claim('late')]
  const world = await attaching(t, {
    objects: [
      node('a'),
      ...DATA,
      claim('late', 'ns', 'Pending'),
      pod('missed'),
      pod('waits', { claims: ['late'] }),
    ],
  })
  await world.advance(1_000)
  assert.deepEqual(world.attachments(), ['data@a'])
  world.put(late[1]!)
  await world.advance(1_000)
  world.put(late[0]!)
  await world.advance(1_000)
  assert.deepEqual(world.attachments(), ['data@a', 'late@a'])
  // An update that ends a pod, whatever events said before.
  world.put(pod('waits', { claims: ['late'], phase: 'Succeeded' }))
  // A pod that is gone from the cache without an event.
  world.state.frozen.add('Pod')
  world.informers.apply(resources.pods, pod('waits', { claims: ['late'], phase: 'Succeeded' }))
  await world.advance(1_500)
  assert.deepEqual(world.attachments(), ['data@a'])
})

test('a pod on a node that is managed later is found by the full population', async (t) => {
  const world = await attaching(t, {
    objects: [node('a', { isManaged: false }), ...DATA, pod('p')],
  })
  await world.advance(2_000)
  world.put(node('a'))
  await world.advance(2 * MINUTE_MS, 1_000)
  assert.deepEqual(world.attachments(), [])
  await world.advance(MINUTE_MS + 1_000, 1_000)
  assert.deepEqual(world.attachments(), ['data@a'])
  // And stays managed.
  world.remove(pod('p'))
  world.put(node('a', { isManaged: false, attached: ['data'] }))
  await world.advance(2_000)
  world.put(pod('q'))
  await world.advance(2_000)
  assert.deepEqual(world.attachments(), ['data@a'])
})

test('Given a pod deleted before its VolumeAttachment is attached, then the object is cleaned up', async (t) => {
  const world = await attaching(t, {
    objects: [node('a'), ...DATA, pod('p')],
    driver: () => undefined,
  })
  await world.advance(1_000)
  assert.deepEqual(world.attachments(), ['data@a?'])
  world.remove(pod('p'))
  await world.advance(5_000)
  assert.deepEqual(world.attachments(), ['data@a?'])
  world.state.driver = () => ATTACHED
  await world.advance(8_000)
  assert.deepEqual(world.attachments(), [])
  assert.deepEqual(world.reported('a'), [])
})

test('Given CSIDriver attach=false deployed late, then the pod starts', async (t) => {
  const world = await attaching(t, {
    objects: [node('a'), ...DATA, pod('p')],
    driver: () => undefined,
  })
  await world.advance(1_000)
  assert.deepEqual(world.attachments(), ['data@a?'])
  // The kubelet waits for nothing then; what is left here is cleaned up.
  world.put(driver(false))
  await world.advance(2 * MINUTE_MS + 1_000)
  world.put(node('a'))
  await world.advance(2_000)
  assert.deepEqual(world.attachments(), [])
})

test('a pod whose claim is bound at last gets the volume that was reserved for it before', async (t) => {
  const [volume, bound] = DATA
  const objects = [node('a'), volume!, claim('data', 'ns', 'Pending'), pod('p')]
  const world = await attaching(t, { objects })
  await world.advance(1_000)
  assert.deepEqual(world.attachments(), [])
  world.put(bound!)
  await world.advance(1_000)
  assert.deepEqual(world.attachments(), ['data@a'])
})

test('from one full population to the next are three minutes, to the second too', async (t) => {
  const objects = ['a', 'b'].map((name) => node(name, { isManaged: false }))
  const pods = ['a', 'b'].map((name) => pod(name, { node: name, claims: [name] }))
  const bound = ['a', 'b'].flatMap((name) => [persistentVolume(name), claim(name)])
  const world = await attaching(t, { objects: [...objects, ...bound, ...pods] })
  world.put(node('a'))
  await world.advance(3 * MINUTE_MS + 2_000, 1_000)
  assert.deepEqual(world.attachments(), ['a@a'])
  world.put(node('b'))
  await world.advance(2 * MINUTE_MS, 1_000)
  assert.deepEqual(world.attachments(), ['a@a'])
  await world.advance(MINUTE_MS, 1_000)
  assert.deepEqual(world.attachments(), ['a@a', 'b@b'])
})

test('volumes whose driver attaches nothing are neither attached nor counted as in use', async (t) => {
  const world = await attaching(t, { objects: [node('a'), ...DATA, pod('p'), driver(false)] })
  await world.advance(1_000)
  assert.deepEqual(world.attachments(), [])
  const labels = { node: 'a', volume_plugin: 'kubernetes.io/csi:example.com' }
  const inUse = world.metrics.value('storage_count_attachable_volumes_in_use', labels)
  assert.equal(inUse, undefined)
})

test('a stop ends the wait for a driver', async (t) => {
  const objects = [node('a'), ...DATA, pod('p')]
  const world = await attaching(t, { objects, driver: () => undefined })
  await world.advance(1_000)
  assert.deepEqual(world.attachments(), ['data@a?'])
  await world.stop()
})
