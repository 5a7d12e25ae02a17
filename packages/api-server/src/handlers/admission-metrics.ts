/** How long admission takes, under kube-apiserver's names. Contract: docs/behaviour/api-server/requests.md, "Metrics". */
import type { Clock, Histogram, Labels, MetricsRegistry, Observer } from '@gyropilot/foundation'
import type { AdmissionRequest } from '../contracts.ts'

const BUCKETS = [0.005, 0.025, 0.1, 0.5, 1, 2.5]

/** Those that change, those that judge. */
type Step = 'admit' | 'validate'

type Operation = AdmissionRequest['operation']

/** Where the parts of admission are timed. */
export class AdmissionMetrics {
  readonly #clock: Clock
  readonly #steps: Histogram
  readonly #plugins: Histogram

  constructor(registry: MetricsRegistry, clock: Clock) {
    this.#clock = clock
    this.#steps = registry.histogram({
      name: 'apiserver_admission_step_admission_duration_seconds',
      help: 'Time that all plug-ins of one step took for one request.',
      labels: ['type', 'operation', 'rejected'],
      buckets: BUCKETS,
      stability: 'STABLE',
    })
    this.#plugins = registry.histogram({
      name: 'apiserver_admission_controller_admission_duration_seconds',
      help: 'Time that one plug-in took for one request.',
      labels: ['name', 'type', 'operation', 'rejected'],
      buckets: BUCKETS,
      stability: 'STABLE',
    })
  }

  step(type: Step): AdmissionTimer {
    return new AdmissionTimer(this.#clock, this.#steps, { type })
  }

  plugin(name: string, type: Step): AdmissionTimer {
    return new AdmissionTimer(this.#clock, this.#plugins, { name, type })
  }
}

/** Two dozen of them run for every write: each finds its series once. */
export class AdmissionTimer {
  readonly #clock: Clock
  readonly #histogram: Histogram
  readonly #labels: Labels
  readonly #accepted = new Map<Operation, Observer>()

  constructor(clock: Clock, histogram: Histogram, labels: Labels) {
    this.#clock = clock
    this.#histogram = histogram
    this.#labels = labels
  }

  /** Remembers how long `work` took and whether it refused. What is done at once stays so: most plug-ins wait for nothing. */
  time<R>(operation: Operation, work: () => R): R {
    const startMs = this.#clock.monotonicMs()
    try {
      const result = work()
      if (result instanceof Promise)
        result.then(
          () => this.#accept(operation, startMs),
          () => this.#refuse(operation, startMs),
        )
      else this.#accept(operation, startMs)
      return result
    } catch (error) {
      this.#refuse(operation, startMs)
      throw error
    }
  }

  #accept(operation: Operation, startMs: number): void {
    let series = this.#accepted.get(operation)
    if (series === undefined) {
      series = this.#histogram.series({ ...this.#labels, operation, rejected: 'false' })
      this.#accepted.set(operation, series)
    }
    series.observe(this.#secondsSince(startMs))
  }

  #refuse(operation: Operation, startMs: number): void {
    const labels = { ...this.#labels, operation, rejected: 'true' }
    this.#histogram.observe(this.#secondsSince(startMs), labels)
  }

  #secondsSince(startMs: number): number {
    return (this.#clock.monotonicMs() - startMs) / 1000
  }
}
