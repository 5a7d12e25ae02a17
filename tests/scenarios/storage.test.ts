/** Pods with claims on a whole cluster: a driver makes the volumes, the scheduler chooses where, and data outlives its pod. */
import assert from 'node:assert/strict'
import { findCondition, resources } from '@gyropilot/api'
import type {
  PersistentVolume,
  PersistentVolumeClaim,
  Pod,
  StatefulSet,
  StorageClass,
} from '@gyropilot/api'
import { statefulSet } from './objects.ts'
import { scenario } from './scenario.ts'
import type { World } from './scenario.ts'

const WITHIN_MS = 30_000
const ZONE = 'topology.kubernetes.io/zone'
type Values = Readonly<Record<string, string>>

function claim(
  name: string,
  given: { readonly annotations?: Values; readonly className?: string } = {},
): PersistentVolumeClaim {
  const { annotations, className } = given
  return {
    metadata: { name, ...(annotations && { annotations }) },
    spec: {
      accessModes: ['ReadWriteOnce'],
      resources: { requests: { storage: '1Gi' } },
      ...(className !== undefined && { storageClassName: className }),
    },
  }
}

/** Ends with 42 where somebody was before. */
const MARK = ['sh', '-c', 'test -f /data/mark && exit 42; touch /data/mark; sleep 1d']

const CONTAINER = {
  name: 'c',
  image: 'db:1',
  command: MARK,
  volumeMounts: [{ name: 'data', mountPath: '/data' }],
}

function userOf(claimName: string, spec: Partial<NonNullable<Pod['spec']>> = {}): Pod {
  const volumes = [{ name: 'data', persistentVolumeClaim: { claimName } }]
  return {
    metadata: { name: 'user' },
    spec: { restartPolicy: 'Never', containers: [CONTAINER], volumes, ...spec },
  }
}

function database(replicas: number): StatefulSet {
  const { metadata, spec } = claim('data')
  const set = statefulSet('db', { replicas })
  return {
    ...set,
    spec: {
      ...set.spec!,
      template: { ...set.spec!.template, spec: { containers: [CONTAINER] } },
      volumeClaimTemplates: [{ metadata, spec }],
    },
  }
}

async function untilPod(world: World, name: string, check: (pod: Pod) => boolean): Promise<Pod> {
  return await world.until(`pod ${name} is as it should be`, WITHIN_MS, async () => {
    const found = await world.find(resources.pods, name)
    return found !== undefined && check(found) ? found : undefined
  })
}

const runs = ({ status, metadata }: Pod): boolean =>
  status?.phase === 'Running' && metadata?.deletionTimestamp === undefined

async function volumeOf(world: World, claimName: string): Promise<PersistentVolume> {
  return await world.until(`claim ${claimName} has a volume`, WITHIN_MS, async () => {
    const found = await world.find(resources.persistentvolumeclaims, claimName)
    if (found?.status?.phase !== 'Bound') return undefined
    return await world.find(resources.persistentvolumes, found.spec?.volumeName ?? '')
  })
}

async function eventsOf(world: World, name: string, reason: string): Promise<readonly string[]> {
  await world.advance(1_000)
  const own = (await world.list(resources.events)).filter(
    (event) => event.involvedObject.name === name && event.reason === reason,
  )
  return own.flatMap(({ message = '', count = 1 }) => Array<string>(count).fill(message))
}

async function newClaim(world: World, ...given: Parameters<typeof claim>): Promise<void> {
  await world.of(resources.persistentvolumeclaims).create(claim(...given))
  // Until all have seen it.
  await world.advance(100)
}

async function newClass(
  world: World,
  parameters: Values,
  given: Partial<StorageClass> = {},
): Promise<void> {
  await world.of(resources.storageclasses).create({
    metadata: { name: 'scripted' },
    provisioner: 'sim.storage',
    volumeBindingMode: 'WaitForFirstConsumer',
    parameters,
    ...given,
  })
  await world.advance(100)
}

scenario(
  'Given a StatefulSet with claim templates, When nothing else is there, Then each pod gets a volume of class standard and runs.',
  async (world) => {
    await world.of(resources.statefulsets).create(database(2))
    for (const name of ['db-0', 'db-1']) {
      const { spec } = await untilPod(world, name, runs)
      const volume = await volumeOf(world, `data-${name}`)
      assert.equal(volume.spec?.storageClassName, 'standard')
      const node = await world.find(resources.nodes, spec?.nodeName ?? '')
      assert.deepEqual(node?.status?.volumesInUse, [
        `kubernetes.io/csi/sim.storage^${volume.metadata?.name}`,
      ])
    }
  },
)

scenario(
  'Given data on a volume, When its pod is deleted and comes back elsewhere, Then the data is there.',
  async (world) => {
    await world.of(resources.statefulsets).create(database(1))
    const first = await untilPod(world, 'db-0', runs)
    const volume = await volumeOf(world, 'data-db-0')
    const nodes = world.of(resources.nodes)
    const home = first.spec?.nodeName ?? ''
    await nodes.patch(home, { type: 'merge', value: { spec: { unschedulable: true } } })
    await world.of(resources.pods).delete('db-0')
    const second = await untilPod(
      world,
      'db-0',
      ({ status }) => status?.containerStatuses?.[0]?.lastState?.terminated?.exitCode === 42,
    )
    assert.notEqual(second.spec?.nodeName, home)
    assert.equal((await volumeOf(world, 'data-db-0')).metadata?.uid, volume.metadata?.uid)
    await world.until('the first node has let it go', WITHIN_MS, async () => {
      const used = (await world.find(resources.nodes, home))?.status?.volumesInUse ?? []
      return used.length === 0 ? true : undefined
    })
  },
)

scenario('Given a claim is deleted, Then its volume and its data go.', async (world) => {
  const claims = world.of(resources.persistentvolumeclaims)
  const use = async (): Promise<Pod> => {
    await newClaim(world, 'data')
    await world.of(resources.pods).create(userOf('data'))
    return await untilPod(world, 'user', runs)
  }
  await use()
  const { metadata } = await volumeOf(world, 'data')
  await claims.delete('data')
  await world.advance(5_000)
  assert.ok(await world.find(resources.persistentvolumes, metadata?.name ?? ''), 'a pod has it')
  await world.of(resources.pods).delete('user')
  await world.until('the volume is gone', WITHIN_MS, async () =>
    (await world.find(resources.persistentvolumes, metadata?.name ?? '')) ? undefined : true,
  )
  await use()
  await world.advance(5_000)
  await untilPod(world, 'user', runs)
})

scenario(
  'Given a volume that is being deleted, When it is to be kept after all, Then nothing holds it once its claim is gone.',
  async (world) => {
    await newClaim(world, 'data')
    await world.of(resources.pods).create(userOf('data'))
    await untilPod(world, 'user', runs)
    const { metadata } = await volumeOf(world, 'data')
    const name = metadata?.name ?? ''
    const volumes = world.of(resources.persistentvolumes)
    await volumes.delete(name)
    const value = { spec: { persistentVolumeReclaimPolicy: 'Retain' } }
    await volumes.patch(name, { type: 'merge', value })
    await world.of(resources.persistentvolumeclaims).delete('data')
    await world.of(resources.pods).delete('user')
    await world.until('the volume is gone', WITHIN_MS, async () =>
      (await world.find(resources.persistentvolumes, name)) ? undefined : true,
    )
  },
)

scenario(
  'Given a driver that fails twice, Then the claim is bound at the third try, and events tell why not before.',
  async (world) => {
    await newClass(world, {
      'sim.storage/provision-failures': '2',
      'sim.storage/provision-error': 'out of luck',
      'sim.storage/provison': '5s',
    })
    await newClaim(world, 'data', { className: 'scripted' })
    await world.of(resources.pods).create(userOf('data'))
    await untilPod(world, 'user', runs)
    const text =
      'failed to provision volume with StorageClass "scripted": rpc error: code = Internal desc = out of luck'
    assert.deepEqual(await eventsOf(world, 'data', 'ProvisioningFailed'), [text, text])
    const [ignored] = await eventsOf(world, 'data', 'ParameterIgnored')
    assert.equal(
      ignored,
      'sim.storage/provison is not known to the storage driver: did you mean sim.storage/provision?',
    )
    const volume = await volumeOf(world, 'data')
    assert.deepEqual(await eventsOf(world, 'data', 'ProvisioningSucceeded'), [
      `Successfully provisioned volume ${volume.metadata?.name}`,
    ])
  },
)

scenario(
  'Given a driver without room on the chosen node, Then the scheduler chooses again.',
  async (world) => {
    await newClass(world, {
      'sim.storage/provision-failures': '1',
      'sim.storage/provision-error': 'ResourceExhausted: the disk is full',
    })
    await newClaim(world, 'data', { className: 'scripted' })
    await world.of(resources.pods).create(userOf('data'))
    await untilPod(world, 'user', runs)
    assert.deepEqual(await eventsOf(world, 'user', 'FailedScheduling'), [
      'running PreBind plugin "VolumeBinding": binding volumes: provisioning failed for PVC "data"',
    ])
  },
)

scenario(
  'Given zones, Then a volume stays in the zone of its first pod, and so does the next pod.',
  async (world) => {
    for (const [name, zone] of [
      ['node-1', 'a'],
      ['node-2', 'a'],
      ['node-3', 'b'],
    ] as const)
      await world
        .of(resources.nodes)
        .patch(name, { type: 'merge', value: { metadata: { labels: { [ZONE]: zone } } } })
    await newClaim(world, 'data')
    const nodeSelector = { 'kubernetes.io/hostname': 'node-1' }
    await world.of(resources.pods).create(userOf('data', { nodeSelector }))
    await untilPod(world, 'user', runs)
    const volume = await volumeOf(world, 'data')
    assert.deepEqual(volume.spec?.nodeAffinity?.required?.nodeSelectorTerms, [
      { matchExpressions: [{ key: ZONE, operator: 'In', values: ['a'] }] },
    ])
    await world.of(resources.pods).delete('user')
    await world.until('the first is gone', WITHIN_MS, async () =>
      (await world.find(resources.pods, 'user')) ? undefined : true,
    )
    await world
      .of(resources.nodes)
      .patch('node-1', { type: 'merge', value: { spec: { unschedulable: true } } })
    await world.advance(100)
    await world.of(resources.pods).create(userOf('data'))
    const { spec } = await untilPod(world, 'user', ({ status }) => status?.phase === 'Failed')
    assert.equal(spec?.nodeName, 'node-2')
  },
  { nodes: 3 },
)

scenario(
  'Given a claim that asks for more, Then volume and claim grow while the pod runs.',
  async (world) => {
    const claims = world.of(resources.persistentvolumeclaims)
    await newClaim(world, 'data')
    await world.of(resources.pods).create(userOf('data'))
    await untilPod(world, 'user', runs)
    const before = await volumeOf(world, 'data')
    const storage = '3Gi'
    const asked = { spec: { resources: { requests: { storage } } } }
    await claims.patch('data', { type: 'merge', value: asked })
    const grown = await world.until('the claim is larger', WITHIN_MS, async () => {
      const found = await world.find(resources.persistentvolumeclaims, 'data')
      return found?.status?.capacity?.storage === storage ? found : undefined
    })
    assert.equal(grown.status?.conditions ?? undefined, undefined)
    assert.equal(grown.status?.allocatedResourceStatuses, undefined)
    const volume = await world.find(resources.persistentvolumes, before.metadata?.name ?? '')
    assert.equal(volume?.spec?.capacity?.storage, storage)
    assert.deepEqual(await eventsOf(world, 'data', 'FileSystemResizeSuccessful'), [
      `MountVolume.NodeExpandVolume succeeded for volume "${volume?.metadata?.name}"`,
    ])
    await world.advance(60_000)
    assert.equal((await eventsOf(world, 'data', 'Resizing')).length, 1, 'and then it rests')
  },
  { nodes: 1 },
)

scenario(
  'Given a volume that cannot be mounted, Then the pod waits and its events tell why.',
  async (world) => {
    const annotations = { 'sim.storage/mount-error': 'bad superblock' }
    await newClaim(world, 'data', { annotations })
    await world.of(resources.pods).create(userOf('data'))
    const { metadata } = await volumeOf(world, 'data')
    const name = metadata?.name ?? ''
    await world.advance(10_000)
    const waiting = await untilPod(world, 'user', ({ spec }) => Boolean(spec?.nodeName))
    const [status] = waiting.status?.containerStatuses ?? []
    assert.equal(status?.state?.waiting?.reason, 'ContainerCreating')
    const [text] = await eventsOf(world, 'user', 'FailedMount')
    assert.equal(
      text,
      `MountVolume.SetUp failed for volume "${name}" : rpc error: code = Internal desc = bad superblock`,
    )
    // What is said on the volume wins: its disk was repaired.
    const repaired = { 'sim.storage/mount-failures': '0' }
    await world
      .of(resources.persistentvolumes)
      .patch(name, { type: 'merge', value: { metadata: { annotations: repaired } } })
    await untilPod(world, 'user', runs)
  },
)

scenario(
  'Given a driver that dies while it works, Then nothing is made twice and nothing is left over.',
  async (world) => {
    await newClass(world, { 'sim.storage/provision': '3s', 'sim.storage/delete': '3s' })
    await newClaim(world, 'data', { className: 'scripted' })
    await world.of(resources.pods).create(userOf('data'))
    await world.advance(2_000)
    world.crash('storage')
    await untilPod(world, 'user', runs)
    assert.equal((await world.list(resources.persistentvolumes)).length, 1)
    await world.of(resources.pods).delete('user')
    await world.of(resources.persistentvolumeclaims).delete('data')
    await world.advance(3_000)
    world.crash('storage')
    await world.until('nothing is left', WITHIN_MS, async () =>
      (await world.list(resources.persistentvolumes)).length === 0 ? true : undefined,
    )
  },
)

scenario(
  'CSI volume of a node that starts again: the pod runs on, and its volume stays in use until it goes',
  async (world) => {
    await newClaim(world, 'data')
    await world.of(resources.pods).create(userOf('data'))
    const { spec } = await untilPod(world, 'user', runs)
    const inUse = async (): Promise<number> =>
      (await world.find(resources.nodes, spec?.nodeName ?? ''))?.status?.volumesInUse?.length ?? 0
    world.crash(spec?.nodeName ?? '')
    await world.advance(30_000)
    assert.equal(await inUse(), 1)
    assert.equal((await world.find(resources.pods, 'user'))?.status?.phase, 'Running')
    await world.of(resources.pods).delete('user')
    await world.advance(3_000)
    assert.equal(await inUse(), 0)
  },
  { nodes: 1 },
)

scenario(
  'WaitForFirstConsumer claim with a provisioner that waits 5 s: selected-node set at once, pod bound after Bound',
  async (world) => {
    await newClass(world, { 'sim.storage/provision': '5s' })
    await newClaim(world, 'data', { className: 'scripted' })
    await world.of(resources.pods).create(userOf('data'))
    await world.advance(2_500)
    const waiting = await world.find(resources.persistentvolumeclaims, 'data')
    const chosen = waiting?.metadata?.annotations?.['volume.kubernetes.io/selected-node']
    const pod = await world.find(resources.pods, 'user')
    assert.ok(chosen)
    assert.equal(pod?.status?.nominatedNodeName, chosen)
    assert.equal(pod?.spec?.nodeName, undefined)
    assert.equal(findCondition(pod?.status?.conditions, 'PodScheduled'), undefined)
    const bound = await untilPod(world, 'user', ({ spec }) => Boolean(spec?.nodeName))
    assert.equal(bound.spec?.nodeName, chosen)
    assert.equal(bound.status?.nominatedNodeName, undefined)
    assert.ok(await volumeOf(world, 'data'))
  },
)

scenario(
  'a StatefulSet moves after its node is lost and keeps its data: out-of-service taint',
  async (world) => {
    await world.of(resources.statefulsets).create(database(1))
    const { spec, metadata } = await untilPod(world, 'db-0', runs)
    const volume = await volumeOf(world, 'data-db-0')
    const lost = spec?.nodeName ?? ''
    world.partition(lost, 3_600_000)
    await world.advance(400_000)
    const stuck = await world.find(resources.pods, 'db-0')
    assert.equal(stuck?.metadata?.uid, metadata?.uid)
    assert.ok(stuck?.metadata?.deletionTimestamp, 'evicted, and nobody confirms that it ended')
    const node = await world.find(resources.nodes, lost)
    const oos = { key: 'node.kubernetes.io/out-of-service', value: 'off', effect: 'NoExecute' }
    const taints = [...(node?.spec?.taints ?? []), oos]
    await world.of(resources.nodes).patch(lost, { type: 'merge', value: { spec: { taints } } })
    const moved = await untilPod(
      world,
      'db-0',
      ({ status }) => status?.containerStatuses?.[0]?.lastState?.terminated?.exitCode === 42,
    )
    assert.notEqual(moved.spec?.nodeName, lost)
    assert.equal((await volumeOf(world, 'data-db-0')).metadata?.uid, volume.metadata?.uid)
    const attached = await world.list(resources.volumeattachments)
    assert.deepEqual(
      attached.map(({ spec: of }) => of?.nodeName),
      [moved.spec?.nodeName],
      'nobody waits for the lost node',
    )
  },
)

scenario(
  'the driver attaches where it is asked to, to one node at a time, and tells why it cannot',
  async (world) => {
    await newClass(
      world,
      { 'sim.storage/attach-failures': '1', 'sim.storage/detach-failures': '1' },
      { volumeBindingMode: 'Immediate' },
    )
    await newClaim(world, 'data', { className: 'scripted' })
    const persistentVolumeName = (await volumeOf(world, 'data')).metadata?.name ?? ''
    const attachments = world.of(resources.volumeattachments)
    const attach = (name: string, nodeName: string) =>
      attachments.create({
        metadata: { name },
        spec: { attacher: 'sim.storage', nodeName, source: { persistentVolumeName } },
      })
    const status = async (name: string) =>
      (await world.find(resources.volumeattachments, name))?.status
    await attach('first', 'node-1')
    await world.advance(500)
    assert.equal(
      (await status('first'))?.attachError?.message,
      'rpc error: code = Internal desc = scripted failure',
    )
    await world.advance(2_000)
    assert.deepEqual(await status('first'), { attached: true })
    const finalizers = async () =>
      (await world.find(resources.persistentvolumes, persistentVolumeName))?.metadata?.finalizers
    assert.ok((await finalizers())?.includes('external-attacher/sim-storage'))
    await attach('second', 'node-2')
    await world.advance(4_000)
    assert.equal(
      (await status('second'))?.attachError?.message,
      `rpc error: code = FailedPrecondition desc = volume ${persistentVolumeName} is attached to node node-1`,
    )
    await world.of(resources.persistentvolumeclaims).delete('data')
    await world.advance(2_000)
    assert.deepEqual(await eventsOf(world, persistentVolumeName, 'VolumeFailedDelete'), [
      `persistentvolume ${persistentVolumeName} is still attached to node node-1`,
    ])
    await attachments.delete('first')
    await world.advance(500)
    assert.ok((await status('first'))?.detachError)
    await attachments.delete('second')
    await world.until('all is gone', WITHIN_MS, async () => {
      const left = [
        ...(await world.list(resources.volumeattachments)),
        ...(await world.list(resources.persistentvolumes)),
      ]
      return left.length === 0 ? true : undefined
    })
  },
)

scenario('whether storage is deleted follows the reclaim policy of the volume', async (world) => {
  await newClass(world, {}, { volumeBindingMode: 'Immediate', reclaimPolicy: 'Retain' })
  await newClaim(world, 'data', { className: 'scripted' })
  const volumes = world.of(resources.persistentvolumes)
  const name = (await volumeOf(world, 'data')).metadata?.name ?? ''
  const guard = 'external-provisioner.volume.kubernetes.io/finalizer'
  const isGuarded = async (): Promise<boolean> => {
    await world.advance(1_000)
    return (await volumes.get(name)).metadata?.finalizers?.includes(guard) === true
  }
  const setPolicy = (persistentVolumeReclaimPolicy: string) =>
    volumes.patch(name, { type: 'merge', value: { spec: { persistentVolumeReclaimPolicy } } })
  assert.equal(await isGuarded(), false)
  await setPolicy('Delete')
  assert.equal(await isGuarded(), true)
  await setPolicy('Retain')
  assert.equal(await isGuarded(), false)
  await world.of(resources.persistentvolumeclaims).delete('data')
  await world.advance(10_000)
  assert.equal((await volumes.get(name)).status?.phase, 'Released')
  await setPolicy('Delete')
  await world.advance(3_000)
  assert.equal(await world.find(resources.persistentvolumes, name), undefined)
})

scenario(
  'CSI volume: volumesInUse set first, pod starts only after volumesAttached and the attachment are there; after deletion volumesInUse empties and the controller detaches',
  async (world) => {
    await newClass(world, { 'sim.storage/attach': '5s', 'sim.storage/detach': '5s' })
    await newClaim(world, 'data', { className: 'scripted' })
    await world.of(resources.pods).create(userOf('data'))
    const bound = await untilPod(world, 'user', ({ spec }) => Boolean(spec?.nodeName))
    const nodeName = bound.spec?.nodeName ?? ''
    await world.advance(3_000)
    const node = async () => (await world.find(resources.nodes, nodeName))?.status
    const attachments = () => world.list(resources.volumeattachments)
    assert.equal((await node())?.volumesInUse?.length, 1)
    assert.deepEqual((await node())?.volumesAttached ?? [], [])
    assert.deepEqual(
      (await attachments()).map(({ status }) => status?.attached),
      [false],
    )
    assert.equal((await world.find(resources.pods, 'user'))?.status?.phase, 'Pending')
    await untilPod(world, 'user', runs)
    assert.equal((await node())?.volumesAttached?.length, 1)
    await world.of(resources.pods).delete('user')
    await world.advance(2_500)
    assert.deepEqual((await node())?.volumesInUse ?? [], [])
    assert.equal((await attachments()).length, 1, 'the driver takes its time')
    await world.advance(5_000)
    assert.deepEqual(await attachments(), [])
    assert.deepEqual((await node())?.volumesAttached ?? [], [])
  },
)

scenario('what cannot be attached is told to its pod', async (world) => {
  const annotations = { 'sim.storage/attach-error': 'no such disk' }
  await newClaim(world, 'data', { annotations })
  await world.of(resources.pods).create(userOf('data'))
  const name = (await volumeOf(world, 'data')).metadata?.name
  await world.advance(20_000)
  const [failed] = await eventsOf(world, 'user', 'FailedAttachVolume')
  assert.equal(
    failed,
    `AttachVolume.Attach failed for volume "${name}" : rpc error: code = Internal desc = no such disk`,
  )
  await world.advance(120_000)
  const [waiting] = await eventsOf(world, 'user', 'FailedMount')
  assert.equal(
    waiting,
    'Unable to attach or mount volumes: unmounted volumes=[data], unattached volumes=[], failed to process volumes=[]: context deadline exceeded',
  )
})
