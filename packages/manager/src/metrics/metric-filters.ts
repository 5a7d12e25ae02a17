/** --disabled-metrics and --allow-metric-labels. Contract: docs/behaviour/runtime/manager.md, Metric filters. */
import { silentMetrics } from '@gyropilot/foundation'
import type { Counter, Labels, MetricsRegistry } from '@gyropilot/foundation'

export interface MetricFilters {
  /** Full names of metrics that are neither counted nor shown. */
  readonly disabled: ReadonlySet<string>
  /** Per metric and label the values that it may have; every other one is shown as `unexpected`. */
  readonly allowed: ReadonlyMap<string, ReadonlyMap<string, ReadonlySet<string>>>
}

const UNEXPECTED = 'unexpected'
/** `metric,label` */
const KEY = /^([a-zA-Z_:][a-zA-Z0-9_:]*),([a-zA-Z_][a-zA-Z0-9_]*)$/

/** From `metric,label` to `value,value`. Keys of another form are left out: see allowedLabelsProblem. */
export function allowedLabels(mapping: ReadonlyMap<string, string>): MetricFilters['allowed'] {
  const allowed = new Map<string, Map<string, ReadonlySet<string>>>()
  for (const [key, values] of mapping) {
    const [, metric, label] = KEY.exec(key) ?? []
    if (metric === undefined || label === undefined) continue
    const labels = allowed.get(metric) ?? new Map<string, ReadonlySet<string>>()
    allowed.set(metric, labels.set(label, new Set(values.split(','))))
  }
  return allowed
}

/** What is wrong with the keys. */
export function allowedLabelsProblem(
  mapping: ReadonlyMap<string, string>,
  field = 'metrics.allowListMapping',
): string | undefined {
  if ([...mapping.keys()].every((key) => KEY.test(key))) return undefined
  const given = JSON.stringify(Object.fromEntries(mapping))
  return `${field}: Invalid value: ${given}: must have keys with format \`metricName,labelName\` where metricName matches "[a-zA-Z_:][a-zA-Z0-9_:]*" and labelName matches "[a-zA-Z_][a-zA-Z0-9_]*"`
}

/** The content of --allow-metric-labels-manifest, already parsed: the mapping, or an object that holds it. */
export function manifestMapping(document: unknown): ReadonlyMap<string, string> {
  if (typeof document !== 'object' || document === null || Array.isArray(document)) {
    throw new Error('the manifest is not a mapping')
  }
  const { allowListMapping } = document as { allowListMapping?: unknown }
  if (typeof allowListMapping === 'object' && allowListMapping !== null)
    return manifestMapping(allowListMapping)
  const entries = Object.entries(document)
  const odd = entries.find(([, values]) => typeof values === 'object')
  if (odd !== undefined) throw new Error(`the values of ${JSON.stringify(odd[0])} are no text`)
  return new Map(entries.map(([key, values]) => [key, String(values)]))
}

/** A registry with the filters in front. What they did is counted in `about`. */
export function filteredMetrics(
  registry: MetricsRegistry,
  filters: MetricFilters,
  about: MetricsRegistry = registry,
): MetricsRegistry {
  const { disabled, allowed } = filters
  const unexpected = metaMetrics(about, disabled)
  if (disabled.size === 0 && allowed.size === 0) return registry
  const registryFor = (name: string): MetricsRegistry =>
    disabled.has(name) ? silentMetrics : registry
  const constrain = (name: string): ((labels: Labels | undefined) => Labels | undefined) => {
    const rules = allowed.get(name)
    return rules === undefined
      ? (labels) => labels
      : (labels) => constrained(labels, rules, unexpected)
  }
  return {
    counter(options) {
      const counter = registryFor(options.name).counter(options)
      const fit = constrain(options.name)
      return { increment: (labels, by) => counter.increment(fit(labels), by) }
    },
    gauge(options) {
      const gauge = registryFor(options.name).gauge(options)
      const fit = constrain(options.name)
      return {
        set: (value, labels) => gauge.set(value, fit(labels)),
        add: (by, labels) => gauge.add(by, fit(labels)),
        clear: () => gauge.clear(),
      }
    },
    histogram(options) {
      const histogram = registryFor(options.name).histogram(options)
      const fit = constrain(options.name)
      return {
        observe: (value, labels) => histogram.observe(value, fit(labels)),
        initialize: (labels) => histogram.initialize(fit(labels)!),
        series: (labels) => ({ observe: (value) => histogram.observe(value, fit(labels)) }),
      }
    },
    onCollect: (collect) => registry.onCollect(collect),
    expose: () => registry.expose(),
  }
}

function constrained(
  labels: Labels | undefined,
  rules: ReadonlyMap<string, ReadonlySet<string>>,
  unexpected: Counter,
): Labels | undefined {
  if (labels === undefined) return undefined
  return Object.fromEntries(
    Object.entries(labels).map(([name, value]) => {
      if (rules.get(name)?.has(value) ?? true) return [name, value]
      unexpected.increment()
      return [name, UNEXPECTED]
    }),
  )
}

/** Returns the counter of values that were not allowed. */
function metaMetrics(registry: MetricsRegistry, disabled: ReadonlySet<string>): Counter {
  const counter = (name: string, help: string, stability: 'ALPHA' | 'BETA'): Counter =>
    (disabled.has(name) ? silentMetrics : registry).counter({ name, help, stability })
  counter('disabled_metrics_total', 'The count of disabled metrics.', 'BETA').increment(
    {},
    disabled.size,
  )
  counter('hidden_metrics_total', 'The count of hidden metrics.', 'BETA')
  return counter(
    'cardinality_enforcement_unexpected_categorizations_total',
    'The count of unexpected categorizations during cardinality enforcement.',
    'ALPHA',
  )
}
