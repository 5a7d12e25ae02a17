/**
 * Metrics of the pod garbage collector.
 * Contract: docs/behaviour/controllers/pod-garbage-collector-controller.md, Metrics.
 */
import type { MetricsRegistry } from '@gyropilot/foundation'

/** Why a pod is deleted. */
export type DeletionReason = 'terminated' | 'out-of-service' | 'orphaned' | 'unscheduled'

export interface DeletionMetrics {
  /** Counted before anything is sent, so failed attempts too. */
  attempted(namespace: string, reason: DeletionReason): void
  failed(namespace: string, reason: DeletionReason): void
}

export function deletionMetrics(metrics: MetricsRegistry): DeletionMetrics {
  const labels = ['namespace', 'reason']
  const attempts = metrics.counter({
    name: 'pod_gc_collector_force_delete_pods_total',
    help: 'Number of pods that are being forcefully deleted since the Pod GC Controller started.',
    labels,
  })
  const errors = metrics.counter({
    name: 'pod_gc_collector_force_delete_pod_errors_total',
    help: 'Number of errors encountered when forcefully deleting the pods since the Pod GC Controller started.',
    labels,
  })
  return {
    attempted: (namespace, reason) => attempts.increment({ namespace, reason }),
    failed: (namespace, reason) => errors.increment({ namespace, reason }),
  }
}
