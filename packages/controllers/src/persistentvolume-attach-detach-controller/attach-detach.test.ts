import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { TestContext as Test } from 'node:test'
import { keyOf, resources } from '@gyropilot/api'
import type { KubernetesObject, Node, Pod, ResourceType, VolumeAttachment } from '@gyropilot/api'
import { DeletedFinalStateUnknown } from '@gyropilot/runtime'
import { statusError, testContext } from '@gyropilot/runtime/testing'
import type { FakeRequest } from '@gyropilot/runtime/testing'
import { defaultControllersConfiguration } from '../configuration.ts'
import { OUT_OF_SERVICE_TAINT } from './config.ts'
import type { AttachDetachConfiguration } from './config.ts'
import { attachment, claim, driver, node, persistentVolume, pod, uniqueName } from './fixtures.ts'
import { persistentVolumeAttachDetachController } from './index.ts'

const TYPES = {
  Node: resources.nodes,
  Pod: resources.pods,
  PersistentVolume: resources.persistentvolumes,
  PersistentVolumeClaim: resources.persistentvolumeclaims,
  VolumeAttachment: resources.volumeattachments,
  CSIDriver: resources.csidrivers,
} as Readonly<Record<string, ResourceType>>

const typeOf = ({ kind = '' }: KubernetesObject): ResourceType => TYPES[kind]!

interface Given {
  readonly objects: readonly KubernetesObject[]
  readonly configuration?: Partial<AttachDetachConfiguration>
  readonly onRequest?: (request: FakeRequest) => unknown
  /** What the driver says of a VolumeAttachment that is not attached yet. Default: it is attached. */
  readonly driver?: (attachment: VolumeAttachment) => VolumeAttachment['status']
}

const ATTACHED = { attached: true }

/** A claim and its volume, named `data`. */
const DATA = [persistentVolume('data'), claim('data')]

/** A controller at work, and a driver; caches are up to date every tenth of a second. */
async function attaching(t: Test, given: Given) {
  const { objects, configuration, onRequest } = given
  const context = testContext({
    name: 'persistentvolume-attach-detach-controller',
    configuration: {
      ...defaultControllersConfiguration,
      attachDetach: { ...defaultControllersConfiguration.attachDetach, ...configuration },
    },
  })
  const { client, informers, clock, metrics, events } = context
  client.onRequest = onRequest
  for (const object of objects) client.put(typeOf(object), object)
  const state = { driver: given.driver ?? (() => ATTACHED), frozen: new Set<string>() }
  const refresh = (): void => {
    for (const [kind, type] of Object.entries(TYPES)) {
      if (state.frozen.has(kind)) continue
      const { lister } = informers.informer(type)
      const stored = client.list(type)
      for (const object of stored) {
        const cached = lister.getByKey(keyOf(object))
        if (cached?.metadata?.resourceVersion !== object.metadata?.resourceVersion)
          informers.apply(type, object)
      }
      for (const cached of lister.list())
        if (!stored.some((object) => keyOf(object) === keyOf(cached)))
          informers.remove(type, cached)
    }
  }
  const drive = (): void => {
    for (const object of client.list(resources.volumeattachments)) {
      const known = object as VolumeAttachment
      if (known.status?.attached === true || known.metadata?.deletionTimestamp) continue
      const status = state.driver(known)
      if (status !== undefined) client.put(resources.volumeattachments, { ...known, status })
    }
  }
  refresh()
  const controller = await persistentVolumeAttachDetachController.build(context)
  const stopping = new AbortController()
  const stopped = controller!.run(stopping.signal)
  t.after(async () => {
    stopping.abort()
    await clock.advance(1_000)
    await stopped
  })
  const writes = (): readonly string[] =>
    client
      .requested('create', 'patch', 'delete')
      .map(({ verb, path }) => `${verb} ${/nodes|volumeattachments/.exec(path)?.[0]}`)
  const world = {
    client,
    informers,
    clock,
    metrics,
    state,
    writes,
    count: (write: string) => writes().filter((each) => each === write).length,
    /** `volume@node` of every VolumeAttachment. */
    attachments: () =>
      client.list(resources.volumeattachments).map((object) => {
        const { spec, status } = object as VolumeAttachment
        const { persistentVolumeName = 'inline' } = spec.source
        return `${persistentVolumeName}@${spec.nodeName}${status?.attached ? '' : '?'}`
      }),
    reported: (name: string) =>
      (client.get(resources.nodes, undefined, name) as Node).status?.volumesAttached?.map(
        (volume) => volume.name,
      ) ?? [],
    told: () => events.map(({ regarding, message }) => `${regarding.metadata?.name}: ${message}`),
    put: (...more: readonly KubernetesObject[]) =>
      more.forEach((object) => void client.put(typeOf(object), object)),
    remove: (object: KubernetesObject) => client.remove(typeOf(object), object),
    async advance(forMs: number, stepMs = 100) {
      for (let doneMs = 0; doneMs < forMs; doneMs += stepMs) {
        drive()
        refresh()
        await clock.advance(stepMs)
      }
      refresh()
      await clock.advance(0)
    },
  }
  await clock.advance(0)
  return world
}

const MINUTE_MS = 60_000

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
