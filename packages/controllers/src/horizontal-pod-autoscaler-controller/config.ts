/** Settings. Contract: docs/behaviour/controllers/horizontal-pod-autoscaler-controller.md, Flags and configuration. */
export interface HorizontalPodAutoscalerConfiguration {
  /** --concurrent-horizontal-pod-autoscaler-syncs */
  readonly concurrentSyncs: number
  /** --horizontal-pod-autoscaler-sync-period */
  readonly syncPeriodMs: number
  /** --horizontal-pod-autoscaler-downscale-stabilization */
  readonly downscaleStabilizationMs: number
  /** --horizontal-pod-autoscaler-tolerance: a part of 1, in both directions. */
  readonly tolerance: number
  /** --horizontal-pod-autoscaler-cpu-initialization-period */
  readonly cpuInitializationMs: number
  /** --horizontal-pod-autoscaler-initial-readiness-delay */
  readonly initialReadinessDelayMs: number
}

export const defaultHorizontalPodAutoscalerConfiguration: HorizontalPodAutoscalerConfiguration = {
  concurrentSyncs: 5,
  syncPeriodMs: 15_000,
  downscaleStabilizationMs: 300_000,
  tolerance: 0.1,
  cpuInitializationMs: 300_000,
  initialReadinessDelayMs: 30_000,
}

export const QUEUE_NAME = 'horizontalpodautoscaler'
export const EVENT_COMPONENT = 'horizontal-pod-autoscaler'
export const SERVICE_ACCOUNT = 'horizontal-pod-autoscaler'

/** Alpha in 1.36. */
export const SCALE_TO_ZERO_GATE = 'HPAScaleToZero'
export const CONFIGURABLE_TOLERANCE_GATE = 'HPAConfigurableTolerance'
export const POD_LEVEL_RESOURCES_GATE = 'PodLevelResources'

export const MAX_INT32 = 2 ** 31 - 1
