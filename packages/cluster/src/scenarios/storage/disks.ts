/** Disks of a CSI driver that is played here, and pods that use them. */
import { isTerminating, resources } from '@gyropilot/api'
import { every } from '@gyropilot/foundation'
import type {
  KubernetesObject,
  PersistentVolume,
  PersistentVolumeClaim,
  Pod,
  VolumeAttachment,
} from '@gyropilot/api'
import type { SimulatedCluster } from '../../simulated/simulated-cluster.ts'
import type { Scenario } from '../scenario.ts'

const DRIVER = 'disks.example.com'
const CLASS = 'disks'
const FINALIZER = 'external-attacher/disks-example-com'

/** Bound to the claim of its name. */
export function disk(
  name: string,
  namespace: string,
  mode: 'ReadWriteOnce' | 'ReadWriteMany' = 'ReadWriteOnce',
): PersistentVolume {
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: { name },
    spec: {
      accessModes: [mode],
      capacity: { storage: '1Gi' },
      claimRef: { namespace, name },
      csi: { driver: DRIVER, volumeHandle: name },
      persistentVolumeReclaimPolicy: 'Retain',
      storageClassName: CLASS,
    },
  }
}

export function diskClaim(
  name: string,
  namespace: string,
  mode: 'ReadWriteOnce' | 'ReadWriteMany' = 'ReadWriteOnce',
): PersistentVolumeClaim {
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { namespace, name },
    spec: {
      accessModes: [mode],
      resources: { requests: { storage: '1Gi' } },
      storageClassName: CLASS,
      volumeName: name,
    },
  }
}

/** On the node, past the scheduler. */
export function podWithDisk(name: string, namespace: string, claimName: string, nodeName: string) {
  const pod: Pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { namespace, name, labels: { uses: 'disk' } },
    spec: {
      nodeName,
      terminationGracePeriodSeconds: 1,
      containers: [{ name: 'c', image: 'web:1' }],
      volumes: [{ name: 'disk', persistentVolumeClaim: { claimName } }],
    },
  }
  return pod
}

export function usesDisk({ metadata }: KubernetesObject): boolean {
  return metadata?.labels?.['uses'] === 'disk'
}

const driven = new WeakSet<SimulatedCluster>()
const DRIVER_PERIOD_MS = 700

/** A driver that does what is asked of it, from now on; asking twice is fine. Nothing goes wrong with it. */
export function driveDisks(cluster: SimulatedCluster): void {
  if (driven.has(cluster)) return
  driven.add(cluster)
  let isBusy = false
  every(cluster.clock, DRIVER_PERIOD_MS, () => {
    if (isBusy) return
    isBusy = true
    const look = async (): Promise<void> => {
      for (const attachment of cluster.objects.all(resources.volumeattachments))
        if (attachment.spec.attacher === DRIVER) await drive(cluster, attachment)
    }
    // Another was faster: there is a next time.
    void look()
      .catch(() => {})
      .finally(() => (isBusy = false))
  })
}

async function drive(cluster: SimulatedCluster, attachment: VolumeAttachment): Promise<void> {
  const { name = '', finalizers = [] } = attachment.metadata ?? {}
  const change = (value: object, subresource?: 'status'): Promise<unknown> =>
    cluster.patch(
      resources.volumeattachments,
      undefined,
      name,
      { type: 'merge', value },
      subresource && { subresource },
    )
  if (isTerminating(attachment)) {
    if (finalizers.length > 0) await change({ metadata: { finalizers: null } })
  } else if (attachment.status?.attached !== true) {
    await change({ metadata: { finalizers: [FINALIZER] } })
    await change({ status: { attached: true } }, 'status')
  }
}

const STEP_MS = 20_000
const ATTACH_DETACH = 'persistentvolume-attach-detach-controller'

/** Nodes that have the disk. */
function nodesWith(cluster: SimulatedCluster, name: string): readonly string[] {
  return cluster.objects
    .all(resources.volumeattachments)
    .filter(({ spec, status }) => spec.source.persistentVolumeName === name && status?.attached)
    .map(({ spec }) => spec.nodeName)
    .toSorted()
}

async function diskAndClaim(cluster: SimulatedCluster, name: string): Promise<void> {
  await cluster.create(disk(name, 'default'))
  await cluster.create(diskClaim(name, 'default'))
}

function* isAt(
  cluster: SimulatedCluster,
  name: string,
  nodes: readonly string[],
): Iterable<string> {
  const found = nodesWith(cluster, name)
  if (found.join() !== nodes.join())
    yield `${name} is attached to ${found.join() || 'no node'} and not to ${nodes.join() || 'none'}`
}

export const diskScenarios: readonly Scenario[] = [
  {
    name: 'a disk comes to the node of its pod and leaves it',
    controllers: [ATTACH_DETACH],
    prepare: driveDisks,
    async play(cluster) {
      await diskAndClaim(cluster, 'kept')
      await diskAndClaim(cluster, 'left')
      await cluster.create(podWithDisk('stays', 'default', 'kept', 'node-1'))
      await cluster.create(podWithDisk('goes', 'default', 'left', 'node-1'))
      await cluster.advance(STEP_MS)
      await cluster.delete(resources.pods, 'default', 'goes')
      await cluster.advance(STEP_MS)
    },
    *ends(cluster) {
      yield* isAt(cluster, 'kept', ['node-1'])
      yield* isAt(cluster, 'left', [])
    },
  },
  {
    name: 'a disk for one node moves when its pod does',
    controllers: [ATTACH_DETACH],
    nodes: 2,
    prepare: driveDisks,
    async play(cluster) {
      await diskAndClaim(cluster, 'data')
      await cluster.create(podWithDisk('first', 'default', 'data', 'node-1'))
      await cluster.advance(STEP_MS)
      await cluster.create(podWithDisk('second', 'default', 'data', 'node-2'))
      await cluster.advance(STEP_MS)
      await cluster.delete(resources.pods, 'default', 'first')
      await cluster.advance(STEP_MS)
    },
    *ends(cluster) {
      yield* isAt(cluster, 'data', ['node-2'])
    },
  },
]
