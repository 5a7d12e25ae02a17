/** Smallest valid objects of the device taint eviction controller's tests; devices are of `d.example/pool` unless told otherwise. */
import type {
  DeviceTaint,
  DeviceTaintRule,
  DeviceTaintRuleSpec,
  DeviceToleration,
  Pod,
  ResourceClaim,
  ResourceSlice,
} from '@gyropilot/api'

/** When `testClock` begins. */
export const START = '2026-01-01T00:00:00Z'

export function taint(key: string, options: Partial<DeviceTaint> = {}): DeviceTaint {
  return { key, effect: 'NoExecute', timeAdded: START, ...options }
}

export function tolerating(key: string, tolerationSeconds?: number): DeviceToleration {
  const toleration = { key, operator: 'Exists', effect: 'NoExecute' } as const
  return tolerationSeconds === undefined ? toleration : { ...toleration, tolerationSeconds }
}

interface SliceOptions {
  readonly pool?: string
  readonly generation?: number
}

export function slice(
  name: string,
  devices: Readonly<Record<string, readonly DeviceTaint[]>>,
  { pool = 'pool', generation = 1 }: SliceOptions = {},
): ResourceSlice {
  return {
    apiVersion: 'resource.k8s.io/v1',
    kind: 'ResourceSlice',
    metadata: { name },
    spec: {
      driver: 'd.example',
      pool: { name: pool, generation, resourceSliceCount: 1 },
      allNodes: true,
      devices: Object.entries(devices).map(([device, taints]) => ({ name: device, taints })),
    },
  }
}

interface ClaimOptions {
  readonly namespace?: string
  readonly uid?: string
  readonly owner?: Pod
  /** None: not allocated. */
  readonly devices?: readonly string[]
  readonly tolerations?: readonly DeviceToleration[]
  readonly users?: readonly Pod[]
}

export function claim(name: string, options: ClaimOptions = {}): ResourceClaim {
  const { namespace = 'ns', owner, devices = ['gpu-0'], tolerations, users = [] } = options
  const ownerReferences = owner && [
    {
      apiVersion: 'v1',
      kind: 'Pod',
      name: owner.metadata?.name ?? '',
      uid: owner.metadata?.uid ?? '',
      controller: true,
    },
  ]
  const results = devices.map((device) => ({
    request: 'r',
    driver: 'd.example',
    pool: 'pool',
    device,
    ...(tolerations && { tolerations }),
  }))
  return {
    apiVersion: 'resource.k8s.io/v1',
    kind: 'ResourceClaim',
    metadata: {
      name,
      namespace,
      uid: options.uid ?? `${name}-uid`,
      ...(ownerReferences && { ownerReferences }),
    },
    spec: {},
    status: {
      ...(devices.length > 0 && { allocation: { devices: { results } } }),
      reservedFor: users.map(({ metadata }) => ({
        resource: 'pods',
        name: metadata?.name ?? '',
        uid: metadata?.uid ?? '',
      })),
    },
  }
}

interface PodOptions {
  readonly namespace?: string
  readonly uid?: string
  /** Empty: none. */
  readonly node?: string
  /** Claims that it names. */
  readonly claims?: readonly string[]
  /** The claim that was made for it, from a template; null: not recorded yet. */
  readonly generated?: string | null
  readonly deleting?: boolean
}

export function pod(name: string, options: PodOptions = {}): Pod {
  const { namespace = 'ns', node = 'n', claims = ['c'], generated, deleting } = options
  const resourceClaims =
    generated === undefined
      ? claims.map((claimName) => ({ name: claimName, resourceClaimName: claimName }))
      : [{ name: 'gpu', resourceClaimTemplateName: 'tpl' }]
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name,
      namespace,
      uid: options.uid ?? `${name}-uid`,
      generation: 2,
      ...(deleting && { deletionTimestamp: START }),
    },
    spec: { containers: [], ...(node && { nodeName: node }), resourceClaims },
    status: {
      ...(generated && { resourceClaimStatuses: [{ name: 'gpu', resourceClaimName: generated }] }),
    },
  }
}

export function rule(
  name: string,
  deviceSelector: DeviceTaintRuleSpec['deviceSelector'],
  options: Partial<DeviceTaintRuleSpec['taint']> & { readonly generation?: number } = {},
): DeviceTaintRule {
  const { generation = 1, ...taintOptions } = options
  return {
    apiVersion: 'resource.k8s.io/v1beta2',
    kind: 'DeviceTaintRule',
    metadata: { name, uid: `${name}-uid`, generation },
    spec: {
      ...(deviceSelector && { deviceSelector }),
      taint: { key: 'bad', effect: 'NoExecute', timeAdded: START, ...taintOptions },
    },
  }
}
