/** Whether a node takes a pod that was bound to it. Contract: docs/behaviour/simulation/kubelet.md, watch and admission. Pure. */
import {
  SAFE_SYSCTLS,
  addAmounts,
  amountOf,
  hostPortsConflict,
  hostPortsOf,
  isTaintTolerated,
  nodeAffinityMatches,
  podRequests,
} from '@gyropilot/api'
import type { HostPort, Node, Pod, ResourceAmounts } from '@gyropilot/api'

interface Refusal {
  readonly reason: string
  readonly message: string
}

/** What a pod that counts on the node already has of it. */
export interface ActivePod {
  readonly requests: ResourceAmounts
  readonly hostPorts: readonly HostPort[]
}

/** The first reason of all, in a kubelet's order. */
export function refusalOf(
  pod: Pod,
  node: Node | undefined,
  active: readonly ActivePod[],
): Refusal | undefined {
  const os = pod.spec?.os?.name
  if (os !== undefined && os !== (node?.metadata?.labels?.['kubernetes.io/os'] ?? 'linux')) {
    return {
      reason: 'PodOSNotSupported',
      message: "Failed to admit pod as the OS field doesn't match node OS",
    }
  }
  return (
    sysctlRefusal(pod) ??
    resourceRefusal(pod, node, active) ??
    affinityRefusal(pod, node) ??
    portRefusal(pod, active) ??
    taintRefusal(pod, node)
  )
}

/** Only those that are safe: the rest needs a kubelet that is told to allow it. */
function sysctlRefusal({ spec }: Pod): Refusal | undefined {
  const names = (spec?.securityContext?.sysctls ?? []).map(({ name }) => name)
  const forbidden = names.find((name) => !SAFE_SYSCTLS.has(name.replaceAll('/', '.')))
  if (forbidden === undefined) return undefined
  const message = `forbidden sysctl: ${JSON.stringify(forbidden)} not allowlisted`
  return { reason: 'SysctlForbidden', message }
}

function affinityRefusal({ spec }: Pod, node: Node | undefined): Refusal | undefined {
  return nodeAffinityMatches(spec, node ?? {})
    ? undefined
    : failed('NodeAffinity', "node(s) didn't match Pod's node affinity/selector")
}

function portRefusal(pod: Pod, active: readonly ActivePod[]): Refusal | undefined {
  const wanted = hostPortsOf(pod)
  return active.some(({ hostPorts }) => hostPortsConflict(wanted, hostPorts))
    ? failed('NodePorts', "node(s) didn't have free ports for the requested pod ports")
    : undefined
}

function taintRefusal({ spec }: Pod, node: Node | undefined): Refusal | undefined {
  const { taints = [] } = node?.spec ?? {}
  const untolerated = taints.some(
    (taint) => taint.effect === 'NoExecute' && !isTaintTolerated(spec?.tolerations, taint),
  )
  return untolerated
    ? failed('TaintToleration', "node(s) had taints that the pod didn't tolerate")
    : undefined
}

function failed(predicate: string, words: string): Refusal {
  return { reason: predicate, message: `Predicate ${predicate} failed: ${words}` }
}

/** Whether there is room beside what the others take. */
export function resourceRefusal(
  pod: Pod,
  node: Node | undefined,
  active: readonly ActivePod[],
): Refusal | undefined {
  const allocatable = node?.status?.allocatable
  if (allocatable === undefined) return undefined
  const used = new Map<string, number>()
  for (const { requests } of active) addAmounts(used, requests)
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
