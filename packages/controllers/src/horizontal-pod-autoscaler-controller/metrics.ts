/** Contract: docs/behaviour/controllers/horizontal-pod-autoscaler-controller.md, Metrics. */
import { splitKey } from '@gyropilot/api'
import type { Gauge, MetricsRegistry } from '@gyropilot/foundation'
import type { FailureKind, ScaleAction } from './reconcile.ts'

const PREFIX = 'horizontal_pod_autoscaler_controller_'
/** 1 ms, doubled 14 times. */
const BUCKETS_SECONDS: readonly number[] = Array.from(
  { length: 15 },
  (_, index) => 0.001 * 2 ** index,
)
const ACTION_WORDS = "The label 'action' should be either 'scale_down', 'scale_up', or 'none'."
const ERROR_WORDS = "the label 'error' should be either 'spec', 'internal', or 'none'."
const FIRST_ERROR =
  'Note that if both spec and internal errors happen during a reconciliation, the first one to occur is reported in `error` label.'
const METRIC_TYPE = "The label 'metric_type' corresponds to HPA.spec.metrics[*].type"

interface AutoscalerMetrics {
  synced(action: ScaleAction, failure: FailureKind, seconds: number): void
  computed(type: string, action: ScaleAction, failure: FailureKind, seconds: number): void
  readonly autoscalers: Gauge
}

/** `desired`: the last decisions, by key. An autoscaler that is gone has no series: names come and go without end. */
export function autoscalerMetrics(
  metrics: MetricsRegistry,
  desired: () => ReadonlyMap<string, number>,
): AutoscalerMetrics {
  const named = (name: string, help: string, labels: readonly string[]) => ({
    name: `${PREFIX}${name}`,
    help,
    labels,
    stability: 'BETA' as const,
  })
  const syncLabels = ['action', 'error']
  const syncs = metrics.counter(
    named(
      'reconciliations_total',
      `Number of reconciliations of HPA controller. ${ACTION_WORDS} Also, ${ERROR_WORDS} ${FIRST_ERROR}`,
      syncLabels,
    ),
  )
  const syncSeconds = metrics.histogram({
    ...named(
      'reconciliation_duration_seconds',
      `The time(seconds) that the HPA controller takes to reconcile once. ${ACTION_WORDS} Also, ${ERROR_WORDS} ${FIRST_ERROR}`,
      syncLabels,
    ),
    buckets: BUCKETS_SECONDS,
  })
  const metricLabels = ['action', 'error', 'metric_type']
  const computations = metrics.counter(
    named(
      'metric_computation_total',
      `Number of metric computations. ${ACTION_WORDS} Also, ${ERROR_WORDS} ${METRIC_TYPE}`,
      metricLabels,
    ),
  )
  const computationSeconds = metrics.histogram({
    ...named(
      'metric_computation_duration_seconds',
      `The time(seconds) that the HPA controller takes to calculate one metric. ${ACTION_WORDS} ${capital(ERROR_WORDS)} ${METRIC_TYPE}`,
      metricLabels,
    ),
    buckets: BUCKETS_SECONDS,
  })
  const desiredReplicas = metrics.gauge({
    name: `${PREFIX}desired_replicas`,
    help: 'Current desired replica count for HPA objects.',
    labels: ['namespace', 'hpa_name'],
  })
  metrics.onCollect(() => {
    desiredReplicas.clear()
    for (const [key, replicas] of desired()) {
      const { namespace = '', name } = splitKey(key)
      desiredReplicas.set(replicas, { namespace, hpa_name: name })
    }
  })
  return {
    synced(action, error, seconds) {
      syncs.increment({ action, error })
      syncSeconds.observe(seconds, { action, error })
    },
    computed(type, action, error, seconds) {
      computations.increment({ action, error, metric_type: type })
      computationSeconds.observe(seconds, { action, error, metric_type: type })
    },
    autoscalers: metrics.gauge({
      name: `${PREFIX}num_horizontal_pod_autoscalers`,
      help: 'Current number of controlled HPA objects.',
    }),
  }
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}
