/** Calls of conversion webhooks, counted under kube-apiserver's names. Contract: docs/behaviour/api-server/requests.md, "Metrics". */
import type { Clock, Counter, Histogram, MetricsRegistry } from '@gyropilot/foundation'

const BUCKETS = [0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 30, 45, 60]
/** From a millisecond on, each the double of the one before. */
const CONVERSION_BUCKETS = Array.from({ length: 15 }, (_, index) => 2 ** index / 1000)
const LABELS = ['failure_type', 'result']

/** Empty: nothing failed. */
export type ConversionFailure =
  | ''
  | 'conversion_webhook_call_failure'
  | 'conversion_webhook_malformed_response_failure'
  | 'conversion_webhook_partial_response_failure'
  | 'conversion_webhook_invalid_converted_object_failure'

export class ConversionMetrics {
  readonly #clock: Clock
  readonly #requests: Counter
  readonly #durations: Histogram
  readonly #conversions: Histogram

  constructor(registry: MetricsRegistry, clock: Clock) {
    this.#clock = clock
    this.#requests = registry.counter({
      name: 'apiserver_conversion_webhook_request_total',
      help: 'Calls of conversion webhooks, by how they ended.',
      labels: LABELS,
    })
    this.#durations = registry.histogram({
      name: 'apiserver_conversion_webhook_duration_seconds',
      help: 'Time that calls of conversion webhooks took, by how they ended.',
      labels: LABELS,
      buckets: BUCKETS,
    })
    this.#conversions = registry.histogram({
      name: 'apiserver_crd_conversion_webhook_duration_seconds',
      help: 'Time that conversions between versions of custom resources took.',
      labels: ['crd_name', 'from_version', 'succeeded', 'to_version'],
      buckets: CONVERSION_BUCKETS,
    })
  }

  /** A conversion begins, of as many objects as there are; what is answered is told whether it went well. */
  converting(crdName: string, from: string, to: string): (succeeded: boolean) => void {
    const startMs = this.#clock.monotonicMs()
    return (succeeded) =>
      this.#conversions.observe((this.#clock.monotonicMs() - startMs) / 1000, {
        crd_name: crdName,
        from_version: from,
        succeeded: String(succeeded),
        to_version: to,
      })
  }

  /** A call begins; what is answered is told how it ended. */
  begun(): (failure: ConversionFailure) => void {
    const startMs = this.#clock.monotonicMs()
    return (failure) => {
      const labels = { failure_type: failure, result: failure === '' ? 'success' : 'failure' }
      this.#requests.increment(labels)
      this.#durations.observe((this.#clock.monotonicMs() - startMs) / 1000, labels)
    }
  }
}
