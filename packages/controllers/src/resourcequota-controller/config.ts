/** Settings of the quota controller. Contract: docs/behaviour/controllers/resourcequota-controller.md, Flags and configuration. */
export interface ResourceQuotaConfiguration {
  /** --concurrent-resource-quota-syncs: workers of each of the two key queues. */
  readonly concurrentResourceQuotaSyncs: number
  /** --resource-quota-sync-period: all quotas are counted anew; 0: never. */
  readonly resourceQuotaSyncPeriodMs: number
}

export const defaultResourceQuotaConfiguration: ResourceQuotaConfiguration = {
  concurrentResourceQuotaSyncs: 5,
  resourceQuotaSyncPeriodMs: 300_000,
}

export const DISCOVERY_PERIOD_MS = 30_000
/** How long workers stand still for monitors that do not fill their caches. */
export const MONITOR_SYNC_TIMEOUT_MS = 30_000

export const SERVICE_ACCOUNT = 'resourcequota-controller'
export const PRIMARY_QUEUE = 'resourcequota_primary'
export const PRIORITY_QUEUE = 'resourcequota_priority'
export const RESOURCE_CHANGES_QUEUE = 'resource_quota_controller_resource_changes'
