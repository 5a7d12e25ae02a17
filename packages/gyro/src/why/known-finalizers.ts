/**
 * Finalizers of Kubernetes and its own side-cars: who removes each and what it stands for. Pure.
 * Contract: the pages of the controllers in docs/behaviour/controllers.
 */
import { cidrContains, parseCidr, parseIp } from '@gyropilot/api'
import type {
  KubernetesObject,
  PersistentVolume,
  PersistentVolumeClaim,
  Pod,
  ResourceClaim,
  ServiceCIDR,
  UnstructuredObject,
  VolumeAttachment,
} from '@gyropilot/api'
import type { Facts, Found } from './facts.ts'
import { counted } from './words.ts'

interface RelatedRead {
  readonly group: string
  readonly resource: string
}

export interface KnownFinalizer {
  readonly remover: string
  /** Runs in kube-controller-manager, so that its lease tells whether it runs. */
  readonly inManager: boolean
  readonly release: string
  /** Lists to read: of the object's namespace where it has one. */
  readonly reads?: readonly RelatedRead[]
  /** Those of the related objects that keep it. */
  readonly keepers?: (facts: Facts) => readonly Found[]
  /** What else is to be seen on the object. */
  readonly evidence?: (facts: Facts) => readonly string[]
}

const PODS: RelatedRead = { group: '', resource: 'pods' }
const CLAIMS: RelatedRead = { group: '', resource: 'persistentvolumeclaims' }
const VOLUMES: RelatedRead = { group: '', resource: 'persistentvolumes' }
const ATTACHMENTS: RelatedRead = { group: 'storage.k8s.io', resource: 'volumeattachments' }
const ADDRESSES: RelatedRead = { group: 'networking.k8s.io', resource: 'ipaddresses' }

const KNOWN: Readonly<Record<string, KnownFinalizer>> = {
  foregroundDeletion: {
    remover: 'the garbage collector of kube-controller-manager',
    inManager: true,
    release:
      'the last dependent that has blockOwnerDeletion goes, or its owner reference or that field is taken away',
  },
  orphan: {
    remover: 'the garbage collector of kube-controller-manager',
    inManager: true,
    release:
      'the garbage collector takes the owner reference out of every dependent; they stay, the object goes',
  },
  'kubernetes.io/pvc-protection': {
    remover: 'the pvc-protection controller of kube-controller-manager',
    inManager: true,
    release: 'the pods that use the claim and have a node are deleted',
    reads: [PODS],
    keepers: podsOfClaim,
  },
  'kubernetes.io/pv-protection': {
    remover: 'the pv-protection controller of kube-controller-manager',
    inManager: true,
    release: 'the claim that the volume is bound to is deleted',
    reads: [CLAIMS],
    keepers: claimOfVolume,
    evidence: ({ object }) => [`the volume is ${(object as PersistentVolume).status?.phase}`],
  },
  'kubernetes.io/vac-protection': {
    remover: 'the vac-protection controller of kube-controller-manager',
    inManager: true,
    release: 'no claim and no volume names the class any more',
    reads: [CLAIMS, VOLUMES],
    keepers: usersOfClass,
  },
  'kubernetes.io/pv-controller': {
    remover:
      'the persistentvolume-binder of kube-controller-manager, when it has deleted the storage',
    inManager: true,
    release: 'the storage behind the volume is deleted',
    evidence: volumeState,
  },
  'external-provisioner.volume.kubernetes.io/finalizer': {
    remover:
      'the external-provisioner beside the CSI driver, when the driver has deleted the storage',
    inManager: false,
    release: 'the CSI driver deletes the volume, which it does not while the volume is attached',
    reads: [ATTACHMENTS],
    keepers: attachmentsOfVolume,
    evidence: volumeState,
  },
  'provisioner.storage.kubernetes.io/cloning-protection': {
    remover: 'the external-provisioner beside the CSI driver',
    inManager: false,
    release: 'the claims that are being cloned from it are bound',
  },
  'scheduling.k8s.io/podgroup-protection': {
    remover: 'the podgroup-protection controller of kube-controller-manager',
    inManager: true,
    release: 'all pods of the group have finished or are deleted',
    reads: [PODS],
    keepers: podsOfGroup,
  },
  'batch.kubernetes.io/job-tracking': {
    remover: 'the job controller of kube-controller-manager, when it has counted how the pod ended',
    inManager: true,
    release: 'the pod has ended and its Job counts it in its status, or the Job is gone',
    keepers: ({ owners }) =>
      owners.flatMap(({ reference, owner }) =>
        reference.controller &&
        owner.state === 'there' &&
        owner.found.object.metadata?.deletionTimestamp
          ? [owner.found]
          : [],
      ),
    evidence: ({ object }) => [`the pod is ${(object as Pod).status?.phase ?? 'without a phase'}`],
  },
  'networking.k8s.io/service-cidr-finalizer': {
    remover: 'the service-cidr controller of kube-controller-manager',
    inManager: true,
    release:
      'no Service has an address that only this range provides (or another ServiceCIDR covers it), and ten seconds have passed',
    reads: [ADDRESSES],
    keepers: addressesInRange,
    evidence: conditionMessages,
  },
  'service.kubernetes.io/load-balancer-cleanup': {
    remover: 'the service controller of the cloud-controller-manager',
    inManager: false,
    release:
      "the cloud's load balancer is deleted; without a cloud-controller-manager nobody does it",
    evidence: ({ object }) => {
      const { spec, status } = object as LoadBalanced
      const count = status?.loadBalancer?.ingress?.length ?? 0
      return [
        `type ${spec?.type ?? 'ClusterIP'}, ${count === 0 ? 'no address of a load balancer' : `${count} addresses of a load balancer`}`,
      ]
    },
  },
  'resource.kubernetes.io/delete-protection': {
    remover: 'the resourceclaim controller of kube-controller-manager',
    inManager: true,
    release: 'no pod has the claim reserved, and its allocation is taken back',
    reads: [PODS],
    keepers: podsOfResourceClaim,
  },
  'customresourcecleanup.apiextensions.k8s.io': {
    remover: 'kube-apiserver, when it has deleted all objects of the kind',
    inManager: false,
    release: 'the last object of the kind goes',
    keepers: ({ contents }) => contents.found,
    evidence: conditionMessages,
  },
}

const SNAPSHOTS: KnownFinalizer = {
  remover: 'the snapshot controller, or the external-snapshotter beside the CSI driver',
  inManager: false,
  release: 'the snapshot is no longer bound or used as a source, and the driver has deleted it',
}

/** Undefined: nobody here knows it. */
export function knownFinalizer(name: string): KnownFinalizer | undefined {
  if (Object.hasOwn(KNOWN, name)) return KNOWN[name]
  if (name.startsWith('snapshot.storage.kubernetes.io/')) return SNAPSHOTS
  const [, driver] = /^external-attacher\/(.+)$/.exec(name) ?? []
  return driver === undefined ? undefined : attacher(driver)
}

/** Names, for the table of tests. */
export const knownFinalizerNames: readonly string[] = Object.keys(KNOWN)

/** On VolumeAttachments, and on the volumes that have some. */
function attacher(driver: string): KnownFinalizer {
  return {
    remover: `the external-attacher beside the CSI driver (${driver})`,
    inManager: false,
    release: 'the driver detaches the volume from its node',
    reads: [ATTACHMENTS],
    keepers: attachmentsOfVolume,
    evidence: ({ object }) => {
      const { spec, status } = object as KubernetesObject as VolumeAttachment
      if (spec?.nodeName === undefined) return []
      const error = status?.detachError?.message
      return [
        `${status?.attached ? 'attached' : 'not attached'} to node ${spec.nodeName}`,
        ...(error === undefined ? [] : [`last detach failed: ${error}`]),
      ]
    },
  }
}

interface LoadBalanced {
  readonly spec?: { readonly type?: string }
  readonly status?: { readonly loadBalancer?: { readonly ingress?: readonly unknown[] } }
}

const isOf =
  (resource: string) =>
  ({ type }: Found) =>
    type.resource === resource

function podsOfClaim({ object, related }: Facts): readonly Found[] {
  const { name, uid } = object.metadata ?? {}
  return related.found.filter(isOf('pods')).filter((found) => {
    const { metadata, spec } = found.object as Pod
    if (!spec?.nodeName) return false
    return (spec.volumes ?? []).some((volume) => {
      if (volume.persistentVolumeClaim?.claimName === name) return true
      // An ephemeral volume's claim is the pod's own; one that only has the name is not used by it.
      if (volume.ephemeral === undefined || `${metadata?.name}-${volume.name}` !== name)
        return false
      const isOwner = object.metadata?.ownerReferences?.some((owner) => owner.uid === metadata?.uid)
      return uid !== undefined && (isOwner ?? false)
    })
  })
}

function claimOfVolume({ object, related }: Facts): readonly Found[] {
  const { spec, status } = object as PersistentVolume
  if (status?.phase !== 'Bound') return []
  return related.found.filter(({ object: { metadata } }) => {
    const { uid, name, namespace } = spec?.claimRef ?? {}
    return uid === undefined
      ? metadata?.name === name && metadata?.namespace === namespace
      : metadata?.uid === uid
  })
}

function usersOfClass({ object, related }: Facts): readonly Found[] {
  const name = object.metadata?.name
  return related.found.filter((found) => {
    const { spec, status } = found.object as PersistentVolumeClaim
    return [
      spec?.volumeAttributesClassName,
      status?.currentVolumeAttributesClassName,
      status?.modifyVolumeStatus?.targetVolumeAttributesClassName,
    ].includes(name)
  })
}

function attachmentsOfVolume({ object, related }: Facts): readonly Found[] {
  return related.found.filter(isOf('volumeattachments')).filter((found) => {
    const attachment = found.object as KubernetesObject as VolumeAttachment
    return attachment.spec?.source.persistentVolumeName === object.metadata?.name
  })
}

/** Whether another range covers them is for the controller to say: its condition stands beside this. */
function addressesInRange({ object, related }: Facts): readonly Found[] {
  const ranges = ((object as ServiceCIDR).spec?.cidrs ?? []).map((text) => parseCidr(text))
  return related.found.filter(({ object: { metadata } }) => {
    const address = parseIp(metadata?.name ?? '')
    return address !== undefined && ranges.some((range) => range && cidrContains(range, address))
  })
}

function podsOfGroup({ object, related }: Facts): readonly Found[] {
  return related.found.filter((found) => {
    const { spec, status } = found.object as Pod
    const isDone = status?.phase === 'Succeeded' || status?.phase === 'Failed'
    return spec?.schedulingGroup?.podGroupName === object.metadata?.name && !isDone
  })
}

function podsOfResourceClaim({ object, related }: Facts): readonly Found[] {
  const uids = ((object as KubernetesObject as ResourceClaim).status?.reservedFor ?? []).map(
    ({ uid }) => uid,
  )
  return related.found.filter((found) => uids.includes(found.object.metadata?.uid ?? ''))
}

function volumeState({ object }: Facts): readonly string[] {
  const { status } = object as PersistentVolume
  const message = status?.message ? `: ${status.message}` : ''
  return [`the volume is ${status?.phase ?? 'without a phase'}${message}`]
}

/** Ready=False of a range and Terminating of a definition say in words what is left. */
function conditionMessages({ object }: Facts): readonly string[] {
  return conditionsOf(object)
    .filter(({ type, status }) => (type === 'Terminating' ? status === 'True' : status !== 'True'))
    .flatMap(({ type, message }) => (message ? [`condition ${type}: ${message}`] : []))
}

interface ConditionLike {
  readonly type: string
  readonly status: string
  readonly reason?: string
  readonly message?: string
  readonly lastTransitionTime?: string
}

/** Of any kind that has them. */
export function conditionsOf(object: UnstructuredObject): readonly ConditionLike[] {
  const status = object['status'] as { conditions?: readonly ConditionLike[] } | undefined
  return status?.conditions ?? []
}

/** `used by 2 pods`: of keepers. */
export function keptBy(keepers: readonly Found[]): readonly string[] {
  return keepers.length === 0 ? [] : [`kept by ${counted(keepers)}`]
}
