import type { MetricsRegistry } from '@gyropilot/foundation'

/** An operation at a volume, as storage_operation_duration_seconds names it. */
interface StorageOperation {
  /** `kubernetes.io/csi:<driver>`, or the driver of a flex volume. */
  readonly plugin: string
  /** `volume_attach` */
  readonly name: string
  readonly isMigrated: boolean
}

/** Tells that an operation has ended. */
export type OperationEnded = (operation: StorageOperation, ok: boolean, durationMs: number) => void

export function storageOperationMetrics(metrics: MetricsRegistry): OperationEnded {
  const duration = metrics.histogram({
    name: 'storage_operation_duration_seconds',
    help: 'Storage operation duration',
    labels: ['volume_plugin', 'operation_name', 'status', 'migrated'],
    buckets: [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15, 25, 50, 120, 300, 600],
  })
  return ({ plugin, name, isMigrated }, ok, durationMs) => {
    const status = ok ? 'success' : 'fail-unknown'
    const labels = { volume_plugin: plugin, operation_name: name, status }
    duration.observe(durationMs / 1000, { ...labels, migrated: String(isMigrated) })
  }
}
