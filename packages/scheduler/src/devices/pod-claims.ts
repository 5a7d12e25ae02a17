/** What the claims of a pod for devices mean for where it can go. Contract: docs/behaviour/simulation/scheduler.md, Devices. Pure. */
import {
  isClaimFor,
  isReservedFor,
  isTerminating,
  nodeSelectorMatches,
  podClaimName,
} from '@gyropilot/api'
import type { AllocationResult, DeviceClass, Node, Pod, ResourceClaim } from '@gyropilot/api'
import type { Lister } from '@gyropilot/runtime'

/** As the server limits `status.reservedFor`. */
const RESERVED_FOR_MAX = 256

export interface DeviceListers {
  readonly claims: Pick<Lister<ResourceClaim>, 'get'>
  readonly classes: Pick<Lister<DeviceClass>, 'get'>
}

export function usesDevices({ spec }: Pod): boolean {
  return (spec?.resourceClaims ?? []).length > 0
}

/** Its claims; or that one of them has yet to be made, or is on its way out, so that trying the pod is of no use. */
export function claimsOfPod(
  pod: Pod,
  { claims }: DeviceListers,
): readonly ResourceClaim[] | 'waiting' {
  const found: ResourceClaim[] = []
  for (const entry of pod.spec?.resourceClaims ?? []) {
    const resolved = podClaimName(pod, entry)
    if (resolved.state === 'unresolved') return 'waiting'
    if (resolved.state === 'not-needed') continue
    const claim = claims.get(pod.metadata?.namespace, resolved.name)
    if (claim === undefined || isTerminating(claim)) return 'waiting'
    if (resolved.isGenerated && !isClaimFor(claim, pod)) return 'waiting'
    // Two entries may name one claim.
    if (!found.includes(claim)) found.push(claim)
  }
  return found
}

/** Why no node at all can take the pod. */
export function deviceProblem(
  pod: Pod,
  claims: readonly ResourceClaim[],
  { classes }: DeviceListers,
): string | undefined {
  for (const claim of claims) {
    if (claim.status?.allocation !== undefined) {
      const users = claim.status.reservedFor?.length ?? 0
      if (users >= RESERVED_FOR_MAX && !isReservedFor(claim, pod)) return 'resourceclaim in use'
      continue
    }
    for (const { name, exactly, firstAvailable = [] } of claim.spec.devices?.requests ?? []) {
      const wanted = exactly === undefined ? firstAvailable : [exactly]
      for (const { deviceClassName } of wanted)
        if (classes.get(undefined, deviceClassName) === undefined)
          return `request ${name}: device class ${deviceClassName} does not exist`
    }
  }
  return undefined
}

export function isAvailableOn({ nodeSelector }: AllocationResult, node: Node): boolean {
  return nodeSelector === undefined || nodeSelectorMatches(nodeSelector, node)
}
