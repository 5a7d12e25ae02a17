import assert from 'node:assert/strict'
import { test } from 'node:test'
import { resources } from '@gyropilot/api'
import type { Node, VolumeAttachment } from '@gyropilot/api'
import { statusError } from '@gyropilot/runtime/testing'
import { OUT_OF_SERVICE_TAINT } from './config.ts'
import {
  ATTACHED,
  DATA,
  MINUTE_MS,
  attaching,
  claim,
  node,
  persistentVolume,
  pod,
  uniqueName,
} from './fixtures.ts'

test('Given no pods, then no operations', async (t) => {
  const world = await attaching(t, { objects: [node('a'), ...DATA] })
  await world.advance(5 * MINUTE_MS, 1_000)
  assert.deepEqual(world.client.requests, [])
})

test('Given one pod, then one attach; pod removed and unmounted, then one detach', async (t) => {
  const world = await attaching(t, { objects: [node('a'), ...DATA, pod('p')] })
  await world.advance(1_000)
  assert.deepEqual(world.attachments(), ['data@a'])
  assert.deepEqual(world.reported('a'), [uniqueName('data')])
  assert.deepEqual(world.told(), ['p: AttachVolume.Attach succeeded for volume "data" '])
  const [made] = world.client.requested('create')
  assert.deepEqual((made!.body as VolumeAttachment).spec, {
    attacher: 'example.com',
    nodeName: 'a',
    source: { persistentVolumeName: 'data' },
  })
  await world.advance(MINUTE_MS, 1_000)
  world.remove(pod('p'))
  await world.advance(1_500)
  assert.deepEqual(world.attachments(), [])
  assert.deepEqual(world.reported('a'), [])
  await world.advance(5 * MINUTE_MS, 1_000)
  assert.deepEqual(world.writes(), [
    'create volumeattachments',
    'patch nodes',
    'patch nodes',
    'delete volumeattachments',
  ])
  const [told, untold] = world.client.requested('patch').map(({ body }) => body)
  assert.deepEqual(
    [told, untold],
    [
      {
        type: 'strategic',
        value: { status: { volumesAttached: [{ devicePath: '', name: uniqueName('data') }] } },
      },
      { type: 'strategic', value: { status: { volumesAttached: null } } },
    ],
  )
})

test('Given pod removed but mounted, then detach only after the wait time', async (t) => {
  const objects = [node('a', { inUse: ['data'], ready: 'Unknown' }), ...DATA, pod('p')]
  const world = await attaching(t, { objects })
  await world.advance(1_000)
  world.remove(pod('p'))
  await world.advance(6 * MINUTE_MS, 1_000)
  assert.deepEqual(world.attachments(), ['data@a'])
  assert.deepEqual(world.reported('a'), [uniqueName('data')])
  await world.advance(2_000)
  assert.deepEqual(world.attachments(), [])
  assert.deepEqual(world.client.requested('get'), [], 'the node is not asked')
})

test('a volume that the node lets go leaves at once, and a stale cache is found out by asking the node', async (t) => {
  const objects = [node('a', { inUse: ['data'] }), ...DATA, pod('p')]
  const world = await attaching(t, { objects })
  await world.advance(1_000)
  world.remove(pod('p'))
  await world.advance(2_000)
  assert.deepEqual(world.attachments(), ['data@a'])
  // The cache sees the volume unmounted; at the server it is mounted once more.
  const stored = world.client.get(resources.nodes, undefined, 'a') as Node
  world.state.frozen.add('Node')
  const unmounted = { ...stored, status: { ...stored.status, volumesInUse: [] } }
  world.informers.apply(resources.nodes, unmounted)
  await world.advance(400)
  assert.deepEqual(world.attachments(), ['data@a'])
  assert.equal(world.client.requested('get').length, 1)
  assert.deepEqual(world.reported('a'), [])
  world.client.put(resources.nodes, unmounted)
  await world.advance(1_500)
  assert.deepEqual(world.attachments(), [])
})

test('Given the node status patch fails, then no detach', async (t) => {
  let isRefusing = false
  const world = await attaching(t, {
    objects: [node('a'), ...DATA, pod('p')],
    onRequest: ({ verb }) => {
      if (isRefusing && verb === 'patch') throw statusError(500, 'InternalError', 'no')
    },
  })
  await world.advance(1_000)
  isRefusing = true
  world.remove(pod('p'))
  await world.advance(10_000)
  assert.deepEqual(world.attachments(), ['data@a'])
  assert.ok(world.count('patch nodes') < 10, 'it is tried less and less often')
  isRefusing = false
  await world.advance(12_000)
  assert.deepEqual(world.attachments(), [])
  assert.deepEqual(world.reported('a'), [])
})

test('Given RWX on two nodes, then two attaches; RWO: one until the first detach', async (t) => {
  const one = pod('one', { claims: ['shared', 'data'] })
  const two = pod('two', { node: 'b', claims: ['shared', 'data'] })
  const world = await attaching(t, {
    objects: [
      node('a'),
      node('b'),
      ...DATA,
      one,
      persistentVolume('shared', { modes: ['ReadWriteMany'] }),
      claim('shared'),
    ],
  })
  await world.advance(1_000)
  world.put(two)
  await world.advance(1_000)
  assert.deepEqual(world.attachments().toSorted(), ['data@a', 'shared@a', 'shared@b'])
  const refusal = 'two: Multi-Attach error for volume "data" Volume is already used by pod(s) one'
  assert.deepEqual(world.told().slice(2), [
    refusal,
    'two: AttachVolume.Attach succeeded for volume "shared" ',
  ])
  await world.advance(MINUTE_MS, 1_000)
  world.put(node('a', { attached: ['data', 'shared'] }))
  await world.advance(1_000)
  assert.equal(world.told().length, 4, 'told once')
  world.remove(one)
  await world.advance(3_000)
  assert.deepEqual(world.attachments().toSorted(), ['data@b', 'shared@b'])
  assert.deepEqual(world.reported('a'), [])
  assert.deepEqual(world.reported('b').toSorted(), [uniqueName('data'), uniqueName('shared')])
})

test('Given a timed-out attach, then the entry is uncertain and unreported; pod gone, then it is detached there and a second node can attach', async (t) => {
  const world = await attaching(t, {
    objects: [node('a'), node('b'), ...DATA, pod('p')],
    driver: () => undefined,
  })
  await world.advance(2 * MINUTE_MS + 500)
  assert.deepEqual(world.told(), [
    'p: AttachVolume.Attach failed for volume "data" : timed out waiting for external-attacher of example.com CSI driver to attach volume data-handle',
  ])
  assert.deepEqual(world.reported('a'), [])
  // At the end of its next try nobody needs it, and the node does not use it.
  world.remove(pod('p'))
  world.put(pod('q', { node: 'b' }))
  await world.advance(2 * MINUTE_MS + 1_000)
  world.put(node('a'))
  world.state.driver = ({ spec }) => (spec.nodeName === 'b' ? ATTACHED : undefined)
  await world.advance(10_000)
  assert.deepEqual(world.attachments(), ['data@b'])
  assert.deepEqual(world.reported('b'), [uniqueName('data')])
})

test('Given a volume that cannot be attached to the first of two nodes that want it, then both take turns, and the second gets it', async (t) => {
  const attachError = { time: '2026-01-01T00:00:00Z', message: 'broken' }
  const world = await attaching(t, {
    objects: [node('a'), node('b'), ...DATA, pod('p'), pod('q', { node: 'b' })],
    driver: ({ spec }) => (spec.nodeName === 'b' ? ATTACHED : { attached: false, attachError }),
  })
  await world.advance(10_000)
  assert.deepEqual(world.attachments().toSorted(), ['data@a?', 'data@b'])
  assert.deepEqual(world.reported('b'), [uniqueName('data')])
  assert.match(world.told().at(-1)!, /^p: Multi-Attach error .* used by pod\(s\) q$/)
})

test('Given a failing detach, then the entry is uncertain and not reported; a new pod on that node attaches it again and it is reported; a pod on another node then stays blocked', async (t) => {
  let isRefusing = true
  const world = await attaching(t, {
    objects: [node('a'), node('b'), ...DATA, pod('p')],
    onRequest: ({ verb }) => {
      if (isRefusing && verb === 'delete') throw statusError(500, 'InternalError', 'no')
    },
  })
  await world.advance(1_000)
  world.remove(pod('p'))
  await world.advance(3_000)
  assert.deepEqual(world.reported('a'), [])
  // 0, 0.5 and 1.5 seconds.
  assert.equal(world.count('delete volumeattachments'), 3)
  assert.equal(world.count('patch nodes'), 2)
  world.put(pod('again'))
  await world.advance(3_000)
  assert.deepEqual(world.reported('a'), [uniqueName('data')])
  isRefusing = false
  world.put(pod('q', { node: 'b' }))
  await world.advance(5_000)
  assert.deepEqual(world.attachments(), ['data@a'])
  assert.match(world.told().at(-1)!, /^q: Multi-Attach error .* used by pod\(s\) again$/)
})

test('Given the out-of-service taint, then immediate detach; without it none', async (t) => {
  const objects = [node('a', { inUse: ['data'] }), ...DATA, pod('p')]
  const world = await attaching(t, { objects })
  await world.advance(1_000)
  world.remove(pod('p'))
  await world.advance(MINUTE_MS, 1_000)
  assert.deepEqual(world.attachments(), ['data@a'])
  world.put(node('a', { inUse: ['data'], attached: ['data'], taints: [OUT_OF_SERVICE_TAINT] }))
  await world.advance(1_000)
  assert.deepEqual(world.attachments(), [])
  const forced = 'attach_detach_controller_attachdetach_controller_forced_detaches'
  assert.equal(world.metrics.value(forced, { reason: 'out-of-service' }), 1)
  assert.equal(world.metrics.value(forced, { reason: 'timeout' }), undefined)
})

for (const disableForceDetachOnTimeout of [false, true]) {
  test(`an unhealthy node is ${disableForceDetachOnTimeout ? 'never' : 'at last'} forced, with the flag ${disableForceDetachOnTimeout}`, async (t) => {
    const objects = [node('a', { inUse: ['data'], ready: 'False' }), ...DATA, pod('p')]
    const configuration = { disableForceDetachOnTimeout }
    const world = await attaching(t, { objects, configuration })
    await world.advance(1_000)
    world.remove(pod('p'))
    await world.advance(7 * MINUTE_MS, 1_000)
    assert.deepEqual(world.attachments(), disableForceDetachOnTimeout ? ['data@a'] : [])
    const forced = 'attach_detach_controller_attachdetach_controller_forced_detaches'
    const count = world.metrics.value(forced, { reason: 'timeout' })
    assert.equal(count, disableForceDetachOnTimeout ? undefined : 1)
  })
}

test('Given an unhealthy node, then forced detach, or none with the flag', async (t) => {
  const nodes = [
    node('sick', { inUse: ['data'], ready: 'Unknown' }),
    node('well', { inUse: ['other'] }),
  ]
  const pods = [pod('p', { node: 'sick' }), pod('q', { node: 'well', claims: ['other'] })]
  const other = [persistentVolume('other'), claim('other')]
  const world = await attaching(t, { objects: [...nodes, ...DATA, ...other, ...pods] })
  await world.advance(1_000)
  pods.forEach(world.remove)
  await world.advance(7 * MINUTE_MS, 1_000)
  assert.deepEqual(world.attachments(), ['other@well'])
  const flagged = await attaching(t, {
    objects: [...nodes, ...DATA, pods[0]!],
    configuration: { disableForceDetachOnTimeout: true },
  })
  await flagged.advance(1_000)
  flagged.remove(pods[0]!)
  await flagged.advance(7 * MINUTE_MS, 1_000)
  assert.deepEqual(flagged.attachments(), ['data@sick'])
})

test('volumes of a node that is gone are detached when nobody needs them, after the wait where they were in use', async (t) => {
  const other = [persistentVolume('other'), claim('other')]
  const pods = [pod('p', { claims: ['data', 'other'] })]
  const world = await attaching(t, {
    objects: [node('a', { inUse: ['other'] }), ...DATA, ...other, ...pods],
  })
  await world.advance(1_000)
  world.remove(node('a'))
  await world.advance(1_000)
  assert.equal(world.attachments().length, 2)
  const told = world.count('patch nodes')
  pods.forEach(world.remove)
  await world.advance(1_500)
  assert.deepEqual(world.attachments(), ['other@a'])
  await world.advance(6 * MINUTE_MS, 1_000)
  assert.deepEqual(world.attachments(), [])
  assert.equal(world.count('patch nodes'), told, 'nobody is there to be told')
})

test('Given node updates with one failure, then the failed node is retried', async (t) => {
  let failures = 0
  const shared = [persistentVolume('shared', { modes: ['ReadOnlyMany'] }), claim('shared')]
  const pods = ['a', 'b'].map((name) => pod(name, { node: name, claims: ['shared'] }))
  const world = await attaching(t, {
    objects: [node('a'), node('b'), ...shared, ...pods],
    onRequest: ({ verb, path }) => {
      if (verb !== 'patch' || !path.includes('nodes/a') || failures > 0) return
      failures++
      throw statusError(500, 'InternalError', 'no')
    },
  })
  await world.advance(2_000)
  assert.equal(failures, 1)
  assert.deepEqual(['a', 'b'].map(world.reported), [[uniqueName('shared')], [uniqueName('shared')]])
  assert.equal(world.count('patch nodes'), 3)
})

test('a pod that returns before the volume has left keeps it, and its wait begins anew later', async (t) => {
  const objects = [node('a', { inUse: ['data'], ready: 'False' }), ...DATA, pod('p')]
  const world = await attaching(t, { objects })
  await world.advance(1_000)
  world.remove(pod('p'))
  await world.advance(5 * MINUTE_MS, 1_000)
  world.put(pod('p', { uid: 'another' }))
  await world.advance(2_000)
  world.remove(pod('p'))
  await world.advance(5 * MINUTE_MS, 1_000)
  assert.deepEqual(world.attachments(), ['data@a'])
  await world.advance(2 * MINUTE_MS, 1_000)
  assert.deepEqual(world.attachments(), [])
})

test('a node that comes back under its name is told what is attached to it', async (t) => {
  const world = await attaching(t, { objects: [node('a', { inUse: ['data'] }), ...DATA, pod('p')] })
  await world.advance(1_000)
  world.remove(node('a'))
  await world.advance(1_000)
  world.put(node('a', { inUse: ['data'] }))
  await world.advance(1_000)
  assert.deepEqual(world.reported('a'), [uniqueName('data')])
})

test('metrics count volumes of pods, entries of both worlds, and operations', async (t) => {
  const world = await attaching(t, {
    objects: [
      node('a'),
      node('free', { isManaged: false }),
      ...DATA,
      pod('p'),
      pod('q'),
      pod('r', { node: 'free' }),
    ],
  })
  await world.advance(1_000)
  const plugin = 'kubernetes.io/csi:example.com'
  const inUse = (name: string) =>
    world.metrics.value('storage_count_attachable_volumes_in_use', {
      node: name,
      volume_plugin: plugin,
    })
  assert.deepEqual([inUse('a'), inUse('free')], [2, 1])
  const total = (state: string) =>
    world.metrics.value('attachdetach_controller_total_volumes', { plugin_name: plugin, state })
  assert.deepEqual([total('actual_state_of_world'), total('desired_state_of_world')], [1, 1])
  const labels = {
    volume_plugin: plugin,
    operation_name: 'volume_attach',
    status: 'success',
    migrated: 'false',
  }
  assert.equal(world.metrics.observed('storage_operation_duration_seconds', labels).length, 1)
  for (const name of ['p', 'q', 'r']) world.remove(pod(name))
  await world.advance(1_500)
  assert.deepEqual([inUse('a'), total('actual_state_of_world')], [undefined, undefined])
  const detached = { ...labels, operation_name: 'volume_detach' }
  assert.equal(world.metrics.observed('storage_operation_duration_seconds', detached).length, 1)
})

test('plugins in the tree have nothing to attach, and their volumes are told all the same', async (t) => {
  const source = { iscsi: { targetPortal: '192.0.2.1:3260', iqn: 'iqn.x', lun: 1 } }
  const objects = [node('a'), persistentVolume('data', { source }), claim('data'), pod('p')]
  const world = await attaching(t, { objects })
  await world.advance(300)
  assert.deepEqual(world.reported('a'), ['kubernetes.io/iscsi/192.0.2.1:3260:iqn.x:1'])
  world.remove(pod('p'))
  await world.advance(300)
  assert.deepEqual(world.reported('a'), [])
  assert.deepEqual(world.writes(), ['patch nodes', 'patch nodes'])
})

test('a handle with a caret cannot be detached', async (t) => {
  const objects = [node('a'), persistentVolume('data', { handle: 'x^y' }), claim('data'), pod('p')]
  const world = await attaching(t, { objects })
  await world.advance(1_000)
  world.remove(pod('p'))
  await world.advance(MINUTE_MS, 1_000)
  assert.deepEqual(world.attachments(), ['data@a'])
  assert.equal(world.count('delete volumeattachments'), 0)
  assert.deepEqual(world.reported('a'), [])
})

test('a pod that returns while its node is told keeps the volume, and the node is told of it again', async (t) => {
  let patches = 0
  const world = await attaching(t, {
    objects: [node('a'), ...DATA, pod('p')],
    onRequest: ({ verb }) => {
      if (verb !== 'patch' || ++patches !== 2) return
      world.put(pod('again'))
      world.informers.apply(resources.pods, pod('again'))
    },
  })
  await world.advance(1_000)
  world.remove(pod('p'))
  await world.advance(5_000)
  assert.equal(world.count('delete volumeattachments'), 0)
  assert.deepEqual(world.reported('a'), [uniqueName('data')])
})

test('while a volume leaves a node nobody is told that it is there', async (t) => {
  const world = await attaching(t, { objects: [node('a'), node('b'), ...DATA, pod('p')] })
  await world.advance(1_000)
  world.state.frozen.add('VolumeAttachment')
  world.remove(pod('p'))
  await world.advance(500)
  world.put(pod('q', { node: 'b' }))
  await world.advance(3_000)
  assert.equal(world.told().length, 1)
  world.state.frozen.delete('VolumeAttachment')
  await world.advance(5_000)
  assert.deepEqual(world.attachments(), ['data@b'])
})

test('a status that could not be written is written later, though nothing else happens', async (t) => {
  let failures = 0
  const world = await attaching(t, {
    objects: [node('a'), ...DATA, pod('p')],
    onRequest: ({ verb }) => {
      if (verb === 'patch' && failures++ === 0) throw statusError(500, 'InternalError', 'no')
    },
  })
  await world.advance(3_000)
  assert.deepEqual(world.reported('a'), [uniqueName('data')])
})
