/**
 * Metrics of the StatefulSet controller.
 * Contract: docs/behaviour/controllers/statefulset-controller.md, Metrics.
 */
import type { StatefulSet } from '@gyropilot/api'
import type { MetricsRegistry } from '@gyropilot/foundation'

interface AvailabilityMetrics {
  /** Of a rolling update: how many pods may be, and how many are unavailable. */
  observe(set: StatefulSet, maxUnavailable: number, unavailable: number): void
}

const LABELS = ['statefulset_namespace', 'statefulset_name', 'pod_management_policy'] as const

/** Only with the gate MaxUnavailableStatefulSet. */
export function availabilityMetrics(metrics: MetricsRegistry): AvailabilityMetrics {
  const most = metrics.gauge({
    name: 'statefulset_controller_statefulset_max_unavailable',
    help: 'Maximum number of unavailable pods allowed during StatefulSet rolling updates',
    labels: [...LABELS],
  })
  const now = metrics.gauge({
    name: 'statefulset_controller_statefulset_unavailable_replicas',
    help: 'Current number of unavailable pods in StatefulSet',
    labels: [...LABELS],
  })
  return {
    observe(set, maxUnavailable, unavailable) {
      const labels = {
        statefulset_namespace: set.metadata?.namespace ?? '',
        statefulset_name: set.metadata?.name ?? '',
        pod_management_policy: set.spec?.podManagementPolicy ?? 'OrderedReady',
      }
      most.set(maxUnavailable, labels)
      now.set(unavailable, labels)
    },
  }
}
