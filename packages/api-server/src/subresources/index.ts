import type { Clock } from '@gyropilot/foundation'
import type { Authentication, RbacAuthorizer, ServiceAccountTokens } from '../auth/index.ts'
import type { SubresourceHandler } from '../contracts.ts'
import { bindings, podBinding } from './binding.ts'
import { componentStatuses } from './component-statuses.ts'
import type { ComponentHealth } from './component-statuses.ts'
import { connections } from './connections.ts'
import { podEviction } from './eviction.ts'
import { podLog } from './pod-log.ts'
import type { Kubelets } from '../kubelets/kubelet.ts'
import { proxies } from './proxy.ts'
import { reviews } from './reviews.ts'
import { scales } from './scale.ts'
import { serviceAccountToken } from './token.ts'

export type * from '../kubelets/kubelet.ts'

export interface SubresourceParts {
  readonly clock: Clock
  readonly authentication: Authentication
  readonly authorizer: RbacAuthorizer
  readonly serviceAccountTokens: ServiceAccountTokens
  /** Absent: logs and streams answer as nodes whose kubelet is down. */
  readonly kubelets?: Kubelets
  /** Default: everything is well. */
  readonly components?: () => readonly ComponentHealth[]
}

const ALL_WELL: readonly ComponentHealth[] = ['controller-manager', 'scheduler', 'etcd-0'].map(
  (name) => ({
    name,
    healthy: true,
    message: 'ok',
  }),
)

/** Every endpoint that is not a plain read or write of the object in its URL. */
export function subresourceHandlers(parts: SubresourceParts): SubresourceHandler[] {
  return [
    ...reviews(parts),
    ...scales,
    ...connections(parts),
    ...proxies(parts.kubelets),
    podBinding,
    bindings,
    podEviction(parts.clock),
    podLog(parts.kubelets),
    serviceAccountToken(parts.serviceAccountTokens),
    componentStatuses(parts.components ?? (() => ALL_WELL)),
  ]
}
