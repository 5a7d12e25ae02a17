/**
 * Metrics of the node lifecycle controller.
 * Contract: docs/behaviour/controllers/node-lifecycle-controller.md, Metrics.
 */
import type { MetricsRegistry } from '@gyropilot/foundation'
import type { ZoneHealth } from './zones.ts'

const PREFIX = 'node_collector_'
const EVERYTHING_IS_WELL = { size: 0, notReady: 0 }
const BUCKETS = 8

export class NodeLifecycleMetrics {
  readonly #instruments: ReturnType<typeof instruments>

  constructor(metrics: MetricsRegistry) {
    this.#instruments = instruments(metrics)
  }

  /** Undefined: the zone is gone. */
  zone(zone: string, health: Omit<ZoneHealth, 'state'> = EVERYTHING_IS_WELL): void {
    const { size, notReady } = health
    this.#instruments.size.set(size, { zone })
    this.#instruments.unhealthy.set(notReady, { zone })
    this.#instruments.health.set(size === 0 ? 100 : (100 * (size - notReady)) / size, { zone })
  }

  /** A new zone is shown with none. */
  tainted(zone: string, count = 1): void {
    this.#instruments.evictions.increment({ zone }, count)
  }

  nodeTook(durationMs: number): void {
    this.#instruments.node.observe(durationMs / 1000)
  }

  passTook(durationMs: number): void {
    this.#instruments.pass.observe(durationMs / 1000)
  }
}

function instruments(metrics: MetricsRegistry) {
  const labels = ['zone']
  const bucketsFrom = (first: number): readonly number[] =>
    Array.from({ length: BUCKETS }, (_, power) => first * 4 ** power)
  return {
    health: metrics.gauge({
      name: `${PREFIX}zone_health`,
      help: 'Gauge measuring percentage of healthy nodes per zone.',
      labels,
    }),
    size: metrics.gauge({
      name: `${PREFIX}zone_size`,
      help: 'Gauge measuring number of registered Nodes per zones.',
      labels,
    }),
    unhealthy: metrics.gauge({
      name: `${PREFIX}unhealthy_nodes_in_zone`,
      help: 'Gauge measuring number of not Ready Nodes per zones.',
      labels,
    }),
    evictions: metrics.counter({
      name: `${PREFIX}evictions_total`,
      help: 'Number of Node evictions that happened since current instance of NodeController started.',
      labels,
      stability: 'STABLE',
    }),
    node: metrics.histogram({
      name: `${PREFIX}update_node_health_duration_seconds`,
      help: 'Duration in seconds for NodeController to update the health of a single node.',
      buckets: bucketsFrom(0.001),
    }),
    pass: metrics.histogram({
      name: `${PREFIX}update_all_nodes_health_duration_seconds`,
      help: 'Duration in seconds for NodeController to update the health of all nodes.',
      buckets: bucketsFrom(0.01),
    }),
  }
}
