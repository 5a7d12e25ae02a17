/** What a Service of some type needs, and what an update moves along with the fields that the user changed. */
import { semanticEqual } from '@gyropilot/api'
import type { Draft, Stored } from '@gyropilot/schema/objects'

/** Types that nobody knows, too: they keep theirs until they are refused. */
export function needsClusterIp({ spec }: Stored): boolean {
  return spec.type !== 'ExternalName'
}

export function isHeadless({ spec }: Stored): boolean {
  return needsClusterIp({ spec }) && spec.clusterIP === 'None'
}

export function needsNodePorts({ spec }: Stored): boolean {
  return (
    spec.type === 'NodePort' ||
    (spec.type === 'LoadBalancer' && spec.allocateLoadBalancerNodePorts !== false)
  )
}

export function needsHealthCheckPort({ spec }: Stored): boolean {
  return spec.type === 'LoadBalancer' && spec.externalTrafficPolicy === 'Local'
}

function hasExternalTraffic({ spec }: Stored): boolean {
  return (
    spec.type === 'NodePort' || spec.type === 'LoadBalancer' || (spec.externalIPs ?? []).length > 0
  )
}

/** The addresses that were allocated: neither `None` nor empty. */
export function allocatedIps({ spec }: Stored): string[] {
  return needsClusterIp({ spec })
    ? (spec.clusterIPs ?? []).filter((ip: string) => ip !== '' && ip !== 'None')
    : []
}

export function nodePortsOf({ spec }: Stored): number[] {
  const ports = (spec.ports ?? []).map((port: Stored) => port['nodePort'] ?? 0)
  return [...new Set<number>([...ports, spec.healthCheckNodePort ?? 0])].filter(
    (port) => port !== 0,
  )
}

/** clusterIP and clusterIPs are one thing: a change of one alone moves the other. */
export function mirrorClusterIps(service: Draft, stored: Stored | undefined): void {
  const { spec } = service
  const ips: string[] = spec.clusterIPs ?? []
  const before: Stored = stored?.['spec'] ?? {}
  const beforeIps: string[] = before['clusterIPs'] ?? []
  const isListUntouched = ips.length > 0 && ips[0] === beforeIps[0]
  if (stored !== undefined && before['clusterIP'] && !spec.clusterIP && isListUntouched)
    delete spec.clusterIPs
  else if (
    stored !== undefined &&
    (before['clusterIP'] ?? '') !== (spec.clusterIP ?? '') &&
    isListUntouched
  )
    spec.clusterIPs = [spec.clusterIP]
  if (spec.clusterIP && (spec.clusterIPs ?? []).length === 0) spec.clusterIPs = [spec.clusterIP]
}

/** A type that has no use for an allocated value loses it, unless the user set it anew. */
export function dropFieldsOfOtherType(service: Draft, stored: Stored): void {
  const { spec } = service
  const before = stored['spec'] as Stored
  const isSame = (field: string): boolean => semanticEqual(spec[field], before[field])
  const dropIfSame = (...fields: string[]): void => {
    for (const field of fields) if (isSame(field)) delete spec[field]
  }
  if (needsClusterIp(stored) && !needsClusterIp(service)) {
    if (isSame('clusterIP') && isSame('clusterIPs')) dropIfSame('clusterIP', 'clusterIPs')
    dropIfSame('ipFamilies', 'ipFamilyPolicy')
    dropIfSame('internalTrafficPolicy')
  }
  if (needsNodePorts(stored) && !needsNodePorts(service) && spec.type !== 'LoadBalancer')
    dropNodePorts(spec, before)
  if (needsHealthCheckPort(stored) && !needsHealthCheckPort(service))
    dropIfSame('healthCheckNodePort')
  if (before['type'] === 'LoadBalancer' && spec.type !== 'LoadBalancer')
    dropIfSame('allocateLoadBalancerNodePorts', 'loadBalancerClass')
  if (hasExternalTraffic(stored) && !hasExternalTraffic(service))
    dropIfSame('externalTrafficPolicy')
}

function dropNodePorts(spec: Draft, before: Stored): void {
  const kept = new Set((before['ports'] ?? []).map((port: Stored) => port['nodePort']))
  const isUntouched = (spec['ports'] ?? []).every(
    (port: Stored) => (port['nodePort'] ?? 0) === 0 || kept.has(port['nodePort']),
  )
  if (isUntouched) for (const port of spec['ports'] ?? []) delete port.nodePort
}

/** A client that sends an update without the allocated values means to keep them. */
export function keepAllocated(service: Draft, stored: Stored): void {
  const { spec } = service
  const before = stored['spec'] as Stored
  if (needsClusterIp(service) && needsClusterIp(stored)) {
    if (!spec.clusterIP && before['clusterIP']) spec.clusterIP = before['clusterIP']
    if (
      (spec.clusterIPs ?? []).length === 0 &&
      spec.clusterIP === before['clusterIP'] &&
      before['clusterIPs'] !== undefined
    ) {
      spec.clusterIPs = [...before['clusterIPs']]
    }
  }
  if (needsNodePorts(service) && needsNodePorts(stored)) keepNodePorts(spec, before)
  if (needsHealthCheckPort(service) && needsHealthCheckPort(stored))
    spec.healthCheckNodePort ||= before['healthCheckNodePort']
}

/** Ports are recognised by name; a number that another port of the service claims is not given twice. */
function keepNodePorts(spec: Draft, before: Stored): void {
  const numbersOf = (ports: readonly Stored[]): Set<number> =>
    new Set(ports.map((port) => port['nodePort'] ?? 0).filter((port) => port !== 0))
  const old: readonly Stored[] = before['ports'] ?? []
  const used = numbersOf(old).intersection(numbersOf(spec['ports'] ?? []))
  const byName = new Map(old.map((port) => [port['name'] ?? '', port['nodePort'] ?? 0]))
  for (const port of spec['ports'] ?? []) {
    const known = byName.get(port.name ?? '') ?? 0
    if (port.nodePort || known === 0 || used.has(known)) continue
    port.nodePort = known
    used.add(known)
  }
}
