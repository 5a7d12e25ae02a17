/**
 * Metrics under Kubernetes' names, exposed as Prometheus text (format 0.0.4). A registry is made in a binary and handed
 * down. Asking twice for the same name gives the same family; asking with another type, help or label set is a
 * programming error and throws.
 */
export type Labels = Readonly<Record<string, string>>

/** A sum that only grows, one series for each set of label values. */
export interface Counter {
  increment(labels?: Labels, by?: number): void
}

/** A value that goes up and down, one series for each set of label values. */
export interface Gauge {
  set(value: number, labels?: Labels): void
  add(by: number, labels?: Labels): void
  /** Takes every series away: what is set afterwards is all there is. */
  clear(): void
}

/** Counts of observed values by bucket, one series for each set of label values. */
export interface Histogram {
  observe(value: number, labels?: Labels): void
  /** Shows the series of these labels at 0 before anything was observed. */
  initialize(labels: Labels): void
  /** The series of these labels, shown from now on: for what is observed so often that looking for it each time would tell. */
  series(labels: Labels): Observer
}

/** One series of a histogram. */
export interface Observer {
  observe(value: number): void
}

/**
 * What a metric's users may rely on, as Kubernetes names it in the help text. NONE: not a name of Kubernetes' own; its help text has
 * no level before it.
 */
export type StabilityLevel = 'ALPHA' | 'BETA' | 'STABLE' | 'INTERNAL' | 'NONE'

/** A metric as it is exposed: name, help text, labels. */
export interface MetricOptions {
  readonly name: string
  readonly help: string
  /** Label names, in the order of the exposition. */
  readonly labels?: readonly string[]
  /** Shown as `[ALPHA] ` in front of the help text, as Kubernetes does; NONE is not shown. Default: ALPHA. */
  readonly stability?: StabilityLevel
}

/** A histogram: a metric with its buckets. */
export interface HistogramOptions extends MetricOptions {
  /** Upper bounds in rising order, without +Inf. */
  readonly buckets: readonly number[]
}

/** Where metrics are made. A name that is known gives the same metric again; with other options it is refused. */
export interface MetricsRegistry {
  counter(options: MetricOptions): Counter
  gauge(options: MetricOptions): Gauge
  histogram(options: HistogramOptions): Histogram
  /** Called before each exposition, to set gauges that are computed on demand. */
  onCollect(collect: () => void): void
  /** Takes every series of every metric away, as if nothing had been counted yet. */
  clear(): void
  /** The exposition: families sorted by name, series by label values. */
  expose(): string
}

/** Counts nothing and exposes nothing. */
export const silentMetrics: MetricsRegistry = {
  counter: () => ({ increment() {} }),
  gauge: () => ({ set() {}, add() {}, clear() {} }),
  histogram: () => ({ observe() {}, initialize() {}, series: () => ({ observe() {} }) }),
  onCollect() {},
  clear() {},
  expose: () => '',
}
