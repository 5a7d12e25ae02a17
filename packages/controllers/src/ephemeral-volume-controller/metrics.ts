/** Contract: docs/behaviour/controllers/ephemeral-volume-controller.md, Metrics. */
import type { MetricsRegistry } from '@gyropilot/foundation'

export interface CreationMetrics {
  attempted(): void
  failed(): void
}

const HELP = 'Number of PersistentVolumeClaim creation requests'

export function creationMetrics(metrics: MetricsRegistry): CreationMetrics {
  const counter = (name: string) =>
    metrics.counter({ name: `ephemeral_volume_controller_${name}_total`, help: HELP })
  const attempts = counter('create')
  const failures = counter('create_failures')
  return { attempted: () => attempts.increment(), failed: () => failures.increment() }
}
