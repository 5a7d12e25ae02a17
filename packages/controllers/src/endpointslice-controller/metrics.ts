/**
 * Metrics of the EndpointSlice controller.
 * Contract: docs/behaviour/controllers/endpointslice-controller.md, Metrics.
 */
import type { EndpointSlice } from '@gyropilot/api'
import type { MetricOptions, MetricsRegistry } from '@gyropilot/foundation'
import type { IpFamily } from '../endpoint-support/ip-address.ts'
import type { GroupCounts } from './plan-slices.ts'
import { isKnownDistribution } from './traffic-distribution.ts'

const PREFIX = 'endpoint_slice_controller_'
/** 2, 4, 8 ... 32768. */
const COUNT_BUCKETS = Array.from({ length: 15 }, (_, power) => 2 ** (power + 1))
/** Meant for seconds; upstream leaves this histogram at Prometheus' defaults. */
const DEFAULT_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]
const OTHER_DISTRIBUTION = 'ImplementationSpecific'

type SyncResult = 'success' | 'stale' | 'error'

interface Totals {
  readonly endpoints: number
  readonly slices: number
  readonly desiredSlices: number
}

/** Counters, and gauges of what all Services together have. */
export class SliceMetrics {
  readonly #maxEndpointsPerSlice: number
  readonly #instruments: ReturnType<typeof instruments>
  readonly #totals = new Map<string, Map<EndpointSlice['addressType'], Totals>>()
  readonly #distributions = new Map<string, string>()
  /** Their series stay, at 0 when no Service has them any more. */
  readonly #distributionsSeen = new Set<string>()

  constructor(metrics: MetricsRegistry, maxEndpointsPerSlice: number) {
    this.#maxEndpointsPerSlice = maxEndpointsPerSlice
    this.#instruments = instruments(metrics)
    metrics.onCollect(() => {
      const sums = { endpoints: 0, slices: 0, desiredSlices: 0 }
      for (const byType of this.#totals.values()) {
        for (const totals of byType.values()) {
          sums.endpoints += totals.endpoints
          sums.slices += totals.slices
          sums.desiredSlices += totals.desiredSlices
        }
      }
      this.#instruments.endpointsDesired.set(sums.endpoints)
      this.#instruments.slices.set(sums.slices)
      this.#instruments.slicesDesired.set(sums.desiredSlices)
      const services = Map.groupBy(this.#distributions.values(), (value) => value)
      for (const value of this.#distributionsSeen) {
        const count = services.get(value)?.length ?? 0
        this.#instruments.servicesByDistribution.set(count, { traffic_distribution: value })
      }
    })
  }

  synced(result: SyncResult): void {
    this.#instruments.syncs.increment({ result })
  }

  written(operation: 'create' | 'update' | 'delete'): void {
    this.#instruments.changes.increment({ operation })
  }

  packed(added: number, removed: number): void {
    this.#instruments.added.observe(added)
    this.#instruments.removed.observe(removed)
  }

  /** After the writes of one address type. */
  changed(count: number, topology: boolean, distribution: string | undefined): void {
    this.#instruments.slicesChanged.observe(count, {
      topology: topology ? 'Auto' : 'Disabled',
      traffic_distribution: !topology && isKnownDistribution(distribution) ? distribution : '',
    })
  }

  setCounts(serviceKey: string, family: IpFamily, groups: readonly GroupCounts[]): void {
    let byType = this.#totals.get(serviceKey)
    if (byType === undefined) this.#totals.set(serviceKey, (byType = new Map()))
    let [endpoints, slices, desiredSlices] = [0, 0, 0]
    for (const group of groups) {
      endpoints += group.endpoints
      slices += group.slices
      desiredSlices += Math.ceil(group.endpoints / this.#maxEndpointsPerSlice)
    }
    byType.set(family, { endpoints, slices, desiredSlices: Math.max(1, desiredSlices) })
  }

  /** Undefined: the Service has none that counts. */
  setDistribution(serviceKey: string, distribution: string | undefined): void {
    if (distribution === undefined) {
      this.#distributions.delete(serviceKey)
      return
    }
    const value = isKnownDistribution(distribution) ? distribution : OTHER_DISTRIBUTION
    this.#distributions.set(serviceKey, value)
    this.#distributionsSeen.add(value)
  }

  forgetFamily(serviceKey: string, family: EndpointSlice['addressType']): void {
    this.#totals.get(serviceKey)?.delete(family)
  }

  forget(serviceKey: string): void {
    this.#totals.delete(serviceKey)
    this.#distributions.delete(serviceKey)
  }
}

/** The help texts are upstream's: one scrape of both managers must not show two. */
function instruments(metrics: MetricsRegistry) {
  const named = (name: string, help: string, labels: readonly string[] = []): MetricOptions => ({
    name: `${PREFIX}${name}`,
    help,
    labels,
  })
  const beta = { stability: 'BETA' } as const
  const buckets = COUNT_BUCKETS
  return {
    added: metrics.histogram({
      ...named('endpoints_added_per_sync', 'Number of endpoints added on each Service sync'),
      ...beta,
      buckets,
    }),
    removed: metrics.histogram({
      ...named('endpoints_removed_per_sync', 'Number of endpoints removed on each Service sync'),
      ...beta,
      buckets,
    }),
    endpointsDesired: metrics.gauge({
      ...named('endpoints_desired', 'Number of endpoints desired'),
      ...beta,
    }),
    slices: metrics.gauge({
      ...named('num_endpoint_slices', 'Number of EndpointSlices'),
      ...beta,
    }),
    slicesDesired: metrics.gauge({
      ...named(
        'desired_endpoint_slices',
        'Number of EndpointSlices that would exist with perfect endpoint allocation',
      ),
      ...beta,
    }),
    changes: metrics.counter(named('changes', 'Number of EndpointSlice changes', ['operation'])),
    slicesChanged: metrics.histogram({
      ...named(
        'endpointslices_changed_per_sync',
        'Number of EndpointSlices changed on each Service sync',
        ['topology', 'traffic_distribution'],
      ),
      buckets: DEFAULT_BUCKETS,
    }),
    syncs: metrics.counter(named('syncs', 'Number of EndpointSlice syncs', ['result'])),
    servicesByDistribution: metrics.gauge({
      ...named(
        'services_count_by_traffic_distribution',
        'Number of Services using some specific trafficDistribution',
        ['traffic_distribution'],
      ),
      ...beta,
    }),
  }
}
