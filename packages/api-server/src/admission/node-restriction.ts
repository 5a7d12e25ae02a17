/**
 * What a kubelet may write beyond what the node authorizer lets through by name: its own Node, Lease, CSINode and pods. Not on by
 * default: clusters with real kubelets turn it on. Contract: docs/behaviour/api-server/subresources-and-admission.md.
 */
import { semanticEqual } from '@gyropilot/api'
import { errorText } from '@gyropilot/foundation'
import { parseSigningRequest } from '@gyropilot/foundation/x509'
import { nodeNameOf } from '../auth/identity.ts'
import type { AdmissionPlugin, AdmissionRequest } from '../contracts.ts'
import { notFound } from '../http/errors.ts'
import type { Stored } from '../registry/kind-rules.ts'
import { read, refusal } from './world.ts'
import type { AdmissionWorld } from './world.ts'

const MIRROR = 'kubernetes.io/config.mirror'
const OWN_LABELS = new Set([
  'kubernetes.io/hostname',
  'kubernetes.io/os',
  'kubernetes.io/arch',
  'beta.kubernetes.io/os',
  'beta.kubernetes.io/arch',
  'beta.kubernetes.io/instance-type',
  'node.kubernetes.io/instance-type',
  'topology.kubernetes.io/zone',
  'topology.kubernetes.io/region',
  'failure-domain.beta.kubernetes.io/zone',
  'failure-domain.beta.kubernetes.io/region',
])
const KUBELET_SIGNERS = new Set([
  'kubernetes.io/kube-apiserver-client-kubelet',
  'kubernetes.io/kubelet-serving',
])
const OWN_LABEL_DOMAINS = ['kubelet.kubernetes.io', 'node.kubernetes.io']

export function nodeRestriction(world: AdmissionWorld): AdmissionPlugin {
  return {
    name: 'NodeRestriction',
    handles: ({ user, operation }) => nodeNameOf(user) !== undefined && operation !== 'CONNECT',
    // Among those that change, though it changes nothing: what is not allowed is not validated.
    mutate(request) {
      const node = nodeNameOf(request.user)!
      if (node === '') {
        const who = JSON.stringify(request.user.name)
        throw refusal(request, `could not determine node from user ${who}`)
      }
      const why = reasonAgainst(world, request, node)
      if (why !== undefined) throw refusal(request, why)
    },
  }
}

function reasonAgainst(
  world: AdmissionWorld,
  request: AdmissionRequest,
  node: string,
): string | undefined {
  switch (`${request.resource.resource}.${request.resource.group}`) {
    case 'pods.':
      return podReason(world, request, node)
    case 'nodes.':
      return nodeReason(request, node)
    case 'leases.coordination.k8s.io':
      if (request.namespace !== 'kube-node-lease')
        return 'can only access leases in the "kube-node-lease" system namespace'
      return nameOf(request) === node
        ? undefined
        : 'can only access node lease with the same name as the requesting node'
    case 'csinodes.storage.k8s.io':
      return nameOf(request) === node
        ? undefined
        : 'can only access CSINode with the same name as the requesting node'
    case 'serviceaccounts.':
      return request.subresource === 'token' ? tokenReason(world, request, node) : undefined
    case 'certificatesigningrequests.certificates.k8s.io':
      return request.operation === 'CREATE' && request.subresource === ''
        ? certificateReason(request)
        : undefined
    case 'resourceslices.resource.k8s.io':
      return request.operation === 'CREATE' && request.object?.['spec']?.nodeName !== node
        ? 'can only create ResourceSlice with the same NodeName as the requesting node'
        : undefined
    default:
      return undefined
  }
}

/** Of the signers of kubelets' certificates only those in their own name. */
function certificateReason({ user, object }: AdmissionRequest): string | undefined {
  const { signerName, request } = object?.['spec'] ?? {}
  if (!KUBELET_SIGNERS.has(signerName)) return undefined
  try {
    const pem = Buffer.from(request ?? '', 'base64').toString('latin1')
    if (parseSigningRequest(pem).subject.commonName === user.name) return undefined
  } catch (error) {
    return `unable to parse csr: ${errorText(error)}`
  }
  return `can only create a node CSR with CN=${user.name}`
}

function podReason(
  world: AdmissionWorld,
  request: AdmissionRequest,
  node: string,
): string | undefined {
  const { operation, subresource, object, oldObject } = request
  const quoted = `node ${JSON.stringify(node)}`
  const only = (what: string): string =>
    `${quoted} can only ${what} with spec.nodeName set to itself`
  if (subresource === 'eviction') {
    const pod = podOf(world, request.namespace, request.name)
    return pod['spec'].nodeName === node
      ? undefined
      : `node ${node} can only evict pods with spec.nodeName set to itself`
  }
  if (subresource === 'status') {
    if (oldObject?.['spec'].nodeName !== node) return only('update pod status for pods')
    const isSame = semanticEqual(
      oldObject['metadata'].labels ?? {},
      object?.['metadata'].labels ?? {},
    )
    return isSame
      ? claimStatusReason(request, node)
      : `${quoted} cannot update labels through pod status`
  }
  if (subresource !== '')
    return `unexpected pod subresource ${JSON.stringify(subresource)}, only 'status' and 'eviction' are allowed`
  if (operation === 'DELETE')
    return oldObject?.['spec'].nodeName === node ? undefined : only('delete pods')
  if (operation !== 'CREATE')
    return `unexpected operation ${JSON.stringify(operation)}, node ${JSON.stringify(node)} can only create and delete mirror pods`
  if (object!['metadata'].annotations?.[MIRROR] === undefined) {
    return `pod does not have ${JSON.stringify(MIRROR)} annotation, node ${JSON.stringify(node)} can only create mirror pods`
  }
  if (object!['spec']?.nodeName !== node) return only('create pods')
  return ownerReason(world, object!, node) ?? referenceReason(object!, quoted)
}

/** Throws 404, in the singular. */
function podOf(world: AdmissionWorld, namespace: string, name: string): Stored {
  const pod = read(world, 'pods', `${namespace}/${name}`)
  if (pod === undefined) throw notFound({ group: '', resource: 'pod', kind: 'Pod' }, name)
  return pod
}

/** A token is for a pod of the node, and for who the pod wants it for. Throws 404. */
function tokenReason(
  world: AdmissionWorld,
  request: AdmissionRequest,
  node: string,
): string | undefined {
  const { boundObjectRef: bound, audiences } = request.object?.['spec'] ?? {}
  const isForPod = bound?.kind === 'Pod' && (bound.apiVersion ?? '') === 'v1'
  if (!isForPod || !bound.name) return 'node requested token not bound to a pod'
  if (!bound.uid) return 'node requested token with a pod binding without a uid'
  const pod = podOf(world, request.namespace, bound.name)
  if (pod['metadata'].uid !== bound.uid)
    return `the UID in the bound object reference (${bound.uid}) does not match the UID in record. The object might have been deleted and then recreated`
  if (pod['spec'].nodeName !== node)
    return 'node requested token bound to a pod scheduled on a different node'
  // Where none are named a null has been put by now.
  const [audience, ...others]: readonly string[] = audiences ?? []
  if (audience === undefined) return undefined
  if (others.length > 0) return 'node may only request 0 or 1 audiences'
  if (audiencesOf(world, pod).has(audience) || mayRequest(world, request, audience))
    return undefined
  return `audience ${JSON.stringify(audience)} not found in pod spec volume, ${request.user.name} is not authorized to request tokens for this audience`
}

function mayRequest(
  { authorizer }: AdmissionWorld,
  { user, namespace, name }: AdmissionRequest,
  audience: string,
): boolean {
  const verb = 'request-serviceaccounts-token-audience'
  const attributes = { user, verb, group: '', version: 'v1', resource: audience, subresource: '' }
  return authorizer.authorize({ ...attributes, namespace, name, path: '', isResourceRequest: true })
    .allowed
}

/** Whom tokens of the pod are for: in its projected volumes, and as drivers of its volumes want them. */
function audiencesOf(world: AdmissionWorld, { metadata, spec }: Stored): ReadonlySet<string> {
  const found = new Set<string>()
  for (const volume of (spec.volumes ?? []) as readonly Stored[]) {
    for (const source of (volume['projected']?.sources ?? []) as readonly Stored[]) {
      const token: Stored | undefined = source['serviceAccountToken']
      if (token !== undefined) found.add(token['audience'] ?? '')
    }
    const driver = driverOf(world, metadata, volume)
    const { tokenRequests = [] } = read(world, CSI_DRIVERS, driver ?? '')?.['spec'] ?? {}
    for (const { audience = '' } of tokenRequests as readonly Stored[]) found.add(audience)
  }
  return found
}

const CSI_DRIVERS = 'csidrivers.storage.k8s.io'

function driverOf(
  world: AdmissionWorld,
  { namespace, name }: Stored,
  volume: Stored,
): string | undefined {
  if (volume['csi'] !== undefined) return volume['csi'].driver
  const claim: string | undefined =
    volume['persistentVolumeClaim']?.claimName ??
    (volume['ephemeral'] === undefined ? undefined : `${name}-${volume['name']}`)
  if (claim === undefined) return undefined
  const bound = read(world, 'persistentvolumeclaims', `${namespace}/${claim}`)
  return read(world, 'persistentvolumes', bound?.['spec'].volumeName ?? '')?.['spec'].csi?.driver
}

/** Who allocates claims says so in the status, not the kubelet. */
function claimStatusReason(
  { object, oldObject }: AdmissionRequest,
  node: string,
): string | undefined {
  const isSame = (field: string): boolean =>
    semanticEqual(oldObject?.['status']?.[field], object?.['status']?.[field])
  const who = `node ${JSON.stringify(node)} cannot update`
  if (!isSame('resourceClaimStatuses')) return `${who} resource claim statues`
  return isSame('extendedResourceClaimStatus') ? undefined : `${who} extended resource claim status`
}

/** A mirror pod goes with its node. */
function ownerReason(
  world: AdmissionWorld,
  { metadata }: Stored,
  node: string,
): string | undefined {
  const [owner, ...others]: Stored[] = metadata.ownerReferences ?? []
  const only = `node ${JSON.stringify(node)} can only create pods with`
  const isNode =
    owner?.['apiVersion'] === 'v1' && owner['kind'] === 'Node' && owner['name'] === node
  if (others.length > 0) return `${only} a single owner reference set to itself`
  if (!isNode) return `${only} an owner reference set to itself`
  if (owner['controller'] !== true) return `${only} a controller owner reference set to itself`
  if (owner['blockOwnerDeletion'] === true)
    return `node ${JSON.stringify(node)} must not set blockOwnerDeletion on an owner reference`
  const uid: string | undefined = read(world, 'nodes', node)?.['metadata'].uid
  return owner['uid'] === uid
    ? undefined
    : `node ${node} UID mismatch: expected ${owner['uid']} got ${uid}`
}

/** What its pods refer to a kubelet may read: it must not make up such pods. */
function referenceReason({ spec }: Stored, who: string): string | undefined {
  const volumes: Stored[] = spec.volumes ?? []
  const sources: Stored[] = volumes.flatMap((volume) => volume['projected']?.sources ?? [])
  const containers: Stored[] = [...(spec.initContainers ?? []), ...(spec.containers ?? [])]
  const variables = containers.flatMap(({ env, envFrom }) => [
    ...(envFrom ?? []),
    ...(env ?? []).map((variable: Stored) => variable['valueFrom'] ?? {}),
  ])
  const readsMap =
    [...volumes, ...sources].some((volume) => volume['configMap'] !== undefined) ||
    variables.some(({ configMapRef, configMapKeyRef }) => configMapRef ?? configMapKeyRef)
  const referred: readonly (readonly [string, boolean])[] = [
    ['configmaps', readsMap],
    ['persistentvolumeclaims', volumes.some((volume) => volume['persistentVolumeClaim'])],
    [
      'persistentvolumeclaims (via ephemeral volumes)',
      volumes.some((volume) => volume['ephemeral']),
    ],
    ['resourceclaims', (spec.resourceClaims ?? []).length > 0],
  ]
  const found = referred.find(([, isReferred]) => isReferred)
  return found && `${who} can not create pods that reference ${found[0]}`
}

function nodeReason(request: AdmissionRequest, node: string): string | undefined {
  const { operation, object, oldObject } = request
  const name = nameOf(request)
  const who = `node ${JSON.stringify(node)} is not allowed to`
  if (name !== node) return `${who} modify node ${JSON.stringify(name)}`
  if (object === undefined) return undefined
  const forbidden = changedLabels(oldObject, object).filter((key) => !isOwnLabel(key))
  const source: unknown = object['spec']?.configSource ?? undefined
  if (operation === 'CREATE') {
    // So it says, of pods.
    if (source !== undefined) return `${who} create pods with a non-nil configSource`
    return forbidden.length === 0
      ? undefined
      : `${who} set the following labels: ${forbidden.join(', ')}`
  }
  if (operation !== 'UPDATE') return undefined
  const isSame = (field: 'taints' | 'ownerReferences', part: 'spec' | 'metadata'): boolean =>
    semanticEqual(oldObject?.[part]?.[field] ?? [], object[part]?.[field] ?? [])
  if (source !== undefined && !semanticEqual(source, oldObject?.['spec']?.configSource))
    return `${who} update configSource to a new non-nil configSource`
  if (!isSame('taints', 'spec')) return `${who} modify taints`
  // The node is not named in what is said of a change.
  if (forbidden.length > 0) return `is not allowed to modify labels: ${forbidden.join(', ')}`
  return isSame('ownerReferences', 'metadata') ? undefined : `${who} modify ownerReferences`
}

function changedLabels(before: Stored | undefined, after: Stored): string[] {
  const old: Record<string, string> = before?.['metadata'].labels ?? {}
  const now: Record<string, string> = after['metadata'].labels ?? {}
  const keys = new Set([...Object.keys(old), ...Object.keys(now)])
  return [...keys].filter((key) => old[key] !== now[key]).toSorted()
}

/** Outside the project's domains a kubelet may label itself as it likes. */
function isOwnLabel(key: string): boolean {
  const domain = key.includes('/') ? key.split('/')[0]! : ''
  const isIn = (parent: string): boolean => domain === parent || domain.endsWith(`.${parent}`)
  if (isIn('node-restriction.kubernetes.io')) return false
  if (!isIn('kubernetes.io') && !isIn('k8s.io')) return true
  return OWN_LABELS.has(key) || OWN_LABEL_DOMAINS.some(isIn)
}

function nameOf({ name, object }: AdmissionRequest): string {
  return name || object?.['metadata']?.name || ''
}
