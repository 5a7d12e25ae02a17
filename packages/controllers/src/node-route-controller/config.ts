/** Names and settings. Contract: docs/behaviour/controllers/node-route-controller.md. */

export interface NodeRouteConfiguration {
  /** --configure-cloud-routes */
  readonly configureCloudRoutes: boolean
  /** Ranges of pods: one CIDR, or two of different families with a comma: --cluster-cidr. */
  readonly clusterCidr: string
  /** From the start of one pass to the start of the next: --route-reconciliation-period. */
  readonly routeReconciliationPeriodMs: number
}

export const defaultNodeRouteConfiguration: NodeRouteConfiguration = {
  configureCloudRoutes: true,
  clusterCidr: '',
  routeReconciliationPeriodMs: 10_000,
}

export const SERVICE_ACCOUNT = 'route-controller'
export const EVENT_COMPONENT = 'route_controller'
/** The `name` of `running_managed_controllers`. */
export const RUNNING_NAME = 'route'

/** Passes when nodes change, and not by the clock. */
export const WATCH_GATE = 'CloudControllerManagerWatchBasedRoutesReconciliation'
export const QUEUE_NAME = 'Routes'
/** With the gate: from one pass to the next at least, and for a pass that failed at most. */
export const PASS_EVERY_MS = 10_000

/** Operations at the provider at the same time. */
export const OPERATIONS_AT_ONCE = 200
