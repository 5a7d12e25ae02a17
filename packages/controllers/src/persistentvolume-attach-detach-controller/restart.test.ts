/** What a process finds that begins while volumes are attached, and what it verifies later. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { resources } from '@gyropilot/api'
import type { Node, Pod } from '@gyropilot/api'
import type { Clock } from '@gyropilot/foundation'
import { WorkClock } from '@gyropilot/runtime/testing'
import {
  DATA,
  MINUTE_MS,
  attaching,
  attachment,
  claim,
  driver,
  node,
  persistentVolume,
  pod,
  uniqueName,
} from './fixtures.ts'

/** Each look at the time is the end of a turn, and the next one comes later than a pass of the reconciler. */
function slowTurns(clock: Clock): Clock {
  const later: Clock = {
    nowMs: () => clock.nowMs(),
    monotonicMs: () => clock.monotonicMs(),
    turnMs: () => clock.turnMs(),
    after: (delayMs, callback) => clock.after(delayMs === 0 ? 200 : delayMs, callback),
  }
  return new WorkClock(later, 20)
}

test('Given a restart with attached volumes and VolumeAttachments, then the model is rebuilt', async (t) => {
  const names = ['data', 'old', 'lone', 'kept']
  const bound = names.flatMap((name) => [persistentVolume(name), claim(name)])
  const world = await attaching(t, {
    objects: [
      node('a', { attached: ['data', 'old'], inUse: ['data'] }),
      ...bound,
      attachment('data', 'a'),
      attachment('old', 'a'),
      attachment('lone', 'a'),
      attachment('kept', 'a', { attached: false }),
      pod('p', { claims: ['data', 'kept'] }),
    ],
  })
  await world.advance(1_000)
  // What only a VolumeAttachment tells of leaves when the node has said that it does not use it.
  assert.deepEqual(world.attachments().toSorted(), ['data@a', 'kept@a'])
  assert.deepEqual(world.reported('a').toSorted(), [uniqueName('data'), uniqueName('kept')])
  assert.equal(world.count('create volumeattachments'), 0)
  assert.deepEqual(world.told(), ['p: AttachVolume.Attach succeeded for volume "kept" '])
})

test('after a restart a volume that only a VolumeAttachment tells of waits for the word of its node', async (t) => {
  const world = await attaching(t, { objects: [node('a'), ...DATA, attachment('data', 'a')] })
  await world.advance(MINUTE_MS, 1_000)
  assert.deepEqual(world.attachments(), ['data@a'])
  world.put(node('a'))
  await world.advance(1_500)
  assert.deepEqual(world.attachments(), [])
})

test('a VolumeAttachment of what nobody attaches any more, or nobody can name, is left alone', async (t) => {
  const azureFile = { secretName: 's', shareName: 'share' }
  const objects = [
    node('a', { ready: 'Unknown' }),
    driver(false),
    persistentVolume('data'),
    attachment('data', 'a'),
    persistentVolume('file', { source: { azureFile, claimRef: undefined } }),
    attachment('file', 'a'),
  ]
  const world = await attaching(t, { objects })
  await world.advance(7 * MINUTE_MS, 1_000)
  assert.deepEqual(world.attachments().toSorted(), ['data@a', 'file@a'])
})

test('what only a VolumeAttachment tells of is forced too, six minutes after the restart', async (t) => {
  const objects = [node('a', { ready: 'Unknown' }), ...DATA, attachment('data', 'a')]
  const world = await attaching(t, { objects })
  await world.advance(6 * MINUTE_MS - 1_000, 1_000)
  assert.deepEqual(world.attachments(), ['data@a'])
  await world.advance(3_000, 1_000)
  assert.deepEqual(world.attachments(), [])
})

test('a volume of no plugin of ours stays where it was found', async (t) => {
  const volumesAttached = [{ name: 'example.com/plugin/v', devicePath: '' }]
  const found = node('a', { ready: 'False' })
  const told = { ...found, status: { ...found.status, volumesAttached } } as Node
  const world = await attaching(t, { objects: [told] })
  await world.advance(7 * MINUTE_MS, 1_000)
  assert.deepEqual(world.client.requests, [])
})

test('a restart writes nothing where everything is as it should be', async (t) => {
  const world = await attaching(t, {
    objects: [
      node('a', { attached: ['data'], inUse: ['data'] }),
      ...DATA,
      attachment('data', 'a'),
      pod('p'),
    ],
  })
  await world.advance(5 * MINUTE_MS, 1_000)
  assert.deepEqual(world.client.requests, [])
})

test('Given a restart on more pods than a turn sees, then nothing is detached before all were seen, and those that go meanwhile keep nothing', async (t) => {
  const names = ['early', 'late']
  const bound = names.flatMap((name) => [persistentVolume(name), claim(name)])
  const others = Array.from({ length: 1_000 }, (_, number) => pod(`o${number}`, { claims: [] }))
  const [early, late] = names.map((name) => pod(name, { claims: [name] })) as [Pod, Pod]
  // Nothing but its pod tells that it is wanted: no claim does.
  const disk = { name: 'disk', awsElasticBlockStore: { volumeID: 'vol-1' } }
  const diskName = 'kubernetes.io/csi/ebs.csi.aws.com^vol-1'
  const attached = [...names.map(uniqueName), diskName]
  const found = node('a')
  const volumesAttached = attached.map((name) => ({ name, devicePath: '' }))
  const user = pod('user', { claims: [], volumes: [disk] })
  const world = await attaching(t, {
    objects: [
      { ...found, status: { ...found.status, volumesAttached } } as Node,
      ...bound,
      ...names.map((name) => attachment(name, 'a')),
      early,
      ...others,
      user,
      late,
    ],
    clockOf: slowTurns,
    meanwhile({ client, informers }) {
      assert.deepEqual(client.requests, [])
      for (const gone of [early, late]) {
        client.remove(resources.pods, gone)
        informers.remove(resources.pods, gone)
      }
    },
  })
  world.state.frozen.add('Pod')
  let toldOfDisk = 0
  for (let passes = 0; passes < 100; passes++) {
    await world.advance(100)
    if (world.reported('a').includes(diskName)) toldOfDisk++
  }
  assert.equal(toldOfDisk, 100)
  assert.deepEqual(world.attachments(), [])
})

test('a VolumeAttachment that somebody deletes is made again at the next verification', async (t) => {
  const world = await attaching(t, { objects: [node('a'), ...DATA, pod('p')] })
  await world.advance(1_000)
  world.remove(attachment('data', 'a'))
  await world.advance(58_000, 1_000)
  assert.deepEqual(world.attachments(), [])
  await world.advance(3_000)
  assert.deepEqual(world.attachments(), ['data@a'])
  assert.equal(world.client.requested('get').length, 1)
})

test('nothing is verified where the flag says so', async (t) => {
  const configuration = { disableReconcileSync: true }
  const world = await attaching(t, { objects: [node('a'), ...DATA, pod('p')], configuration })
  await world.advance(1_000)
  world.remove(attachment('data', 'a'))
  await world.advance(5 * MINUTE_MS, 1_000)
  assert.deepEqual(world.attachments(), [])
})

test('what may be attached is not verified: it stays known until it is detached', async (t) => {
  const attachError = { time: '2026-01-01T00:00:00Z', message: 'broken' }
  const world = await attaching(t, {
    objects: [node('a'), ...DATA, pod('p')],
    driver: () => ({ attached: false, attachError }),
  })
  await world.advance(1_000)
  world.remove(pod('p'))
  await world.advance(2 * MINUTE_MS, 1_000)
  assert.deepEqual(world.attachments(), ['data@a?'])
  world.put(node('a'))
  await world.advance(2_000)
  assert.deepEqual(world.attachments(), [])
})

test('operations at volumes that no pod explains are counted for their driver', async (t) => {
  const objects = [node('a', { attached: ['data'] }), attachment('data', 'a')]
  const world = await attaching(t, { objects })
  await world.advance(2_000)
  const labels = {
    volume_plugin: 'kubernetes.io/csi:example.com',
    operation_name: 'volume_detach',
    status: 'success',
    migrated: 'false',
  }
  assert.equal(world.metrics.observed('storage_operation_duration_seconds', labels).length, 1)
})

test('after a restart what is attached is verified too', async (t) => {
  const objects = [node('a', { attached: ['data'] }), ...DATA, attachment('data', 'a'), pod('p')]
  const world = await attaching(t, { objects })
  await world.advance(1_000)
  world.remove(attachment('data', 'a'))
  await world.advance(MINUTE_MS + 2_000, 1_000)
  assert.deepEqual(world.attachments(), ['data@a'])
})

test('the server is not asked about what may be attached', async (t) => {
  const attachError = { time: '2026-01-01T00:00:00Z', message: 'broken' }
  const world = await attaching(t, {
    objects: [node('a'), ...DATA, pod('p')],
    driver: () => ({ attached: false, attachError }),
  })
  await world.advance(1_000)
  world.remove(pod('p'))
  world.remove(attachment('data', 'a'))
  await world.advance(2 * MINUTE_MS, 1_000)
  assert.deepEqual(world.client.requested('get'), [])
})
