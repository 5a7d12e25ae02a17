/** Loops that wait, in the manner of Kubernetes' wait package. Contract: rest-client.md, "Retry and wait helpers". */
import { anySignal, sleep, withDeadline } from '@gyropilot/foundation'
import { WaitTimeoutError, backoffStep } from './requests/retry.ts'
import type { Backoff, RetryContext } from './requests/retry.ts'

/** `durationMs * (1 + rand[0, factor))`; a factor of 0 or less counts as 1. */
export function jittered(
  context: Pick<RetryContext, 'random'>,
  durationMs: number,
  factor: number,
): number {
  return durationMs * (1 + context.random.next() * (factor > 0 ? factor : 1))
}

/** Runs `work`, waits `periodMs` (and up to `jitterFactor` times more) after its end, and so on until the signal aborts. */
export async function until(
  context: RetryContext & { readonly signal: AbortSignal },
  periodMs: number,
  work: () => void | Promise<void>,
  jitterFactor = 0,
): Promise<void> {
  const { clock, signal } = context
  while (!signal.aborted) {
    await work()
    if (signal.aborted) return
    const delayMs = jitterFactor > 0 ? jittered(context, periodMs, jitterFactor) : periodMs
    await sleep(clock, delayMs, signal).catch(() => {})
  }
}

/** Of `poll`. */
export interface PollOptions {
  readonly intervalMs: number
  /** 0: none. */
  readonly timeoutMs: number
  /** Ask at once; else the first interval is waited for. */
  readonly immediate?: boolean
}

/**
 * Asks `condition` every interval until it answers true. At the timeout the signal that the condition was given aborts,
 * and WaitTimeoutError is thrown; what the condition throws is passed on.
 */
export async function poll(
  context: RetryContext,
  options: PollOptions,
  condition: (signal: AbortSignal) => boolean | Promise<boolean>,
): Promise<void> {
  const { clock } = context
  const scope =
    options.timeoutMs > 0
      ? withDeadline(clock, options.timeoutMs, context.signal)
      : anySignal([context.signal])
  try {
    if (options.immediate && (await condition(scope.signal))) return
    for (;;) {
      await sleep(clock, options.intervalMs, scope.signal)
      if (await condition(scope.signal)) return
    }
  } catch (error) {
    const byTimeout = scope.signal.aborted && !(context.signal?.aborted ?? false)
    throw byTimeout && error === scope.signal.reason
      ? new WaitTimeoutError({ cause: error })
      : error
  } finally {
    scope.dispose()
  }
}

/**
 * Delays that start over when more than `resetMs` passed since the last such check: since the sequence last started over,
 * not since it was last used, so a permanent outage cycles.
 */
export class ResettingBackoff {
  readonly #context: Pick<RetryContext, 'clock' | 'random'>
  readonly #initial: Backoff
  readonly #resetMs: number
  #current: Backoff
  #startedMs: number

  constructor(context: Pick<RetryContext, 'clock' | 'random'>, initial: Backoff, resetMs: number) {
    this.#context = context
    this.#initial = initial
    this.#resetMs = resetMs
    this.#current = initial
    this.#startedMs = context.clock.monotonicMs()
  }

  nextDelayMs(): number {
    const nowMs = this.#context.clock.monotonicMs()
    if (nowMs - this.#startedMs > this.#resetMs) {
      this.#current = this.#initial
      this.#startedMs = nowMs
    }
    const { delayMs, next } = backoffStep(this.#current, this.#context.random)
    this.#current = next
    return delayMs
  }
}
