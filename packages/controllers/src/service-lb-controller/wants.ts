/** What a Service asks of this controller. Contract: docs/behaviour/controllers/service-lb-controller.md, Watches and keys. Pure. */
import { deepEqual, hasFinalizer, isTerminating } from '@gyropilot/api'
import type { Service, ServicePort } from '@gyropilot/api'
import { CLEANUP_FINALIZER } from './config.ts'

/** A class makes it another controller's. */
export function wantsLoadBalancer({ spec }: Service): boolean {
  return spec?.type === 'LoadBalancer' && (spec.loadBalancerClass ?? null) === null
}

/** The finalizer is there, and the Service goes or is of another type by now. */
export function needsCleanup(service: Service): boolean {
  if (!hasFinalizer(service, CLEANUP_FINALIZER)) return false
  return isTerminating(service) || service.spec?.type !== 'LoadBalancer'
}

/** Whether a change may ask something of the balancer. */
export function isRelevantChange(previous: Service, current: Service): boolean {
  const wants = wantsLoadBalancer(current)
  if (wants !== wantsLoadBalancer(previous)) return true
  return wants && !deepEqual(relevantPart(previous), relevantPart(current))
}

/** Lists in their order: the cloud may care. */
function relevantPart({ metadata, spec }: Service): unknown {
  return {
    uid: metadata?.uid ?? '',
    annotations: metadata?.annotations ?? {},
    loadBalancerSourceRanges: spec?.loadBalancerSourceRanges ?? [],
    ports: (spec?.ports ?? []).map(relevantPort),
    sessionAffinity: spec?.sessionAffinity ?? '',
    sessionAffinityConfig: spec?.sessionAffinityConfig ?? null,
    loadBalancerIP: spec?.loadBalancerIP ?? '',
    externalIPs: spec?.externalIPs ?? [],
    externalTrafficPolicy: spec?.externalTrafficPolicy ?? '',
    healthCheckNodePort: spec?.healthCheckNodePort ?? 0,
    ipFamilies: spec?.ipFamilies?.length ?? 0,
  }
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
