/** Which kinds the decoders of kube-apiserver know, served or not. Contract: docs/behaviour/api-server/requests.md, "Decoding". */
import { schemaOf } from '@gyropilot/api/schema'
import type { ResourceRegistry } from '../../registry/resource-registry.ts'

/** Kinds in versions that are not served by default: most were once. */
const NOT_SERVED: Readonly<Record<string, string>> = {
  // Never served by themselves: forms of lists, of queries, and of what only the server stores.
  v1: 'List NodeProxyOptions PodAttachOptions PodExecOptions PodLogOptions PodPortForwardOptions PodProxyOptions RangeAllocation SerializedReference ServiceProxyOptions',
  'admissionregistration.k8s.io/v1alpha1':
    'MutatingAdmissionPolicy MutatingAdmissionPolicyBinding ValidatingAdmissionPolicy ValidatingAdmissionPolicyBinding',
  'admissionregistration.k8s.io/v1beta1':
    'MutatingAdmissionPolicy MutatingAdmissionPolicyBinding MutatingWebhookConfiguration ValidatingAdmissionPolicy ValidatingAdmissionPolicyBinding ValidatingWebhookConfiguration',
  'apiextensions.k8s.io/v1beta1': 'CustomResourceDefinition',
  'apiregistration.k8s.io/v1beta1': 'APIService',
  'apps/v1beta1': 'ControllerRevision Deployment StatefulSet',
  'apps/v1beta2': 'ControllerRevision DaemonSet Deployment ReplicaSet StatefulSet',
  'authentication.k8s.io/v1alpha1': 'SelfSubjectReview',
  'authentication.k8s.io/v1beta1': 'SelfSubjectReview TokenReview',
  'authorization.k8s.io/v1beta1':
    'LocalSubjectAccessReview SelfSubjectAccessReview SelfSubjectRulesReview SubjectAccessReview',
  'batch/v1beta1': 'CronJob',
  'certificates.k8s.io/v1alpha1': 'ClusterTrustBundle',
  'certificates.k8s.io/v1beta1': 'CertificateSigningRequest',
  'coordination.k8s.io/v1alpha2': 'LeaseCandidate',
  'coordination.k8s.io/v1beta1': 'Lease',
  'discovery.k8s.io/v1beta1': 'EndpointSlice',
  'events.k8s.io/v1beta1': 'Event',
  'extensions/v1beta1': 'DaemonSet Deployment Ingress NetworkPolicy ReplicaSet',
  'flowcontrol.apiserver.k8s.io/v1beta1': 'FlowSchema PriorityLevelConfiguration',
  'flowcontrol.apiserver.k8s.io/v1beta2': 'FlowSchema PriorityLevelConfiguration',
  'flowcontrol.apiserver.k8s.io/v1beta3': 'FlowSchema PriorityLevelConfiguration',
  'networking.k8s.io/v1beta1': 'IPAddress Ingress IngressClass ServiceCIDR',
  'node.k8s.io/v1alpha1': 'RuntimeClass',
  'node.k8s.io/v1beta1': 'RuntimeClass',
  'policy/v1beta1': 'PodDisruptionBudget',
  'rbac.authorization.k8s.io/v1alpha1': 'ClusterRole ClusterRoleBinding Role RoleBinding',
  'rbac.authorization.k8s.io/v1beta1': 'ClusterRole ClusterRoleBinding Role RoleBinding',
  'resource.k8s.io/v1beta1': 'DeviceClass ResourceClaim ResourceClaimTemplate ResourceSlice',
  'resource.k8s.io/v1beta2': 'DeviceClass ResourceClaim ResourceClaimTemplate ResourceSlice',
  'resource.k8s.io/v1alpha3': 'DeviceTaintRule',
  'scheduling.k8s.io/v1beta1': 'PriorityClass',
  'storage.k8s.io/v1alpha1': 'CSIStorageCapacity VolumeAttachment VolumeAttributesClass',
  'storage.k8s.io/v1beta1':
    'CSIDriver CSINode CSIStorageCapacity StorageClass VolumeAttachment VolumeAttributesClass',
}

const KINDS_NOT_SERVED: ReadonlyMap<string, ReadonlySet<string>> = new Map(
  Object.entries(NOT_SERVED).map(([apiVersion, kinds]) => [apiVersion, new Set(kinds.split(' '))]),
)

const ALL_KINDS = 'pkg/api/legacyscheme/scheme.go:30'
/** Two groups have decoders of their own, which know what is theirs. */
const OWN_DECODERS: ReadonlyMap<string, string> = new Map([
  ['apiextensions.k8s.io', 'pkg/apiserver/apiserver.go:55'],
  ['apiregistration.k8s.io', 'pkg/apiserver/scheme/scheme.go:28'],
])
/** These belong to every decoder, whatever version of whatever group they are said to be of. */
const OF_ALL: ReadonlySet<string> = new Set([
  'APIGroup',
  'APIGroupList',
  'APIResourceList',
  'APIVersions',
  'Status',
])

/** What refusals call the decoder of a group. */
export function decoderOf(group: string): string {
  return OWN_DECODERS.get(group) ?? ALL_KINDS
}

/** A kind that is `v1` in all groups and versions. */
export function hasNoVersions(kind: string): boolean {
  return OF_ALL.has(kind)
}

/** Whether the decoder of the group `decoder` has heard of a kind. */
export function isKnownKind(
  registry: ResourceRegistry,
  decoder: string,
  kind: string,
  [group, version]: readonly [group: string, version: string],
): boolean {
  const isApart = OWN_DECODERS.has(group) || OWN_DECODERS.has(decoder)
  if (hasNoVersions(kind)) return true
  if (isApart && group !== decoder) return false
  return (
    schemaOf(group, version, kind) !== undefined ||
    registry.byKind(group, version, kind)?.custom === false ||
    isKnownUnserved(group, version, kind)
  )
}

/** In which versions of its group the kind has been served and is not by default, in no order. */
export function earlierVersions(group: string, kind: string): readonly string[] {
  return [...KINDS_NOT_SERVED]
    .filter(([apiVersion, kinds]) => apiVersion.startsWith(`${group}/`) && kinds.has(kind))
    .map(([apiVersion]) => apiVersion)
}

/** Whether it is a kind that has been served in this version, or a list of one. */
function isKnownUnserved(group: string, version: string, kind: string): boolean {
  const kinds = KINDS_NOT_SERVED.get(group === '' ? version : `${group}/${version}`)
  if (kinds === undefined) return false
  const listed = kind.endsWith('List') && !kind.endsWith('ReviewList') ? kind.slice(0, -4) : kind
  return kinds.has(kind) || kinds.has(listed)
}
