import type { Clock, Logger } from '@gyropilot/foundation'

const WORTH_LOGGING_MS = 50
const EXTRA_LONG_MS = 1000
/** Waits over a second are also told to those who run quietly, but not all of them. */
const QUIETER_LEVELS = [
  { verbosity: 2, leastIntervalMs: 1000 },
  { verbosity: 0, leastIntervalMs: 10_000 },
]

/** Tells of requests that waited for their own client's rate limit. */
export class ThrottleLog {
  readonly #clock: Clock
  readonly #logger: Logger
  readonly #lastMs = new Map<number, number>()

  constructor(clock: Clock, logger: Logger) {
    this.#clock = clock
    this.#logger = logger
  }

  waited(delayMs: number, verb: string, path: string): void {
    if (delayMs <= WORTH_LOGGING_MS) return
    const fields = {
      delay: `${Number((delayMs / 1000).toFixed(6))}s`,
      reason: 'client-side throttling, not priority and fairness',
      verb,
      URL: path,
    }
    const verbosity = this.#verbosityFor(delayMs)
    this.#logger.verbosity(verbosity).info('Waited before sending request', fields)
  }

  /** The lowest verbosity whose last line is long enough ago, else 3. */
  #verbosityFor(delayMs: number): number {
    if (delayMs <= EXTRA_LONG_MS) return 3
    const nowMs = this.#clock.monotonicMs()
    let chosen = 3
    for (const { verbosity, leastIntervalMs } of QUIETER_LEVELS) {
      if (nowMs - (this.#lastMs.get(verbosity) ?? -Infinity) < leastIntervalMs) continue
      this.#lastMs.set(verbosity, nowMs)
      chosen = verbosity
    }
    return chosen
  }
}
