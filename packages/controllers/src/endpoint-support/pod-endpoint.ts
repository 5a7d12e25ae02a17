/**
 * What a pod has to say in an endpoint.
 * Contract: docs/behaviour/controllers/endpoints-controller.md, Sync 4 and 5.
 */
import { isPodFinished } from '@gyropilot/api'
import type { ObjectReference, Pod, Service } from '@gyropilot/api'
import { parseIpAddress } from './ip-address.ts'
import type { IpFamily } from './ip-address.ts'

/** A pod that ended, or has no address yet, is nobody's endpoint. */
export function hasEndpoint(pod: Pod): boolean {
  return !isPodFinished(pod) && podIps(pod).length > 0
}

function podIps({ status }: Pod): readonly string[] {
  const ips = (status?.podIPs ?? []).map(({ ip }) => ip)
  if (ips.length > 0) return ips
  return status?.podIP ? [status.podIP] : []
}

/**
 * The pod's addresses of the family, canonical. Read anew each time: a WeakMap with an entry for each pod of a large cluster makes every
 * full collection of garbage pause for a tenth of a second (docs/performance.md, On a large cluster).
 */
export function podAddresses(pod: Pod, family: IpFamily): readonly string[] {
  const found: string[] = []
  for (const ip of podIps(pod)) {
    const address = parseIpAddress(ip)
    if (address?.family === family) found.push(address.text)
  }
  return found
}

/** The name that DNS gives to the pod under its Service. */
export function endpointHostname(pod: Pod, service: Service): string | undefined {
  const { hostname, subdomain } = pod.spec ?? {}
  return hostname && subdomain === service.metadata?.name ? hostname : undefined
}

export function podReference({ metadata }: Pod): ObjectReference {
  return {
    kind: 'Pod',
    namespace: metadata?.namespace,
    name: metadata?.name,
    uid: metadata?.uid,
  }
}
