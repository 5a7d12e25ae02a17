/** Names and settings. Contract: docs/behaviour/controllers/cloud-node-lifecycle-controller.md. */

export interface CloudNodeLifecycleConfiguration {
  /** From the end of one pass over all nodes to the next: --node-monitor-period. */
  readonly nodeMonitorPeriodMs: number
}

export const defaultCloudNodeLifecycleConfiguration: CloudNodeLifecycleConfiguration = {
  nodeMonitorPeriodMs: 5_000,
}

export const SERVICE_ACCOUNT = 'node-controller'
export const EVENT_COMPONENT = 'cloud-node-lifecycle-controller'
/** The `name` of `running_managed_controllers`. */
export const RUNNING_NAME = 'cloud-node-lifecycle'

/** A machine that is switched off. It keeps new pods away and drives none out. */
export const SHUTDOWN_TAINT = {
  key: 'node.cloudprovider.kubernetes.io/shutdown',
  effect: 'NoSchedule',
} as const
