import type { Pod } from '../generated/core-v1.ts'
import type {
  DeviceRequest,
  DeviceSubRequest,
  ExactDeviceRequest,
  ResourceClaim,
} from '../generated/resource-v1.ts'
import { controllerOf } from '../ownership/owner-references.ts'
import { EXTENDED_CLAIM_ANNOTATION } from '../pods/pod-resource-claims.ts'
import { podResources } from '../pods/pod-resources.ts'
import type { ResourceList } from '../pods/pod-resources.ts'
import { addQuantities } from '../values/quantity.ts'
import { excessOf } from './resource-lists.ts'
import {
  DEVICES_SUFFIX,
  DEVICE_CLASS_RESOURCE_PREFIX,
  REQUESTS_PREFIX,
  isExtendedRequest,
} from './resource-names.ts'
import type { UsageEvaluator, UsageFacts } from './usage-evaluator.ts'

const OBJECT_COUNT = 'count/resourceclaims.resource.k8s.io'
/** How many devices one request can get at most: what "all" is charged as. */
const MAX_DEVICES = 32n

/** `extendedResources` is gate DRAExtendedResource. */
export function resourceClaimEvaluator(extendedResources: boolean): UsageEvaluator {
  return {
    resource: { group: 'resource.k8s.io', resource: 'resourceclaims' },
    counts: (name) =>
      name === OBJECT_COUNT ||
      name.endsWith(DEVICES_SUFFIX) ||
      (extendedResources && isExtendedRequest(name)),
    usage: (object, facts) => claimUsage(object as ResourceClaim, facts, extendedResources),
    matchesScope: () => false,
    admits: ({ subresource }) => subresource === '',
  }
}

function claimUsage(
  claim: ResourceClaim,
  facts: UsageFacts,
  extendedResources: boolean,
): ResourceList {
  const usage: Record<string, string> = { [OBJECT_COUNT]: '1' }
  const extended: Record<string, string> = {}
  const add = (list: Record<string, string>, name: string, amount: bigint): void => {
    list[name] = addQuantities(list[name] ?? '0', String(amount))
  }
  for (const request of claim.spec?.devices?.requests ?? []) {
    for (const [deviceClass, amount] of devicesOf(request)) {
      add(usage, `${deviceClass}${DEVICES_SUFFIX}`, amount)
      if (!extendedResources) continue
      add(extended, `${REQUESTS_PREFIX}${DEVICE_CLASS_RESOURCE_PREFIX}${deviceClass}`, amount)
      const named = facts.extendedResourceOf?.(deviceClass)
      if (named) add(extended, `${REQUESTS_PREFIX}${named}`, amount)
    }
  }
  return { ...usage, ...excessOf(extended, chargedToPod(claim, facts)) }
}

/** By device class. A count is an int64, which the server reads exactly. Of alternatives one will be had: the dearest of each class counts. */
function devicesOf({ exactly, firstAvailable }: DeviceRequest): ReadonlyMap<string, bigint> {
  const dearest = new Map<string, bigint>()
  const alternatives = firstAvailable ?? (exactly === undefined ? [] : [exactly])
  for (const alternative of alternatives) {
    const deviceClass = alternative.deviceClassName ?? ''
    const amount = deviceCount(alternative)
    if (amount >= (dearest.get(deviceClass) ?? 0n)) dearest.set(deviceClass, amount)
  }
  return dearest
}

function deviceCount({
  allocationMode = 'ExactCount',
  count = 1,
}: ExactDeviceRequest | DeviceSubRequest): bigint {
  if (allocationMode === 'All') return MAX_DEVICES
  return allocationMode === 'ExactCount' ? BigInt(String(count)) : 0n
}

/** The scheduler makes a claim for a pod that asks for extended resources: the pod has been charged for them. */
function chargedToPod(claim: ResourceClaim, { pod: podOf }: UsageFacts): ResourceList {
  const { annotations, namespace = '' } = claim.metadata ?? {}
  if (annotations?.[EXTENDED_CLAIM_ANNOTATION] !== 'true') return {}
  const owner = controllerOf(claim)
  if (owner?.kind !== 'Pod' || owner.apiVersion !== 'v1') return {}
  const pod: Pod | undefined = podOf?.(namespace, owner.name)
  if (pod === undefined || pod.metadata?.uid !== owner.uid) return {}
  const requests = Object.entries(podResources(pod, 'requests', { withStatus: true }))
  return Object.fromEntries(requests.map(([name, value]) => [`${REQUESTS_PREFIX}${name}`, value]))
}
