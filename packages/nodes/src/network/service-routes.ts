/**
 * Which endpoints stand behind a Service, as kube-proxy and the cluster's DNS choose them.
 * Contract: docs/behaviour/simulation/kubelet.md, Network. Pure.
 */
import type { EndpointSlice, Service } from '@gyropilot/api'
import type { Protocol } from '../shell/network.ts'
import { compareStrings } from '@gyropilot/foundation'

type Endpoint = NonNullable<EndpointSlice['endpoints']>[number]
export type ServicePort = NonNullable<NonNullable<Service['spec']>['ports']>[number]

export interface Destination {
  readonly address: string
  readonly port: number
  /** The pod that has it, as far as the slice says so. */
  readonly pod?: { readonly namespace: string; readonly name: string }
}

type Route =
  | { readonly kind: 'to'; readonly destinations: readonly Destination[] }
  /** There is nobody: connections are turned away. */
  | { readonly kind: 'refused' }
  /** Nobody on this node, where the policy allows no other; or the Service has no such port: packets get lost. */
  | { readonly kind: 'lost' }

/** Labels by which kube-proxy leaves a Service or an EndpointSlice alone, whatever their values. */
const NOT_PROXIED_LABELS = [
  'service.kubernetes.io/service-proxy-name',
  'service.kubernetes.io/headless',
]

export function isProxiedByOthers({ metadata }: Service | EndpointSlice): boolean {
  return NOT_PROXIED_LABELS.some((name) => metadata?.labels?.[name] !== undefined)
}

/** Where a connection to that port of the Service may go, ordered by address. */
export function routeOf(
  service: Service,
  port: ServicePort | undefined,
  slices: readonly EndpointSlice[],
  nodeName: string,
  zone?: string,
): Route {
  if (port === undefined) return { kind: 'lost' }
  const all = endpointsOf(port, slices)
  const serving = servingOnes(all)
  if (serving.length === 0) return { kind: 'refused' }
  // What others have is no reason to leave those here alone: they are judged by themselves.
  const isLocal = service.spec?.internalTrafficPolicy === 'Local'
  const near = isLocal
    ? servingOnes(all.filter(({ endpoint }) => endpoint.nodeName === nodeName))
    : hinted(serving, nodeName, zone)
  if (near.length === 0) return { kind: 'lost' }
  const destinations = near.map(({ endpoint, target }) => destinationOf(endpoint, target))
  return { kind: 'to', destinations: destinations.toSorted(byAddress) }
}

/** As it is at the ports of a node: for whoever asks from outside another policy counts, for the node itself none. */
export function seenAtNode(service: Service, isOwnNode: boolean): Service {
  const { spec } = service
  const internalTrafficPolicy = isOwnNode ? 'Cluster' : spec?.externalTrafficPolicy
  return { ...service, spec: { ...spec, internalTrafficPolicy } as Service['spec'] & object }
}

/** How many ready endpoints are on the node. */
export function localEndpointCount(slices: readonly EndpointSlice[], nodeName: string): number {
  return slices
    .filter((slice) => !isProxiedByOthers(slice))
    .flatMap(({ endpoints = [] }) => endpoints)
    .filter((endpoint) => isReady(endpoint) && endpoint.nodeName === nodeName).length
}

/** The port of the Service that has that number, or that node port. */
export function portOf(
  { spec }: Service,
  kind: 'port' | 'nodePort',
  number: number,
  wanted: Protocol,
): ServicePort | undefined {
  return spec?.ports?.find(
    ({ protocol = 'TCP', ...each }) => each[kind] === number && protocol === wanted,
  )
}

/** Those that lead to it from outside of the cluster. */
export function outerAddresses({ spec, status }: Service): readonly string[] {
  const balancers = (status?.loadBalancer?.ingress ?? []).map(({ ip = '' }) => ip)
  return [...(spec?.externalIPs ?? []), ...balancers]
}

/** The addresses that a headless Service stands for: of the ready ones, or of the one that is called so. */
export function headlessAddresses(
  service: Service,
  slices: readonly EndpointSlice[],
  host: string | undefined,
): readonly string[] {
  const isPublished = (endpoint: Endpoint): boolean =>
    isReady(endpoint) || service.spec?.publishNotReadyAddresses === true
  const addresses = slices
    .flatMap(({ endpoints = [] }) => endpoints)
    .filter(isPublished)
    .filter(
      (endpoint) =>
        host === undefined ||
        endpoint.hostname === host ||
        endpoint.addresses.some((address) => address.replaceAll(/[.:]/g, '-') === host),
    )
    .flatMap(({ addresses }) => addresses)
  return [...new Set(addresses)].toSorted(compareStrings)
}

interface Backend {
  readonly endpoint: Endpoint
  /** The number of the port there. */
  readonly target: number
}

/** Of the slices that have that port. */
function endpointsOf(port: ServicePort, slices: readonly EndpointSlice[]): readonly Backend[] {
  return slices
    .filter((slice) => !isProxiedByOthers(slice))
    .flatMap(({ ports, endpoints }) => {
      const target = ports?.find(({ name = '' }) => name === (port.name ?? ''))?.port
      return target === undefined ? [] : (endpoints ?? []).map((endpoint) => ({ endpoint, target }))
    })
}

/** Those that are ready; where none is, those that serve while they end. */
function servingOnes(all: readonly Backend[]): readonly Backend[] {
  const ready = all.filter(({ endpoint }) => isReady(endpoint))
  if (ready.length > 0) return ready
  return all.filter(
    ({ endpoint: { conditions } }) =>
      conditions?.serving === true && conditions.terminating === true,
  )
}

/** Whether the zone of a node matters to its way to these. */
export function haveZoneHints(slices: readonly EndpointSlice[]): boolean {
  // A slice of nobody has null.
  return slices.some(({ endpoints }) =>
    (endpoints ?? []).some(({ hints }) => (hints?.forZones ?? []).length > 0),
  )
}

/** Those that hints lead this node to, or else its zone. They count when each endpoint has some, and some are for here. */
function hinted(
  all: readonly Backend[],
  nodeName: string,
  zone: string | undefined,
): readonly Backend[] {
  const near = (kind: 'forNodes' | 'forZones', here: string | undefined): readonly Backend[] => {
    const hintsOf = ({ endpoint: { hints } }: Backend) => hints?.[kind] ?? []
    if (all.some((each) => hintsOf(each).length === 0)) return []
    return all.filter((each) => hintsOf(each).some(({ name }) => name === here))
  }
  const onNode = near('forNodes', nodeName)
  const inZone = onNode.length > 0 ? onNode : near('forZones', zone)
  return inZone.length > 0 ? inZone : all
}

/** Unknown counts as ready. */
export function isReady({ conditions }: Endpoint): boolean {
  return conditions?.ready !== false
}

function destinationOf({ addresses, targetRef }: Endpoint, port: number): Destination {
  const [address = ''] = addresses
  if (targetRef?.kind !== 'Pod' || !targetRef.name) return { address, port }
  return { address, port, pod: { namespace: targetRef.namespace ?? '', name: targetRef.name } }
}

function byAddress(left: Destination, right: Destination): number {
  return compareStrings(left.address, right.address) || left.port - right.port
}
