/** What is known of volumes, given as objects, and the smallest of them. */
import type {
  CSIDriver,
  CSINode,
  CSIStorageCapacity,
  KubernetesObject,
  PersistentVolume,
  PersistentVolumeClaim,
  Pod,
  StorageClass,
  VolumeAttachment,
} from '@gyropilot/api'
import { storageClassNameOf } from '@gyropilot/api'
import { pod } from '@gyropilot/api/testing'
import type { VolumeListers } from './claims.ts'

export interface Given {
  readonly claims?: readonly PersistentVolumeClaim[]
  readonly volumes?: readonly PersistentVolume[]
  readonly classes?: readonly StorageClass[]
  readonly drivers?: readonly CSIDriver[]
  readonly csiNodes?: readonly CSINode[]
  readonly capacities?: readonly CSIStorageCapacity[]
  readonly attachments?: readonly VolumeAttachment[]
}

export function listersOf(given: Given): VolumeListers {
  const named = <T extends KubernetesObject>(items: readonly T[] = []) => ({
    get: (_: string | undefined, name: string) =>
      items.find(({ metadata }) => metadata?.name === name),
  })
  const { volumes = [], capacities = [], attachments = [] } = given
  return {
    claims: named(given.claims),
    volumes: named(volumes),
    classes: named(given.classes),
    drivers: named(given.drivers),
    csiNodes: named(given.csiNodes),
    volumesOfClass: (name) => volumes.filter((volume) => storageClassNameOf(volume) === name),
    capacitiesOf: (name) => capacities.filter((each) => each.storageClassName === name),
    attachmentsTo: (nodeName) => attachments.filter(({ spec }) => spec?.nodeName === nodeName),
  }
}

/** Asks for 1Gi of class `later`, which waits for its first pod. */
export function claim(
  name: string,
  spec: Partial<NonNullable<PersistentVolumeClaim['spec']>> = {},
  metadata: PersistentVolumeClaim['metadata'] = {},
): PersistentVolumeClaim {
  return {
    metadata: { name, namespace: 'default', uid: `uid-${name}`, ...metadata },
    spec: {
      accessModes: ['ReadWriteOnce'],
      storageClassName: 'later',
      resources: { requests: { storage: '1Gi' } },
      ...spec,
    },
  }
}

export function boundClaim(
  name: string,
  volumeName: string,
  spec: PersistentVolumeClaim['spec'] = {},
): PersistentVolumeClaim {
  const annotations = { 'pv.kubernetes.io/bind-completed': 'yes' }
  return claim(name, { volumeName, ...spec }, { annotations })
}

/** Available, 1Gi, of class `later`. */
export function volume(
  name: string,
  spec: PersistentVolume['spec'] = {},
  metadata: PersistentVolume['metadata'] = {},
): PersistentVolume {
  return {
    metadata: { name, uid: `uid-${name}`, ...metadata },
    spec: {
      accessModes: ['ReadWriteOnce'],
      capacity: { storage: '1Gi' },
      storageClassName: 'later',
      ...spec,
    },
    status: { phase: 'Available' },
  }
}

export function onZone(zone: string): PersistentVolume['spec'] {
  const matchExpressions = [{ key: 'zone', operator: 'In', values: [zone] }] as const
  return { nodeAffinity: { required: { nodeSelectorTerms: [{ matchExpressions }] } } }
}

/** Volumes of it are chosen with their pod's node. */
export function later(given: Partial<StorageClass> = {}): StorageClass {
  return {
    metadata: { name: 'later' },
    provisioner: 'kubernetes.io/no-provisioner',
    volumeBindingMode: 'WaitForFirstConsumer',
    ...given,
  }
}

export const provisioning = later({ provisioner: 'disk.example.com' })

export function podWith(...claims: readonly string[]): Pod {
  const volumes = claims.map((claimName) => ({
    name: claimName,
    persistentVolumeClaim: { claimName },
  }))
  return pod({ spec: { volumes } })
}
