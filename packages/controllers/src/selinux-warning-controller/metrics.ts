/** Contract: docs/behaviour/controllers/selinux-warning-controller.md, Metrics. */
import { splitKey } from '@gyropilot/api'
import type { MetricsRegistry } from '@gyropilot/foundation'
import type { VolumeCache } from './volume-cache.ts'

export function collectConflicts(metrics: MetricsRegistry, cache: VolumeCache): void {
  const conflict = metrics.gauge({
    name: 'selinux_warning_controller_selinux_volume_conflict',
    help: 'Conflict between two Pods using the same volume',
    labels: [
      'property',
      'pod1_namespace',
      'pod1_name',
      'pod1_value',
      'pod2_namespace',
      'pod2_name',
      'pod2_value',
    ],
  })
  metrics.onCollect(() => {
    conflict.clear()
    for (const { property, pod, value, otherPod, otherValue } of cache.conflicts()) {
      const [one, other] = [splitKey(pod), splitKey(otherPod)]
      conflict.set(1, {
        property,
        pod1_namespace: one.namespace ?? '',
        pod1_name: one.name,
        pod1_value: value,
        pod2_namespace: other.namespace ?? '',
        pod2_name: other.name,
        pod2_value: otherValue,
      })
    }
  })
}
