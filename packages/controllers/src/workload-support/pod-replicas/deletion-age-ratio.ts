/**
 * How old the pods are that a scale-down takes.
 * Contract: docs/behaviour/controllers/replicaset-controller.md, Metrics.
 */
import { isPodReady } from '@gyropilot/api'
import type { Pod } from '@gyropilot/api'
import type { Histogram, MetricsRegistry } from '@gyropilot/foundation'

export function sortingDeletionAgeRatio(metrics: MetricsRegistry): Histogram {
  return metrics.histogram({
    name: 'replicaset_controller_sorting_deletion_age_ratio',
    help: "The ratio of chosen deleted pod's ages to the current youngest pod's age (at the time). Should be <2. The intent of this metric is to measure the rough efficacy of the LogarithmicScaleDown feature gate's effect on the sorting (and deletion) of pods when a replicaset scales down. This only considers Ready pods when calculating and reporting.",
    buckets: [0.25, 0.5, 1, 2, 4, 8],
  })
}

/**
 * Per ready pod among the chosen: its age over the age of the youngest ready pod, whole
 * milliseconds divided as integers. Nothing while the youngest has no age yet.
 */
export function deletionAgeRatios(
  all: readonly Pod[],
  chosen: readonly Pod[],
  nowMs: number,
): readonly number[] {
  const youngestMs = Math.max(...all.filter(isPodReady).map(createdMs))
  const youngestAgeMs = nowMs - youngestMs
  if (!(youngestAgeMs > 0)) return []
  return chosen
    .filter(isPodReady)
    .map((pod) => Math.trunc((nowMs - createdMs(pod)) / youngestAgeMs))
}

function createdMs(pod: Pod): number {
  return Date.parse(pod.metadata?.creationTimestamp ?? '')
}
