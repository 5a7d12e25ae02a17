/** --disabled-metrics and --allow-metric-labels. Contract: docs/behaviour/runtime/manager.md, Metric filters. */
import { silentMetrics } from '@gyropilot/foundation'
import type { Counter, Labels, MetricsRegistry } from '@gyropilot/foundation'
import { NEWEST_MINOR } from '../options/go-version.ts'

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

/** The content of --allow-metric-labels-manifest, already parsed. */
export function manifestMapping(document: unknown): ReadonlyMap<string, string> {
  if (typeof document !== 'object' || document === null || Array.isArray(document)) {
    throw new Error('the manifest is not a mapping')
  }
  const entries = Object.entries(document)
  const odd = entries.find(([, values]) => typeof values === 'object' && values !== null)
  if (odd !== undefined) throw new Error(`the values of ${JSON.stringify(odd[0])} are no text`)
  return new Map(entries.map(([key, values]) => [key, String(values ?? '')]))
}

/** The only minor version that --show-hidden-metrics-for-version may name. */
const PREVIOUS = `1.${NEWEST_MINOR - 1}`
const METRIC_NAME = /^[a-zA-Z_:][a-zA-Z0-9_:]*$/

/** What the flags of metrics are read from. */
interface FilterFlags {
  text(name: string): string
  list(name: string): readonly string[]
  mapping(name: string): ReadonlyMap<string, string>
}

/** What is wrong with flags of metrics, in upstream's order; what a manifest holds is looked at when it is read. */
export function* metricProblems(flags: FilterFlags): Generator<string> {
  const hidden = flags.text('show-hidden-metrics-for-version')
  if (hidden !== '' && hidden !== PREVIOUS)
    yield `metrics.showHiddenMetricsForVersion: Invalid value: ${JSON.stringify(hidden)}: must be omitted or have the value '${PREVIOUS}'; only the previous minor version is allowed`
  const disabled = flags.list('disabled-metrics')
  const odd = disabled.find((name) => !METRIC_NAME.test(name))
  if (odd !== undefined)
    yield `metrics.disabledMetrics: Invalid value: ${JSON.stringify(disabled)}: must be fully qualified metric names matching ${JSON.stringify(METRIC_NAME.source)}, got ${JSON.stringify(odd)}`
  const allowed = flags.mapping('allow-metric-labels')
  const labels = allowedLabelsProblem(allowed)
  if (labels !== undefined) yield labels
  const manifest = flags.text('allow-metric-labels-manifest')
  if (allowed.size === 0 || manifest === '') return
  const given = {
    ...(hidden === '' ? {} : { showHiddenMetricsForVersion: hidden }),
    ...(disabled.length === 0 ? {} : { disabledMetrics: disabled }),
    allowListMapping: Object.fromEntries(allowed),
    allowListMappingManifest: manifest,
  }
  yield `metrics: Invalid value: ${JSON.stringify(given)}: cannot specify both allowListMapping and allowListMappingManifest`
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
    clear: () => registry.clear(),
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
