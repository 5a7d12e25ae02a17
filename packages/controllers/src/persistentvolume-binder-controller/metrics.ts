/** Contract: docs/behaviour/controllers/persistentvolume-binder-controller.md, Metrics. */
import { storageClassNameOf } from '@gyropilot/api'
import type { PersistentVolume, PersistentVolumeClaim } from '@gyropilot/api'
import type { Gauge, Labels, MetricsRegistry } from '@gyropilot/foundation'
import { storageOperationMetrics } from '../volume-support/operation-metrics.ts'
import { pluginOf } from './storage-plugin.ts'

const SECONDS = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15, 25, 50, 120, 300, 600]

export interface BinderMetrics {
  /** A default class was given to a claim afterwards, or the write failed. */
  classAssigned(ok: boolean): void
  operationFailed(plugin: string, operation: 'provision' | 'delete'): void
  /** From the first try to success. */
  operationTook(plugin: string, operation: 'provision' | 'delete', durationMs: number): void
  /** One run of a plugin of this process. */
  pluginRan(
    plugin: string,
    operation: 'provision' | 'delete',
    ok: boolean,
    durationMs: number,
  ): void
}

export function binderMetrics(
  metrics: MetricsRegistry,
  volumes: () => readonly PersistentVolume[],
  claims: () => readonly PersistentVolumeClaim[],
): BinderMetrics {
  collectCounts(metrics, volumes, claims)
  const assigned = metrics.counter({
    name: 'retroactive_storageclass_total',
    help: 'Total number of retroactive StorageClass assignments to persistent volume claim',
  })
  const failed = metrics.counter({
    name: 'retroactive_storageclass_errors_total',
    help: 'Total number of failed retroactive StorageClass assignments to persistent volume claim',
  })
  const errors = metrics.counter({
    name: 'volume_operation_errors_total',
    help: 'Total volume operation errors',
    labels: ['plugin_name', 'operation_name'],
  })
  const took = metrics.histogram({
    name: 'volume_operation_total_seconds',
    help: 'Storage operation end to end duration in seconds',
    labels: ['plugin_name', 'operation_name'],
    buckets: SECONDS,
  })
  const ran = storageOperationMetrics(metrics)
  return {
    operationTook: (plugin, operation, durationMs) =>
      took.observe(durationMs / 1000, { plugin_name: plugin, operation_name: operation }),
    pluginRan: (plugin, operation, ok, durationMs) =>
      ran({ plugin, name: `volume_${operation}`, isMigrated: false }, ok, durationMs),
    classAssigned: (ok) => (ok ? assigned : failed).increment(),
    operationFailed: (plugin, operation) =>
      errors.increment({ plugin_name: plugin, operation_name: operation }),
  }
}

function collectCounts(
  metrics: MetricsRegistry,
  volumes: () => readonly PersistentVolume[],
  claims: () => readonly PersistentVolumeClaim[],
): void {
  const count = (name: string, what: string, labels: readonly string[]): Count => {
    const help = `Gauge measuring ${what}`
    return new Count(metrics.gauge({ name: `pv_collector_${name}`, help, labels }))
  }
  const volumeLabels = ['storage_class']
  const claimLabels = ['namespace', 'storage_class', 'volume_attributes_class']
  const perPlugin = ['plugin_name', 'volume_mode']
  const total = count('total_pv_count', 'total number of persistent volumes', perPlugin)
  const ofVolumes = 'number of persistent volume currently'
  const boundVolumes = count('bound_pv_count', `${ofVolumes} bound`, volumeLabels)
  const unboundVolumes = count('unbound_pv_count', `${ofVolumes} unbound`, volumeLabels)
  const ofClaims = 'number of persistent volume claim currently'
  const boundClaims = count('bound_pvc_count', `${ofClaims} bound`, claimLabels)
  const unboundClaims = count('unbound_pvc_count', `${ofClaims} unbound`, claimLabels)
  metrics.onCollect(() => {
    const [bound, unbound] = partition(volumes())
    total.show(volumes(), volumeKind)
    boundVolumes.show(bound, classOfVolume)
    unboundVolumes.show(unbound, classOfVolume)
    const [kept, waiting] = partition(claims())
    boundClaims.show(kept, classesOfClaim)
    unboundClaims.show(waiting, classesOfClaim)
  })
}

function partition<T extends PersistentVolume | PersistentVolumeClaim>(
  objects: readonly T[],
): readonly [readonly T[], readonly T[]] {
  const isBound = ({ status }: T): boolean => status?.phase === 'Bound'
  return [objects.filter(isBound), objects.filter((object) => !isBound(object))]
}

function volumeKind(volume: PersistentVolume): Labels {
  const volume_mode = volume.spec?.volumeMode ?? 'Filesystem'
  return { plugin_name: pluginOf(volume) ?? 'N/A', volume_mode }
}

function classOfVolume(volume: PersistentVolume): Labels {
  return { storage_class: storageClassNameOf(volume) }
}

function classesOfClaim(claim: PersistentVolumeClaim): Labels {
  return {
    namespace: claim.metadata?.namespace ?? '',
    storage_class: storageClassNameOf(claim),
    volume_attributes_class: claim.spec?.volumeAttributesClassName ?? '',
  }
}

/** How many objects have the same labels; labels that nobody has any more are gone. */
class Count {
  readonly #gauge: Gauge

  constructor(gauge: Gauge) {
    this.#gauge = gauge
  }

  show<T>(objects: readonly T[], labelsOf: (object: T) => Labels): void {
    this.#gauge.clear()
    for (const object of objects) this.#gauge.add(1, labelsOf(object))
  }
}
