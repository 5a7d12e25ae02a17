/** Pods that could not share a volume on one node are told so. */
import type { CSIDriver, PersistentVolume, PersistentVolumeClaim, Pod } from '@gyropilot/api'
import { resources } from '@gyropilot/api'
import type { SimulatedCluster } from '../../simulated/simulated-cluster.ts'
import { claim, podWithClaim, volume } from '../objects.ts'
import { untilSo, untilWithOccasions } from '../occasions.ts'
import type { Scenario } from '../scenario.ts'

const WARNER = 'selinux-warning-controller'
const DRIVER = 'disks.example.com'
const STEP_MS = 5_000

const driver: CSIDriver = {
  apiVersion: 'storage.k8s.io/v1',
  kind: 'CSIDriver',
  metadata: { name: DRIVER },
  spec: { seLinuxMount: true, attachRequired: false },
}

function diskVolume(name: string): PersistentVolume {
  const { spec, ...rest } = volume(name)
  const { hostPath: _, ...plain } = spec!
  return { ...rest, spec: { ...plain, csi: { driver: DRIVER, volumeHandle: name } } }
}

function claimOf(name: string, volumeName: string): PersistentVolumeClaim {
  const { spec, ...rest } = claim(name, { className: '' })
  return { ...rest, spec: { ...spec!, volumeName } }
}

function labelledPod(
  name: string,
  claimName: string,
  level: string,
  policy?: 'Recursive' | 'MountOption',
): Pod {
  const { spec, ...rest } = podWithClaim(name, claimName)
  const containers = spec!.containers.map((container) => ({
    ...container,
    volumeMounts: [{ name: 'data', mountPath: '/data' }],
  }))
  const securityContext = {
    seLinuxOptions: { level },
    ...(policy && { seLinuxChangePolicy: policy }),
  }
  return { ...rest, spec: { ...spec!, containers, securityContext } }
}

function eventsOf(cluster: SimulatedCluster, name: string): readonly string[] {
  return cluster.objects
    .all(resources.events, 'default')
    .filter(({ source, involvedObject }) => {
      return source?.component === 'selinux_warning' && involvedObject.name === name
    })
    .map(({ type, reason, message }) => `${type} ${reason} ${message}`)
    .toSorted()
}

function conflict(property: string, own: string, other: string, level: string): string {
  return (
    `Normal ${property}Conflict ${property} "${own}" conflicts with pod ${other} that uses the same volume as this pod ` +
    `with ${property} "${level}". If both pods land on the same node, only one of them may access the volume.`
  )
}

const LEVELS = { a: 's0:c1', b: 's0:c2' }
const AGAINST_B = conflict('SELinuxLabel', `:::${LEVELS.a}`, 'b', `:::${LEVELS.b}`)
const AGAINST_SAME = conflict('SELinuxLabel', `:::${LEVELS.b}`, 'same', `:::${LEVELS.a}`)
const AGAINST_A = conflict('SELinuxLabel', `:::${LEVELS.b}`, 'a', `:::${LEVELS.a}`)

/** Events are not tried again when they are refused: a pod that comes anew is told anew. */
async function untilTold(
  cluster: SimulatedCluster,
  made: Pod,
  told: Readonly<Record<string, readonly string[]>>,
): Promise<void> {
  const { name = '' } = made.metadata ?? {}
  await untilWithOccasions(
    cluster,
    `${Object.keys(told).join()} were told`,
    () =>
      Object.entries(told).every(([pod, texts]) =>
        texts.every((text) => eventsOf(cluster, pod).includes(text)),
      ),
    async () => {
      await cluster.delete(resources.pods, 'default', name)
      await cluster.advance(STEP_MS)
      await cluster.create(made)
    },
  )
}

export const selinuxScenarios: readonly Scenario[] = [
  {
    name: 'pods with other labels on one volume are told, and others are not',
    controllers: [WARNER],
    optional: [WARNER],
    nodes: 0,
    installed: [driver],
    async play(cluster) {
      for (const name of ['shared', 'apart']) {
        await cluster.create(diskVolume(name))
        await cluster.create(claimOf(name, name))
      }
      await cluster.create(labelledPod('a', 'shared', LEVELS.a))
      await cluster.create(labelledPod('same', 'shared', LEVELS.a))
      await cluster.create(labelledPod('alone', 'apart', LEVELS.b))
      await untilSo(cluster, 'the claims are bound', () =>
        ['shared', 'apart'].every((name) => isBound(cluster, name)),
      )
      const b = labelledPod('b', 'shared', LEVELS.b)
      await cluster.create(b)
      await untilTold(cluster, b, {
        a: [AGAINST_B],
        same: [AGAINST_B],
        b: [AGAINST_A, AGAINST_SAME],
      })
    },
    *ends(cluster) {
      const wanted: Readonly<Record<string, readonly string[]>> = {
        a: [AGAINST_B],
        alone: [],
        b: [AGAINST_A, AGAINST_SAME],
        same: [AGAINST_B],
      }
      for (const [name, texts] of Object.entries(wanted)) {
        const found = new Set(eventsOf(cluster, name))
        for (const text of found) if (!texts.includes(text)) yield `${name} was told: ${text}`
        for (const text of texts) if (!found.has(text)) yield `${name} was not told: ${text}`
      }
    },
  },
]

function isBound(cluster: SimulatedCluster, name: string): boolean {
  const found = cluster.objects.find(resources.persistentvolumeclaims, 'default', name)
  return found?.status?.phase === 'Bound'
}
