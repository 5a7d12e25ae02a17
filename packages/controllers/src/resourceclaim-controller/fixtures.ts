/** Smallest valid objects of the claims controller's tests, all in namespace `ns`. */
import { EXTENDED_CLAIM_ANNOTATION } from '@gyropilot/api'
import type {
  ObjectMeta,
  Pod,
  PodResourceClaim,
  ResourceClaim,
  ResourceClaimConsumerReference,
  ResourceClaimStatus,
  ResourceClaimTemplate,
} from '@gyropilot/api'
import { FINALIZER, POD_CLAIM_ANNOTATION } from './config.ts'

export const ALLOCATION: NonNullable<ResourceClaimStatus['allocation']> = {
  devices: { results: [{ request: 'r', driver: 'd.example', pool: 'p', device: 'gpu-0' }] },
}

export interface PodOptions {
  readonly name?: string
  readonly uid?: string
  readonly node?: string
  readonly phase?: string
  readonly deleting?: boolean
  readonly entries?: readonly PodResourceClaim[]
  /** Entry → name of the claim; null: none is needed. */
  readonly recorded?: Readonly<Record<string, string | null>>
  readonly extendedClaim?: string
}

export const fromTemplate = (name: string, template = 'tpl'): PodResourceClaim => ({
  name,
  resourceClaimTemplateName: template,
})

/** With one entry, `gpu`, of the template `tpl`. */
export function pod(options: PodOptions = {}): Pod {
  const { name = 'p', node, phase = 'Pending', deleting, recorded, extendedClaim } = options
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      namespace: 'ns',
      name,
      uid: options.uid ?? `${name}-uid`,
      ...(deleting && { deletionTimestamp: '2026-01-01T00:00:00Z' }),
    },
    spec: {
      containers: [],
      ...(node && { nodeName: node }),
      resourceClaims: options.entries ?? [fromTemplate('gpu')],
    },
    status: {
      phase,
      ...(recorded && {
        resourceClaimStatuses: Object.entries(recorded).map(([entry, claimName]) =>
          claimName === null ? { name: entry } : { name: entry, resourceClaimName: claimName },
        ),
      }),
      ...(extendedClaim && {
        extendedResourceClaimStatus: { resourceClaimName: extendedClaim, requestMappings: [] },
      }),
    },
  } as Pod
}

interface ClaimOptions {
  /** The pod that it was made for. */
  readonly owner?: Pod
  readonly entry?: string
  readonly extended?: boolean
  readonly allocated?: boolean
  readonly reservedFor?: readonly ResourceClaimConsumerReference[]
  readonly finalizer?: boolean
  readonly adminAccess?: boolean
  readonly metadata?: Partial<ObjectMeta>
}

export function claim(name: string, options: ClaimOptions = {}): ResourceClaim {
  const { owner, entry = 'gpu', extended, allocated, reservedFor, finalizer } = options
  const annotations = {
    ...(owner && !extended && { [POD_CLAIM_ANNOTATION]: entry }),
    ...(extended && { [EXTENDED_CLAIM_ANNOTATION]: 'true' }),
  }
  return {
    apiVersion: 'resource.k8s.io/v1',
    kind: 'ResourceClaim',
    metadata: {
      namespace: 'ns',
      name,
      uid: `${name}-uid`,
      annotations,
      ...(owner && { ownerReferences: [ownerReference(owner)] }),
      ...(finalizer && { finalizers: ['example.com/other', FINALIZER] }),
      ...options.metadata,
    },
    spec: spec(options.adminAccess),
    status: { ...(allocated && { allocation: ALLOCATION }), ...(reservedFor && { reservedFor }) },
  }
}

export function template(
  requests: Partial<{ adminAccess: boolean; prioritized: boolean }> = {},
): ResourceClaimTemplate {
  const firstAvailable = [{ name: 'a', deviceClassName: 'c' }]
  return {
    apiVersion: 'resource.k8s.io/v1',
    kind: 'ResourceClaimTemplate',
    metadata: { namespace: 'ns', name: 'tpl' },
    spec: {
      metadata: { labels: { l: 'x' }, annotations: { a: 'y' } },
      spec: requests.prioritized
        ? { devices: { requests: [{ name: 'r', firstAvailable }] } }
        : spec(requests.adminAccess),
    },
  }
}

export function consumer(pod: Pod): ResourceClaimConsumerReference {
  const { name = '', uid = '' } = pod.metadata ?? {}
  return { resource: 'pods', name, uid }
}

function ownerReference({ metadata }: Pod) {
  const { name = '', uid = '' } = metadata ?? {}
  return { apiVersion: 'v1', kind: 'Pod', name, uid, controller: true }
}

function spec(adminAccess = false): ResourceClaim['spec'] {
  const exactly = { deviceClassName: 'c', ...(adminAccess && { adminAccess }) }
  return { devices: { requests: [{ name: 'r', exactly }] } }
}
