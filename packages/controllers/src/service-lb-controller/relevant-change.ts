/** What of a change of a Service may ask something of its balancer. Contract: docs/behaviour/controllers/service-lb-controller.md, Watches and keys. Pure. */
import { deepEqual } from '@gyropilot/api'
import type { Service, ServicePort } from '@gyropilot/api'
import { wantsLoadBalancer } from './wants.ts'

interface RelevantChange {
  /** Told of the Service; absent: nothing is. */
  readonly event?: { readonly reason: string; readonly message: string }
}

const UNTOLD: RelevantChange = {}

type Check = (before: Service, after: Service) => RelevantChange | undefined

/** In this order; the first that differs is all that is told. Lists in their order: the cloud may care. */
const CHECKS: readonly Check[] = [
  told('LoadBalancerSourceRanges', ({ spec }) => goList(spec?.loadBalancerSourceRanges)),
  untold(({ spec }) => (spec?.ports ?? []).map(relevantPort)),
  untold(({ spec }) => [spec?.sessionAffinity ?? '', spec?.sessionAffinityConfig ?? null]),
  told('LoadbalancerIP', ({ spec }) => spec?.loadBalancerIP ?? ''),
  externalIpChange,
  untold(({ metadata }) => metadata?.annotations ?? {}),
  told('UID', ({ metadata }) => metadata?.uid ?? ''),
  told('ExternalTrafficPolicy', ({ spec }) => spec?.externalTrafficPolicy ?? ''),
  told('HealthCheckNodePort', ({ spec }) => String(spec?.healthCheckNodePort ?? 0)),
  counted('IPFamilies', ({ spec }) => spec?.ipFamilies),
]

/** Undefined: it asks nothing. */
export function relevantChange(before: Service, after: Service): RelevantChange | undefined {
  if (wantsLoadBalancer(before) !== wantsLoadBalancer(after))
    return event('Type', between(before.spec?.type ?? '', after.spec?.type ?? ''))
  if (!wantsLoadBalancer(after)) return undefined
  for (const check of CHECKS) {
    const change = check(before, after)
    if (change !== undefined) return change
  }
  return undefined
}

function told(reason: string, textOf: (service: Service) => string): Check {
  return (before, after) => {
    const [old, now] = [textOf(before), textOf(after)]
    return old === now ? undefined : event(reason, between(old, now))
  }
}

function untold(partOf: (service: Service) => unknown): Check {
  return (before, after) => (deepEqual(partOf(before), partOf(after)) ? undefined : UNTOLD)
}

function counted(
  reason: string,
  listOf: (service: Service) => readonly string[] | undefined,
): Check {
  return (before, after) => {
    const [old, now] = [listOf(before)?.length ?? 0, listOf(after)?.length ?? 0]
    return old === now ? undefined : event(reason, `Count: ${between(old, now)}`)
  }
}

function externalIpChange(before: Service, after: Service): RelevantChange | undefined {
  const listOf = ({ spec }: Service): readonly string[] => spec?.externalIPs ?? []
  const known = listOf(before)
  const added = listOf(after).find((address, index) => address !== known[index])
  const change = counted('ExternalIP', listOf)(before, after)
  return change ?? (added === undefined ? undefined : event('ExternalIP', `Added: ${added}`))
}

function event(reason: string, message: string): RelevantChange {
  return { event: { reason, message } }
}

function between(before: string | number, after: string | number): string {
  return `${before} -> ${after}`
}

/** As Go prints one. */
function goList(items: readonly string[] = []): string {
  return `[${items.join(' ')}]`
}

function relevantPort({
  name,
  protocol,
  port,
  nodePort,
  targetPort,
  appProtocol,
}: ServicePort): unknown {
  return {
    name: name ?? '',
    protocol: protocol ?? '',
    port,
    nodePort: nodePort ?? 0,
    targetPort: targetPort ?? 0,
    appProtocol: appProtocol ?? null,
  }
}
