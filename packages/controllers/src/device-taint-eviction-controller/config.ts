/**
 * Settings, names and numbers.
 * Contract: docs/behaviour/controllers/device-taint-eviction-controller.md.
 */
export interface DeviceTaintEvictionConfiguration {
  /** --concurrent-device-taint-eviction-syncs */
  readonly concurrentSyncs: number
}

export const defaultDeviceTaintEvictionConfiguration: DeviceTaintEvictionConfiguration = {
  concurrentSyncs: 8,
}

export const NAME = 'device-taint-eviction-controller'
export const SERVICE_ACCOUNT = NAME
/** Of the status of rules. */
export const FIELD_MANAGER = NAME
/** The controller runs with it. */
export const TAINTS_GATE = 'DRADeviceTaints'
/** Rules are looked at with it; off by default, for the kind is not served by default. */
export const RULES_GATE = 'DRADeviceTaintRules'

export const EVENT_REASON = 'DeviceTaintManagerEviction'
export const CONDITION_REASON = 'DeletionByDeviceTaintManager'
export const CONDITION_MESSAGE = 'Device Taint manager: deleting due to NoExecute taint'

/** How often the status of a rule is written at most. */
export const RULE_STATUS_PERIOD_MS = 10_000
/** How many evicted pods are remembered. */
export const EVICTED_PODS_MAX = 500
