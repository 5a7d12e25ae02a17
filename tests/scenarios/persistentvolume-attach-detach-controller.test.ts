/** Volumes and nodes on a whole cluster: nodes that are lost, managers that are started again. The test plays the driver. */
import assert from 'node:assert/strict'
import { isTerminating, resources } from '@gyropilot/api'
import type { PersistentVolume, PersistentVolumeClaim, Pod } from '@gyropilot/api'
import { scenario } from './scenario.ts'
import type { World } from './scenario.ts'

const WITHIN_MS = 30_000
const DRIVER = 'example.com'
const UNIQUE_NAME = `kubernetes.io/csi/${DRIVER}^disk`
const STORAGE = { accessModes: ['ReadWriteOnce'], storageClassName: 'by-hand' } as const

const VOLUME: PersistentVolume = {
  metadata: { name: 'disk' },
  spec: {
    ...STORAGE,
    capacity: { storage: '1Gi' },
    claimRef: { namespace: 'default', name: 'data' },
    csi: { driver: DRIVER, volumeHandle: 'disk' },
  },
}

const CLAIM: PersistentVolumeClaim = {
  metadata: { name: 'data', namespace: 'default' },
  spec: { ...STORAGE, volumeName: 'disk', resources: { requests: { storage: '1Gi' } } },
}

const pod = (name: string, nodeName: string): Pod => ({
  metadata: { name, namespace: 'default' },
  spec: {
    nodeName,
    containers: [{ name: 'c', image: 'web:1' }],
    volumes: [{ name: 'd', persistentVolumeClaim: { claimName: 'data' } }],
  },
})

/** Attaches what waits, and lets go of what is deleted. */
async function playDriver(world: World): Promise<void> {
  const attachments = world.of(resources.volumeattachments)
  for (const each of await world.list(resources.volumeattachments)) {
    const { name = '', finalizers } = each.metadata ?? {}
    if (isTerminating(each)) {
      if (finalizers?.length)
        await attachments.patch(name, { type: 'merge', value: { metadata: { finalizers: null } } })
    } else if (!each.status?.attached) {
      await attachments.patch(name, {
        type: 'merge',
        value: { metadata: { finalizers: ['example.com/attached'] } },
      })
      await attachments.patch(
        name,
        { type: 'merge', value: { status: { attached: true } } },
        { subresource: 'status' },
      )
    }
  }
}

async function nodesWithDisk(world: World): Promise<readonly string[]> {
  const all = await world.list(resources.volumeattachments)
  return all.filter(({ status }) => status?.attached).map(({ spec }) => spec.nodeName)
}

function untilAt(world: World, ...nodes: readonly string[]): Promise<true> {
  return world.until(`the disk is at ${nodes.join() || 'no node'}`, WITHIN_MS, async () => {
    await playDriver(world)
    const told: string[] = []
    for (const { metadata, status } of await world.list(resources.nodes))
      if (status?.volumesAttached?.some(({ name }) => name === UNIQUE_NAME))
        told.push(metadata!.name!)
    return told.join() === nodes.join() && (await nodesWithDisk(world)).join() === nodes.join()
      ? true
      : undefined
  })
}

async function begin(world: World): Promise<void> {
  await world.of(resources.persistentvolumes).create(VOLUME)
  await world.of(resources.persistentvolumeclaims).create(CLAIM)
  await world.of(resources.pods).create(pod('one', 'node-1'))
  await untilAt(world, 'node-1')
}

scenario(
  'a node that is lost keeps its volume until it is said to be out of service; then another node gets it',
  async (world) => {
    await begin(world)
    world.partition('node-1', 3_600_000)
    await world.advance(90_000)
    await world.of(resources.pods).delete('one')
    await world.of(resources.pods).create(pod('two', 'node-2'))
    await world.advance(60_000)
    // The pod may still write: its node has not said that it does not.
    assert.deepEqual(await nodesWithDisk(world), ['node-1'])
    const taints = [{ key: 'node.kubernetes.io/out-of-service', effect: 'NoExecute' }]
    const node = await world.find(resources.nodes, 'node-1')
    const value = { spec: { taints: [...(node?.spec?.taints ?? []), ...taints] } }
    await world.of(resources.nodes).patch('node-1', { type: 'merge', value })
    await untilAt(world, 'node-2')
  },
)

scenario(
  'a manager that is started again knows what is attached, and detaches what was left meanwhile',
  async (world) => {
    await begin(world)
    world.restartManager()
    await world.of(resources.pods).delete('one', { gracePeriodSeconds: 0 })
    await untilAt(world)
    await world.of(resources.pods).create(pod('two', 'node-2'))
    await untilAt(world, 'node-2')
    world.restartManager()
    await world.advance(120_000)
    assert.deepEqual(await nodesWithDisk(world), ['node-2'])
  },
)
