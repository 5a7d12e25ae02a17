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

type AddressesByFamily = Readonly<Record<IpFamily, readonly string[]>>

/** Pods in caches are shared and never edited, so their addresses stay what they were read as. */
const addresses = new WeakMap<Pod, AddressesByFamily>()

/** The pod's addresses of the family, canonical. */
export function podAddresses(pod: Pod, family: IpFamily): readonly string[] {
  let byFamily = addresses.get(pod)
  if (byFamily === undefined) addresses.set(pod, (byFamily = addressesByFamily(pod)))
  return byFamily[family]
}

function addressesByFamily(pod: Pod): AddressesByFamily {
  const byFamily: Record<IpFamily, string[]> = { IPv4: [], IPv6: [] }
  for (const ip of podIps(pod)) {
    const address = parseIpAddress(ip)
    if (address !== undefined) byFamily[address.family].push(address.text)
  }
  return byFamily
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
