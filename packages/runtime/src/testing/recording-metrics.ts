import type {
  Counter,
  Gauge,
  Histogram,
  HistogramOptions,
  Labels,
  MetricOptions,
  MetricsRegistry,
} from '@gyropilot/foundation'

/** Keeps the last value of each series, and every observation of histograms. Labels that the family does not have are refused. */
export class RecordingMetrics implements MetricsRegistry {
  readonly families = new Map<string, MetricOptions | HistogramOptions>()
  readonly #values = new Map<string, number>()
  readonly #observations = new Map<string, number[]>()
  readonly #collectors: (() => void)[] = []

  counter(options: MetricOptions): Counter {
    this.families.set(options.name, options)
    return { increment: (labels, by = 1) => this.#add(options.name, labels, by) }
  }

  gauge(options: MetricOptions): Gauge {
    this.families.set(options.name, options)
    return {
      set: (value, labels) => void this.#values.set(this.#series(options.name, labels), value),
      add: (by, labels) => this.#add(options.name, labels, by),
      clear: () => this.#clear(options.name),
    }
  }

  histogram(options: HistogramOptions): Histogram {
    this.families.set(options.name, options)
    const observe: Histogram['observe'] = (value, labels) => {
      const series = this.#series(options.name, labels)
      const known = this.#observations.get(series)
      if (known === undefined) this.#observations.set(series, [value])
      else known.push(value)
    }
    return {
      observe,
      initialize() {},
      series: (labels) => ({ observe: (value) => observe(value, labels) }),
    }
  }

  onCollect(collect: () => void): void {
    this.#collectors.push(collect)
  }

  clear(): void {
    this.#values.clear()
    this.#observations.clear()
  }

  /** One line per series, as names and values only. */
  expose(): string {
    for (const collect of this.#collectors) collect()
    return [...this.#values].map(([series, value]) => `${series} ${value}\n`).join('')
  }

  /** The value of a counter or gauge after collection; undefined for a series that does not exist. */
  value(name: string, labels?: Labels): number | undefined {
    this.expose()
    return this.#values.get(seriesOf(name, labels))
  }

  observed(name: string, labels?: Labels): readonly number[] {
    return this.#observations.get(seriesOf(name, labels)) ?? []
  }

  #clear(name: string): void {
    for (const series of this.#values.keys())
      if (series.startsWith(`${name}{`)) this.#values.delete(series)
  }

  /** What a registry would drop must not be tested as if it were shown. */
  #series(name: string, labels: Labels = {}): string {
    const declared = this.families.get(name)?.labels ?? []
    const unknown = Object.keys(labels).find((label) => !declared.includes(label))
    if (unknown !== undefined) throw new Error(`${name} has no label ${unknown}`)
    return seriesOf(name, labels)
  }

  #add(name: string, labels: Labels | undefined, by: number): void {
    const series = this.#series(name, labels)
    this.#values.set(series, (this.#values.get(series) ?? 0) + by)
  }
}

function seriesOf(name: string, labels: Labels = {}): string {
  return `${name}{${Object.entries(labels)
    .map(([label, value]) => `${label}="${value}"`)
    .sort()
    .join(',')}}`
}
