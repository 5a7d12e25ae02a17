/** Whether a node takes a pod that was bound to it. Contract: docs/behaviour/simulation/kubelet.md, watch and admission. Pure. */
import type { Node, Pod } from '@gyropilot/api'
import { addAmounts, amountOf, podRequests } from '@gyropilot/api'
import type { ResourceAmounts } from '@gyropilot/api'

export interface Refusal {
  readonly reason: string
  readonly message: string
}

/** `active` are the requests of the pods that count on the node already. */
export function refusalOf(
  pod: Pod,
  node: Node | undefined,
  active: Iterable<ResourceAmounts>,
): Refusal | undefined {
  const labels = node?.metadata?.labels ?? {}
  const os = pod.spec?.os?.name
  if (os !== undefined && os !== (labels['kubernetes.io/os'] ?? 'linux')) {
    return {
      reason: 'PodOSNotSupported',
      message: "Failed to admit pod as the OS field doesn't match node OS",
    }
  }
  for (const [key, value] of Object.entries(pod.spec?.nodeSelector ?? {})) {
    if (labels[key] !== value) {
      const message =
        "Predicate NodeAffinity failed: node(s) didn't match Pod's node affinity/selector"
      return { reason: 'NodeAffinity', message }
    }
  }
  return resourceRefusal(pod, node, active)
}

function resourceRefusal(
  pod: Pod,
  node: Node | undefined,
  active: Iterable<ResourceAmounts>,
): Refusal | undefined {
  const allocatable = node?.status?.allocatable
  if (allocatable === undefined) return undefined
  const used = new Map<string, number>()
  for (const requests of active) addAmounts(used, requests)
  const { requestMappings = [] } = pod.status?.extendedResourceClaimStatus ?? {}
  const ofDevices = new Set(requestMappings.map(({ resourceName }) => resourceName))
  for (const [resource, requested] of podRequests(pod)) {
    const limit = allocatable[resource]
    if (limit === undefined || requested === 0 || ofDevices.has(resource)) continue
    const capacity = amountOf(resource, limit)
    const before = used.get(resource) ?? 0
    if (before + requested <= capacity) continue
    return {
      reason: `OutOf${resource}`,
      message: `Node didn't have enough resource: ${resource}, requested: ${requested}, used: ${before}, capacity: ${capacity}`,
    }
  }
  return undefined
}
