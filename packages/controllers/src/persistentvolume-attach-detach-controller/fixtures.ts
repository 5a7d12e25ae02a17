/** Smallest valid objects. */
import type {
  CSIDriver,
  Node,
  PersistentVolume,
  PersistentVolumeClaim,
  PersistentVolumeSpec,
  Pod,
  Volume,
  VolumeAttachment,
} from '@gyropilot/api'
import { specOfVolume } from '../volume-support/volume-spec.ts'
import type { VolumeSpec } from '../volume-support/volume-spec.ts'
import { MANAGED_ANNOTATION } from './config.ts'
import { newAttachment } from './csi-attachment.ts'

const DRIVER = 'example.com'

/** Of the volume `name` of the driver. */
export function uniqueName(name: string): string {
  return `kubernetes.io/csi/${DRIVER}^${name}-handle`
}

interface NodeOptions {
  readonly isManaged?: boolean
  readonly ready?: 'True' | 'False' | 'Unknown'
  readonly inUse?: readonly string[]
  readonly attached?: readonly string[]
  readonly taints?: readonly string[]
}

export function node(name: string, options: NodeOptions = {}): Node {
  const { isManaged = true, ready = 'True', inUse = [], attached = [], taints = [] } = options
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name, uid: `${name}-uid`, ...(isManaged && managed()) },
    spec: { taints: taints.map((key) => ({ key, effect: 'NoSchedule' })) },
    status: {
      conditions: [{ type: 'Ready', status: ready }],
      volumesInUse: inUse.map(uniqueName),
      volumesAttached: attached.map((volume) => ({ name: uniqueName(volume), devicePath: '' })),
    },
  }
}

function managed() {
  return { annotations: { [MANAGED_ANNOTATION]: '' } }
}

type AccessModes = NonNullable<PersistentVolumeSpec['accessModes']>

interface VolumeOptions {
  readonly modes?: AccessModes
  readonly driver?: string
  readonly handle?: string
  readonly source?: PersistentVolumeSpec
  readonly namespace?: string
}

/** Bound to the claim of its name. */
export function persistentVolume(name: string, options: VolumeOptions = {}): PersistentVolume {
  const { modes = ['ReadWriteOnce'], driver = DRIVER, namespace = 'ns' } = options
  const { handle = `${name}-handle`, source = { csi: { driver, volumeHandle: handle } } } = options
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: { name },
    spec: { accessModes: modes, claimRef: { namespace, name, uid: `${name}-claim` }, ...source },
  }
}

/** Bound to the volume of its name. */
export function claim(name: string, namespace = 'ns', phase = 'Bound'): PersistentVolumeClaim {
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { namespace, name, uid: `${name}-claim` },
    spec: { volumeName: name },
    status: { phase: phase as 'Bound' },
  }
}

export function spec(name: string, options: VolumeOptions = {}): VolumeSpec {
  return specOfVolume(persistentVolume(name, options))!
}

interface PodOptions {
  readonly node?: string
  readonly namespace?: string
  readonly uid?: string
  readonly claims?: readonly string[]
  readonly volumes?: readonly Volume[]
  readonly phase?: string
  readonly isDeleted?: boolean
  readonly states?: readonly ('running' | 'waiting' | 'terminated')[]
}

export function pod(name: string, options: PodOptions = {}): Pod {
  const { node: nodeName = 'a', namespace = 'ns', uid = `${name}-uid`, claims = ['data'] } = options
  const { volumes = [], phase = 'Running', isDeleted = false, states = [] } = options
  const ofClaims = claims.map((claimName): Volume => {
    return { name: claimName, persistentVolumeClaim: { claimName } }
  })
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      namespace,
      name,
      uid,
      ...(isDeleted && { deletionTimestamp: '2026-01-01T00:00:00Z' }),
    },
    spec: { nodeName, containers: [], volumes: [...ofClaims, ...volumes] },
    status: {
      phase: phase as 'Running',
      containerStatuses: states.map((state, index) => ({
        name: `c${index}`,
        image: 'img:1',
        imageID: '',
        ready: false,
        restartCount: 0,
        state: { [state]: { exitCode: 0 } },
      })),
    },
  }
}

export function attachment(
  volume: string,
  nodeName: string,
  status: VolumeAttachment['status'] = { attached: true },
): VolumeAttachment {
  const { csi, source } = spec(volume)
  return { ...newAttachment(csi!, nodeName, source), status }
}

export function driver(attachRequired: boolean, name = DRIVER): CSIDriver {
  return {
    apiVersion: 'storage.k8s.io/v1',
    kind: 'CSIDriver',
    metadata: { name },
    spec: { attachRequired },
  }
}
