/** Smallest valid Services of the tests of load balancers. */
import type { LoadBalancerStatus, Service, ServiceSpec } from '@gyropilot/api'
import { CLEANUP_FINALIZER } from './config.ts'

export interface ServiceOptions extends Omit<ServiceSpec, 'type'> {
  /** Default LoadBalancer. */
  readonly type?: ServiceSpec['type']
  readonly uid?: string
  readonly finalizers?: readonly string[]
  /** The cleanup finalizer is there. Default false. */
  readonly isHeld?: boolean
  readonly isDeleted?: boolean
  readonly annotations?: Readonly<Record<string, string>>
  readonly ingress?: LoadBalancerStatus['ingress']
  readonly name?: string
}

export function service(options: ServiceOptions = {}): Service {
  const {
    uid = 'u',
    finalizers,
    isHeld,
    isDeleted,
    annotations,
    ingress,
    name = 's',
    ...spec
  } = options
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: {
      name,
      namespace: 'ns',
      uid,
      annotations,
      finalizers: finalizers ?? (isHeld === true ? [CLEANUP_FINALIZER] : undefined),
      deletionTimestamp: isDeleted === true ? '2026-01-01T00:00:00Z' : undefined,
    },
    spec: { type: 'LoadBalancer', ports: [{ port: 80 }], ...spec },
    status: ingress === undefined ? {} : { loadBalancer: { ingress } },
  }
}
