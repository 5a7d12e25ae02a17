/**
 * Subsets of Endpoints in canonical form: addresses with the same ports stand together, and every
 * port stands once.
 * Contract: docs/behaviour/controllers/endpoints-controller.md, Sync 9.
 */
import type { EndpointAddress, EndpointPort, EndpointSubset } from '@gyropilot/api'
import { byString, compareStrings } from '@gyropilot/foundation'
import { inSubsetOrder } from './port-order.ts'

/** An address under one port. */
interface Listed {
  readonly address: EndpointAddress
  readonly ready: boolean
}

/** By the identity of the address. */
type Addresses = ReadonlyMap<string, Listed>

interface PortGroup {
  /** Undefined: of addresses without ports. */
  readonly port: EndpointPort | undefined
  readonly addresses: Map<string, Listed>
}

interface Repacking {
  /** Equal ports of two subsets are one port, also with an `appProtocol`. */
  readonly joinsAppProtocols?: boolean
}

/**
 * An address is known by its IP and the uid of what it refers to; of two that differ otherwise the
 * first counts. One that is both ready and not ready for a port is not ready. Subsets without
 * addresses vanish.
 */
export function repackSubsets(
  subsets: Iterable<EndpointSubset> | null | undefined,
  { joinsAppProtocols = true }: Repacking = {},
): readonly EndpointSubset[] {
  const byPort = groupByPort(subsets ?? [], joinsAppProtocols)
  // The key of hundreds of addresses is a long text, and one port has nothing to be packed with.
  const [only, ...others] = byPort.values()
  if (only !== undefined && others.length === 0)
    return [subsetOf(only.port === undefined ? [] : [only.port], only.addresses)]
  const packed = new Map<
    string,
    { readonly ports: EndpointPort[]; readonly addresses: Addresses }
  >()
  for (const portKey of [...byPort.keys()].toSorted(compareStrings)) {
    const { port, addresses } = byPort.get(portKey)!
    const key = addressesKey(addresses)
    let group = packed.get(key)
    if (group === undefined) packed.set(key, (group = { ports: [], addresses }))
    if (port !== undefined) group.ports.push(port)
  }
  return [...packed.values()].map(({ ports, addresses }) => subsetOf(ports, addresses))
}

function groupByPort(
  subsets: Iterable<EndpointSubset>,
  joinsAppProtocols: boolean,
): ReadonlyMap<string, PortGroup> {
  const byPort = new Map<string, PortGroup>()
  const known = new Map<string, EndpointAddress>()
  const add = (portKey: string, port: EndpointPort | undefined, listed: Listed): void => {
    let group = byPort.get(portKey)
    if (group === undefined) byPort.set(portKey, (group = { port, addresses: new Map() }))
    const identity = identityOf(listed.address)
    const address = known.get(identity) ?? listed.address
    known.set(identity, address)
    const ready = listed.ready && group.addresses.get(identity)?.ready !== false
    group.addresses.set(identity, { address, ready })
  }
  let index = 0
  for (const { addresses = [], notReadyAddresses = [], ports = [] } of subsets) {
    for (const port of ports.length === 0 ? [undefined] : ports) {
      const isApart = !joinsAppProtocols && port?.appProtocol !== undefined
      const portKey = port === undefined ? '' : `${keyOfPort(port)}${isApart ? index : ''}`
      for (const address of addresses) add(portKey, port, { address, ready: true })
      for (const address of notReadyAddresses) add(portKey, port, { address, ready: false })
    }
    index++
  }
  return byPort
}

/** No IP and no uid contains a space. */
function identityOf({ ip, targetRef }: EndpointAddress): string {
  return `${ip} ${targetRef?.uid ?? ''}`
}

function keyOfPort({ name = '', protocol = 'TCP', port, appProtocol }: EndpointPort): string {
  return JSON.stringify([name, protocol, port, appProtocol ?? null])
}

function addressesKey(addresses: Addresses): string {
  return [...addresses]
    .map(([identity, { ready }]) => `${identity} ${ready}`)
    .toSorted(compareStrings)
    .join()
}

function subsetOf(ports: readonly EndpointPort[], listed: Addresses): EndpointSubset {
  // By IP, then by uid: a space sorts before whatever can follow in an IP.
  const sorted = [...listed].toSorted(byString(([identity]) => identity))
  const addresses = sorted.filter(([, { ready }]) => ready).map(([, { address }]) => address)
  const notReady = sorted.filter(([, { ready }]) => !ready).map(([, { address }]) => address)
  return {
    ...(addresses.length === 0 ? {} : { addresses }),
    ...(notReady.length === 0 ? {} : { notReadyAddresses: notReady }),
    ...(ports.length === 0 ? {} : { ports: [...inSubsetOrder(ports)] }),
  }
}
