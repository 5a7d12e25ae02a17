/** What a Service asks of its balancer. Pure. */
import { cidrContains, parseCidr, parseIp } from '@gyropilot/api'
import type { Service } from '@gyropilot/api'

export interface WishedPort {
  readonly protocol: 'TCP' | 'UDP'
  readonly port: number
  /** As in EndpointSlices. */
  readonly name: string
}

export interface BalancerWish {
  readonly ports: readonly WishedPort[]
  /** Networks that may come in; empty: all. */
  readonly sourceRanges: readonly string[]
  /** How long a client keeps its back end; undefined: no affinity. */
  readonly affinityMs: number | undefined
  /** externalTrafficPolicy Local. */
  readonly isLocal: boolean
  /** Where each node says whether it has a ready back end; undefined: nowhere. */
  readonly healthCheckPort: number | undefined
}

const SOURCE_RANGES = 'service.beta.kubernetes.io/load-balancer-source-ranges'
const DEFAULT_AFFINITY_SECONDS = 10_800

/** Throws for what this cloud cannot give. */
export function wishOf(service: Service): BalancerWish {
  const { spec = {}, metadata = {} } = service
  const ports = (spec.ports ?? []).map(({ protocol = 'TCP', port, name = '' }) => {
    if (protocol !== 'TCP' && protocol !== 'UDP')
      throw new Error(`port ${port}: this cloud balances TCP and UDP, not ${protocol}`)
    return { protocol, port, name } as const
  })
  const { loadBalancerSourceRanges: listed = [] } = spec
  const annotated = metadata.annotations?.[SOURCE_RANGES] ?? ''
  // An empty list says nothing, as none does.
  const ranges = listed.length > 0 ? listed : annotated.split(',')
  const { timeoutSeconds = DEFAULT_AFFINITY_SECONDS } = spec.sessionAffinityConfig?.clientIP ?? {}
  const isLocal = spec.externalTrafficPolicy === 'Local'
  return {
    ports,
    sourceRanges: ranges.map((range) => range.trim()).filter((range) => range !== ''),
    affinityMs: spec.sessionAffinity === 'ClientIP' ? timeoutSeconds * 1_000 : undefined,
    isLocal,
    healthCheckPort: isLocal ? spec.healthCheckNodePort || undefined : undefined,
  }
}

export function mayComeIn(client: string, sourceRanges: readonly string[]): boolean {
  if (sourceRanges.length === 0) return true
  const address = parseIp(client)
  if (address === undefined) return false
  return sourceRanges.some((range) => {
    const network = parseCidr(range)
    return network !== undefined && cidrContains(network, address)
  })
}

/** `TCP/80`: two ports of a Service may have one number. */
export function keyOfPort({ protocol, port }: WishedPort): string {
  return `${protocol}/${port}`
}
