import type { MetricsRegistry } from '@gyropilot/foundation'

export type ResultLabel = 'error' | 'requeue_after' | 'requeue' | 'success'

/** In seconds. */
const RECONCILE_TIME_BUCKETS: readonly number[] = [
  0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.7, 0.8, 0.9, 1,
  1.25, 1.5, 1.75, 2, 2.5, 3, 3.5, 4, 4.5, 5, 6, 7, 8, 9, 10, 15, 20, 25, 30, 40, 50, 60,
]

/** What a controller reports of itself, under controller-runtime's names. */
export interface ReconcileMetrics {
  started(): void
  ended(durationMs: number): void
  concluded(result: ResultLabel): void
  failed(kind: 'terminal' | 'panic' | 'timeout'): void
}

/** Every series exists with 0 from the start. */
export function reconcileMetrics(
  registry: MetricsRegistry,
  controller: string,
  maxConcurrentReconciles: number,
): ReconcileMetrics {
  const labels = { controller }
  const counter = (name: string, of: string) =>
    registry.counter({
      name: `controller_runtime_${name}`,
      help: `Total number of ${of} per controller`,
      labels: ['controller'],
    })
  const gauge = (name: string, help: string) =>
    registry.gauge({ name: `controller_runtime_${name}`, help, labels: ['controller'] })
  const total = registry.counter({
    name: 'controller_runtime_reconcile_total',
    help: 'Total number of reconciliations per controller',
    labels: ['controller', 'result'],
  })
  const errors = counter('reconcile_errors_total', 'reconciliation errors')
  const kinds = {
    terminal: counter('terminal_reconcile_errors_total', 'terminal reconciliation errors'),
    panic: counter('reconcile_panics_total', 'reconciliation panics'),
    timeout: counter('reconcile_timeouts_total', 'reconciliation timeouts'),
  }
  const time = registry.histogram({
    name: 'controller_runtime_reconcile_time_seconds',
    help: 'Length of time per reconciliation per controller',
    labels: ['controller'],
    buckets: RECONCILE_TIME_BUCKETS,
  })
  const active = gauge('active_workers', 'Number of currently used workers per controller')
  gauge('max_concurrent_reconciles', 'Maximum number of concurrent reconciles per controller').set(
    maxConcurrentReconciles,
    labels,
  )
  active.set(0, labels)
  for (const result of ['error', 'requeue_after', 'requeue', 'success'])
    total.increment({ controller, result }, 0)
  for (const family of [errors, ...Object.values(kinds)]) family.increment(labels, 0)

  return {
    started: () => active.add(1, labels),
    ended(durationMs) {
      active.add(-1, labels)
      time.observe(durationMs / 1000, labels)
    },
    concluded(result) {
      total.increment({ controller, result })
      if (result === 'error') errors.increment(labels)
    },
    failed: (kind) => kinds[kind].increment(labels),
  }
}
