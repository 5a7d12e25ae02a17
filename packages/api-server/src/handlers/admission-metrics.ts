/** How long admission takes, under kube-apiserver's names. Contract: docs/behaviour/api-server/requests.md, "Metrics". */
import type { Clock, Histogram, MetricsRegistry } from '@gyropilot/foundation'
import type { AdmissionRequest } from '../contracts.ts'

const BUCKETS = [0.005, 0.025, 0.1, 0.5, 1, 2.5]

/** Those that change, those that judge. */
type Step = 'admit' | 'validate'

/** Runs a part of admission, and remembers how long it took and whether it refused. */
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

  step<T>(type: Step, { operation }: AdmissionRequest, work: () => Promise<T>): Promise<T> {
    return this.#measured(this.#steps, { type, operation }, work)
  }

  plugin<T>(
    name: string,
    type: Step,
    { operation }: AdmissionRequest,
    work: () => T | Promise<T>,
  ): T | Promise<T> {
    return this.#measured(this.#plugins, { name, type, operation }, work)
  }

  /** What is done at once stays so: most plug-ins wait for nothing. */
  #measured<R>(histogram: Histogram, labels: Readonly<Record<string, string>>, work: () => R): R {
    const startMs = this.#clock.monotonicMs()
    const done = (rejected: boolean): void =>
      histogram.observe((this.#clock.monotonicMs() - startMs) / 1000, {
        ...labels,
        rejected: String(rejected),
      })
    try {
      const result = work()
      if (result instanceof Promise)
        result.then(
          () => done(false),
          () => done(true),
        )
      else done(false)
      return result
    } catch (error) {
      done(true)
      throw error
    }
  }
}
