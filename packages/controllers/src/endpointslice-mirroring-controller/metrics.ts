/**
 * Metrics of the mirroring controller.
 * Contract: docs/behaviour/controllers/endpointslice-mirroring-controller.md, Metrics.
 */
import type { MetricsRegistry } from '@gyropilot/foundation'
import type { MirrorPlan } from './plan-mirrors.ts'

const PREFIX = 'endpoint_slice_mirroring_controller_'
const DOUBLING = Array.from({ length: 15 }, (_, power) => 2 ** power)
/** 2, 4, 8 ... 32768. */
const COUNT_BUCKETS = DOUBLING.map((factor) => 2 * factor)
/** 0.001 ... 16.384. */
const SECONDS_BUCKETS = DOUBLING.map((factor) => factor / 1_000)

interface Totals {
  readonly endpoints: number
  readonly slices: number
  readonly desiredSlices: number
}

/** Counters, and gauges of what all mirrored Endpoints together have. */
export class MirroringMetrics {
  readonly #instruments: ReturnType<typeof instruments>
  readonly #totals = new Map<string, Totals>()

  constructor(metrics: MetricsRegistry) {
    this.#instruments = instruments(metrics)
    metrics.onCollect(() => {
      const sums = { endpoints: 0, slices: 0, desiredSlices: 0 }
      for (const totals of this.#totals.values()) {
        sums.endpoints += totals.endpoints
        sums.slices += totals.slices
        sums.desiredSlices += totals.desiredSlices
      }
      this.#instruments.endpointsDesired.set(sums.endpoints)
      this.#instruments.slices.set(sums.slices)
      this.#instruments.slicesDesired.set(sums.desiredSlices)
    })
  }

  /** A sync that had something to mirror, before its writes. */
  synced(
    key: string,
    { changes, writes, unchanged, desiredSlices, endpoints }: MirrorPlan,
    skipped: number,
  ): void {
    const { added, updated, removed, addressesSkipped } = this.#instruments
    added.observe(changes.added)
    updated.observe(changes.updated)
    removed.observe(changes.removed)
    addressesSkipped.observe(skipped)
    const slices = writes.create.length + writes.update.length + unchanged.length
    this.#totals.set(key, { endpoints, slices, desiredSlices })
  }

  written(operation: 'create' | 'update' | 'delete'): void {
    this.#instruments.changes.increment({ operation })
  }

  /** Of every sync. */
  took(seconds: number): void {
    this.#instruments.duration.observe(seconds)
  }

  forget(key: string): void {
    this.#totals.delete(key)
  }
}

/** The help texts are upstream's: one scrape of both managers must not show two. */
function instruments(metrics: MetricsRegistry) {
  const perSync = (name: string, help: string) =>
    metrics.histogram({ name: `${PREFIX}${name}`, help, buckets: COUNT_BUCKETS })
  const gauge = (name: string, help: string) => metrics.gauge({ name: `${PREFIX}${name}`, help })
  return {
    added: perSync('endpoints_added_per_sync', 'Number of endpoints added on each Endpoints sync'),
    updated: perSync(
      'endpoints_updated_per_sync',
      'Number of endpoints updated on each Endpoints sync',
    ),
    removed: perSync(
      'endpoints_removed_per_sync',
      'Number of endpoints removed on each Endpoints sync',
    ),
    addressesSkipped: perSync(
      'addresses_skipped_per_sync',
      'Number of addresses skipped on each Endpoints sync due to being invalid or exceeding MaxEndpointsPerSubset',
    ),
    duration: metrics.histogram({
      name: `${PREFIX}endpoints_sync_duration`,
      help: 'Duration of syncEndpoints() in seconds',
      buckets: SECONDS_BUCKETS,
    }),
    endpointsDesired: gauge('endpoints_desired', 'Number of endpoints desired'),
    slices: gauge('num_endpoint_slices', 'Number of EndpointSlices'),
    slicesDesired: gauge(
      'desired_endpoint_slices',
      'Number of EndpointSlices that would exist with perfect endpoint allocation',
    ),
    changes: metrics.counter({
      name: `${PREFIX}changes`,
      help: 'Number of EndpointSlice changes',
      labels: ['operation'],
    }),
  }
}
