/** What a Service asks of this controller. Contract: docs/behaviour/controllers/service-lb-controller.md, Watches and keys. Pure. */
import { hasFinalizer, isTerminating } from '@gyropilot/api'
import type { Service } from '@gyropilot/api'
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
