/** What kube-apiserver 1.36 warns of with every answer about a kind. Contract: docs/behaviour/api-server/requests.md, "Warnings". */
import type { ResourceInfo } from '../contracts.ts'

/** Minor releases: deprecated since, gone in. */
const VERSIONS: readonly (readonly [
  apiVersion: string,
  since: number,
  end: number,
  kinds: string,
])[] = [
  [
    'admissionregistration.k8s.io/v1alpha1',
    35,
    38,
    'MutatingAdmissionPolicy MutatingAdmissionPolicyBinding',
  ],
  ['certificates.k8s.io/v1alpha1', 34, 37, 'ClusterTrustBundle'],
  ['coordination.k8s.io/v1alpha2', 35, 38, 'LeaseCandidate'],
  ['coordination.k8s.io/v1beta1', 36, 39, 'LeaseCandidate'],
  ['networking.k8s.io/v1beta1', 34, 37, 'IPAddress ServiceCIDR'],
  ['resource.k8s.io/v1alpha3', 36, 39, 'DeviceTaintRule'],
  [
    'resource.k8s.io/v1beta1',
    35,
    38,
    'DeviceClass ResourceClaim ResourceClaimTemplate ResourceSlice',
  ],
  [
    'resource.k8s.io/v1beta2',
    36,
    39,
    'DeviceClass ResourceClaim ResourceClaimTemplate ResourceSlice',
  ],
  ['storage.k8s.io/v1beta1', 34, 37, 'VolumeAttributesClass'],
]

/** What takes the place of a kind, where kube-apiserver tells of it. */
const SUCCESSORS: Readonly<Record<string, string>> = {
  'storage.k8s.io/v1beta1 VolumeAttributesClass': 'storage.k8s.io/v1 VolumeAttributesClass',
}

const WARNINGS: ReadonlyMap<string, string> = new Map([
  ['v1 Endpoints', 'v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice'],
  ['v1 ComponentStatus', 'v1 ComponentStatus is deprecated in v1.19+'],
  ...VERSIONS.flatMap(([apiVersion, since, end, kinds]) =>
    kinds.split(' ').map((kind): readonly [string, string] => {
      const type = `${apiVersion} ${kind}`
      const successor = type in SUCCESSORS ? `; use ${SUCCESSORS[type]}` : ''
      return [type, `${type} is deprecated in v1.${since}+, unavailable in v1.${end}+${successor}`]
    }),
  ),
])

export function deprecationWarning({
  group,
  version,
  kind,
}: Pick<ResourceInfo, 'group' | 'version' | 'kind'>): string | undefined {
  return WARNINGS.get(`${group === '' ? version : `${group}/${version}`} ${kind}`)
}
