import { silentMetrics } from '@gyropilot/foundation'
import type { MetricsRegistry } from '@gyropilot/foundation'

/** A registry that neither counts nor shows the metrics of --disabled-metrics. */
export function withoutMetrics(
  registry: MetricsRegistry,
  names: readonly string[],
): MetricsRegistry {
  if (names.length === 0) return registry
  const disabled = new Set(names)
  const registryFor = (name: string): MetricsRegistry =>
    disabled.has(name) ? silentMetrics : registry
  return {
    counter: (options) => registryFor(options.name).counter(options),
    gauge: (options) => registryFor(options.name).gauge(options),
    histogram: (options) => registryFor(options.name).histogram(options),
    onCollect: (collect) => registry.onCollect(collect),
    expose: () => registry.expose(),
  }
}
