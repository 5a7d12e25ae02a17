/** Metrics in memory, exposed as Prometheus text 0.0.4 in the spelling of the Go client. */
import { firstIndexWhere } from './binary-search.ts'
import { compareStrings } from './compare.ts'
import type {
  Counter,
  Gauge,
  Histogram,
  HistogramOptions,
  Labels,
  MetricOptions,
  MetricsRegistry,
  Observer,
} from './metrics.ts'

type FamilyType = 'counter' | 'gauge' | 'histogram'

const NO_LABELS: Labels = {}
const METRIC_NAME = /^[a-zA-Z_:][a-zA-Z0-9_:]*$/
const LABEL_NAME = /^[a-zA-Z_][a-zA-Z0-9_]*$/

/** By the value of one label, of which the hash is known: a level of such maps for each label, and the series at the end. */
type Level<S> = Map<string, Level<S> | Series<S>>

interface Series<S> {
  readonly values: readonly string[]
  readonly state: S
}

/** Metrics that are exposed as Prometheus reads them. */
export class PrometheusRegistry implements MetricsRegistry {
  readonly #families = new Map<string, Family<unknown>>()
  readonly #collectors: (() => void)[] = []

  counter(options: MetricOptions): Counter {
    return this.#family('counter', options, () => new CounterFamily(options))
  }

  gauge(options: MetricOptions): Gauge {
    return this.#family('gauge', options, () => new GaugeFamily(options))
  }

  histogram(options: HistogramOptions): Histogram {
    return this.#family('histogram', options, () => new HistogramFamily(options))
  }

  onCollect(collect: () => void): void {
    this.#collectors.push(collect)
  }

  clear(): void {
    for (const family of this.#families.values()) family.forget()
  }

  expose(): string {
    for (const collect of this.#collectors) collect()
    const lines: string[] = []
    const families = [...this.#families.values()].sort((a, b) =>
      compareStrings(a.options.name, b.options.name),
    )
    for (const family of families) family.expose(lines)
    return lines.length === 0 ? '' : `${lines.join('\n')}\n`
  }

  #family<F extends Family<unknown>>(type: FamilyType, options: MetricOptions, make: () => F): F {
    const existing = this.#families.get(options.name)
    if (existing !== undefined) {
      if (signature(existing.type, existing.options) !== signature(type, options)) {
        throw new Error(
          `metric ${options.name} was registered before with another type, help, label set or buckets`,
        )
      }
      return existing as F
    }
    if (!METRIC_NAME.test(options.name))
      throw new Error(`metric name ${JSON.stringify(options.name)} is not valid`)
    for (const label of options.labels ?? []) {
      if (!LABEL_NAME.test(label))
        throw new Error(`label name ${JSON.stringify(label)} of ${options.name} is not valid`)
    }
    const made = make().start()
    this.#families.set(options.name, made)
    return made
  }
}

function signature(type: FamilyType, options: MetricOptions | HistogramOptions): string {
  const buckets = 'buckets' in options ? options.buckets : []
  return JSON.stringify([
    type,
    options.help,
    options.labels ?? [],
    options.stability ?? 'ALPHA',
    buckets,
  ])
}

abstract class Family<S> {
  abstract readonly type: FamilyType
  readonly options: MetricOptions
  readonly #labelNames: readonly string[]
  #root: Level<S> = new Map()
  #series: Series<S>[] = []

  constructor(options: MetricOptions) {
    this.options = options
    this.#labelNames = options.labels ?? []
  }

  /** As in Go, a family without labels shows its zero from the start. */
  start(): this {
    if (this.#labelNames.length === 0) this.state(NO_LABELS)
    return this
  }

  protected abstract newState(): S
  protected abstract exposeSeries(state: S, labelText: string, lines: string[]): void

  /** The series of these labels. All label names must be there, and no other. */
  protected state(labels: Labels): S {
    const names = this.#labelNames
    let found: Level<S> | Series<S> | undefined = this.#root
    for (let i = 0; i < names.length; i++) {
      const value = labels[names[i]!]
      if (value === undefined) throw this.#wrongLabels(labels)
      found = (found as Level<S> | undefined)?.get(value)
    }
    if (names.length === 0) found = this.#series[0]
    return found === undefined ? this.#newSeries(labels).state : (found as Series<S>).state
  }

  #newSeries(labels: Labels): Series<S> {
    const names = this.#labelNames
    if (Object.keys(labels).length !== names.length) throw this.#wrongLabels(labels)
    const series = { values: names.map((name) => labels[name]!), state: this.newState() }
    let level = this.#root
    for (const value of series.values.slice(0, -1)) {
      let next = level.get(value) as Level<S> | undefined
      if (next === undefined) level.set(value, (next = new Map()))
      level = next
    }
    level.set(series.values.at(-1) ?? '', series)
    this.#series.push(series)
    return series
  }

  clear(): void {
    this.forget()
    this.start()
  }

  /** Without the zero of a family without labels. */
  forget(): void {
    this.#root = new Map()
    this.#series = []
  }

  expose(lines: string[]): void {
    if (this.#series.length === 0) return
    const { name, help, stability = 'ALPHA' } = this.options
    lines.push(
      `# HELP ${name} ${escapeHelp(stability === 'NONE' ? help : `[${stability}] ${help}`)}`,
      `# TYPE ${name} ${this.type}`,
    )
    // The Go client sorts labels by name, and series by the values in that order.
    const order = this.#labelNames
      .map((label, index) => ({ label, index }))
      .sort((a, b) => compareStrings(a.label, b.label))
    const all = this.#series.map(({ values, state }) => ({
      values: order.map(({ index }) => values[index]!),
      state,
    }))
    all.sort((a, b) => compareLists(a.values, b.values))
    for (const { values, state } of all) {
      this.exposeSeries(
        state,
        order.map(({ label }, i) => `${label}="${escapeLabel(values[i]!)}"`).join(','),
        lines,
      )
    }
  }

  #wrongLabels(labels: Labels): Error {
    return new Error(
      `metric ${this.options.name} has the labels [${this.#labelNames.join(' ')}], not [${Object.keys(labels).join(' ')}]`,
    )
  }
}

interface Value {
  value: number
}

class CounterFamily extends Family<Value> implements Counter {
  readonly type = 'counter'

  increment(labels: Labels = NO_LABELS, by = 1): void {
    if (!(by >= 0)) throw new Error(`counter ${this.options.name} cannot decrease`)
    this.state(labels).value += by
  }

  protected override newState(): Value {
    return { value: 0 }
  }

  protected override exposeSeries(state: Value, labelText: string, lines: string[]): void {
    lines.push(sample(this.options.name, labelText, state.value))
  }
}

class GaugeFamily extends Family<Value> implements Gauge {
  readonly type = 'gauge'

  set(value: number, labels: Labels = NO_LABELS): void {
    this.state(labels).value = value
  }

  add(by: number, labels: Labels = NO_LABELS): void {
    this.state(labels).value += by
  }

  protected override newState(): Value {
    return { value: 0 }
  }

  protected override exposeSeries(state: Value, labelText: string, lines: string[]): void {
    lines.push(sample(this.options.name, labelText, state.value))
  }
}

interface Distribution {
  /** Per bucket, not cumulative; the last is what lies above all bounds. */
  readonly counts: number[]
  sum: number
}

class HistogramFamily extends Family<Distribution> implements Histogram {
  readonly type = 'histogram'
  readonly #bounds: readonly number[]

  constructor(options: HistogramOptions) {
    const bounds = options.buckets
    if (bounds.some((bound, i) => i > 0 && bound <= bounds[i - 1]!)) {
      throw new Error(`the buckets of ${options.name} do not rise`)
    }
    super(options)
    this.#bounds = bounds
  }

  observe(value: number, labels: Labels = NO_LABELS): void {
    this.#add(this.state(labels), value)
  }

  series(labels: Labels): Observer {
    const state = this.state(labels)
    return { observe: (value) => this.#add(state, value) }
  }

  #add(state: Distribution, value: number): void {
    state.counts[this.#bucketOf(value)]!++
    state.sum += value
  }

  initialize(labels: Labels): void {
    this.state(labels)
  }

  protected override newState(): Distribution {
    return { counts: Array.from({ length: this.#bounds.length + 1 }, () => 0), sum: 0 }
  }

  protected override exposeSeries(state: Distribution, labelText: string, lines: string[]): void {
    const { name } = this.options
    const prefix = labelText === '' ? '' : `${labelText},`
    let total = 0
    for (let i = 0; i <= this.#bounds.length; i++) {
      total += state.counts[i]!
      const bound = i === this.#bounds.length ? '+Inf' : goFloat(this.#bounds[i]!)
      lines.push(sample(`${name}_bucket`, `${prefix}le="${bound}"`, total))
    }
    lines.push(
      sample(`${name}_sum`, labelText, state.sum),
      sample(`${name}_count`, labelText, total),
    )
  }

  /** The first bucket whose upper bound is not below the value. NaN counts as above all. */
  #bucketOf(value: number): number {
    const bounds = this.#bounds
    return firstIndexWhere(bounds.length, (bucket) => bounds[bucket]! >= value)
  }
}

function sample(name: string, labelText: string, value: number): string {
  return labelText === '' ? `${name} ${goFloat(value)}` : `${name}{${labelText}} ${goFloat(value)}`
}

/** As strconv.FormatFloat(value, 'g', -1, 64): shortest digits; an exponent of two digits below 1e-04 and from 1e+06. */
export function goFloat(value: number): string {
  if (Number.isNaN(value)) return 'NaN'
  if (value === Infinity) return '+Inf'
  if (value === -Infinity) return '-Inf'
  if (value === 0) return Object.is(value, -0) ? '-0' : '0'
  const magnitude = Math.abs(value)
  if (magnitude >= 1e-4 && magnitude < 1e6) return String(value)
  const [digits, exponent] = value.toExponential().split('e') as [string, string]
  const size = exponent.slice(1).padStart(2, '0')
  return `${digits}e${exponent[0]}${size}`
}

function escapeHelp(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n')
}

function escapeLabel(text: string): string {
  return escapeHelp(text).replaceAll('"', '\\"')
}

function compareLists(a: readonly string[], b: readonly string[]): number {
  for (let i = 0; i < a.length; i++) {
    const order = compareStrings(a[i]!, b[i]!)
    if (order !== 0) return order
  }
  return 0
}
