/**
 * What the subsets of Endpoints are as slices.
 * Contract: docs/behaviour/controllers/endpointslice-mirroring-controller.md, Sync 4 to 7.
 */
import type { Endpoint, EndpointAddress, EndpointSubset, Endpoints } from '@gyropilot/api'
import { EndpointSet } from '../endpoint-support/endpoint-set.ts'
import { parseIpAddress } from '../endpoint-support/ip-address.ts'
import type { IpFamily } from '../endpoint-support/ip-address.ts'
import { repackSubsets } from '../endpoint-support/repack-subsets.ts'
import { inSliceOrder } from '../endpoint-support/port-order.ts'
import { portsKey } from '../endpoint-support/slice-ports.ts'
import type { SlicePort } from '../endpoint-support/slice-ports.ts'

/** The endpoints of one slice: never more than one per family and list of ports. */
export interface DesiredMirror {
  readonly family: IpFamily
  readonly ports: readonly SlicePort[]
  readonly endpoints: EndpointSet
}

export interface DesiredMirrors {
  /** Both families of each subset, also those without endpoints. */
  readonly mirrors: readonly DesiredMirror[]
  /** Addresses that are none. */
  readonly invalid: number
  /** Addresses that were left out, invalid ones among them. */
  readonly skipped: number
}

export function desiredMirrors(
  { subsets }: Endpoints,
  maxEndpointsPerSubset: number,
): DesiredMirrors {
  const byPorts = new Map<string, DesiredMirror>()
  let [invalid, skipped] = [0, 0]
  // Upstream holds an application protocol by reference: equal ones of two subsets are not one port to it.
  for (const subset of repackSubsets(subsets, { joinsAppProtocols: false })) {
    const mirrored = mirrorsOf(subset, maxEndpointsPerSubset)
    for (const mirror of mirrored.mirrors) {
      const key = `${mirror.family} ${portsKey(mirror.ports)}`
      const same = byPorts.get(key)
      if (same === undefined) byPorts.set(key, mirror)
      else for (const endpoint of mirror.endpoints.list()) same.endpoints.add(endpoint)
    }
    invalid += mirrored.invalid
    skipped += mirrored.skipped
  }
  return { mirrors: [...byPorts.values()], invalid, skipped }
}

/** Ready addresses first: those that are not are the first to be left out. */
function mirrorsOf(subset: EndpointSubset, max: number): DesiredMirrors {
  const { addresses = [], notReadyAddresses = [] } = subset
  const ports = portsOf(subset)
  const byFamily = { IPv4: new EndpointSet(), IPv6: new EndpointSet() }
  let [mirrored, invalid] = [0, 0]
  const take = (list: readonly EndpointAddress[], ready: boolean): void => {
    for (const address of list) {
      if (mirrored >= max) return
      const ip = parseIpAddress(address.ip)
      if (ip === undefined) {
        invalid++
        continue
      }
      byFamily[ip.family].add(endpointOf(address, ip.text, ready))
      mirrored++
    }
  }
  take(addresses, true)
  take(notReadyAddresses, false)
  return {
    mirrors: (['IPv4', 'IPv6'] as const).map((family) => ({
      family,
      ports,
      endpoints: byFamily[family],
    })),
    invalid,
    skipped: addresses.length + notReadyAddresses.length - mirrored,
  }
}

function portsOf({ ports }: EndpointSubset): readonly SlicePort[] {
  const all = (ports ?? []).map(({ name = '', port, protocol = 'TCP', appProtocol }) => ({
    name,
    port,
    protocol,
    ...(appProtocol === undefined ? {} : { appProtocol }),
  }))
  return inSliceOrder(all)
}

/** The reference is copied as it is, its version included. */
function endpointOf(
  { hostname, nodeName, targetRef }: EndpointAddress,
  ip: string,
  ready: boolean,
): Endpoint {
  return {
    addresses: [ip],
    conditions: { ready },
    ...(targetRef === undefined ? {} : { targetRef }),
    ...(nodeName === undefined ? {} : { nodeName }),
    ...(hostname ? { hostname } : {}),
  }
}
