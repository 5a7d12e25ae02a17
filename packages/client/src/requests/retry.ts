import { sleep } from '@gyropilot/foundation'
import type { Clock, RandomSource } from '@gyropilot/foundation'
import { isConflict } from '../answers/status-error.ts'

/** A growing delay. `steps` counts calls of `step` that still grow it; `capMs` of 0 means no cap. */
export interface Backoff {
  readonly durationMs: number
  /** 0: unchanged. */
  readonly factor: number
  /** Share of the delay that is added at random; 0: none. */
  readonly jitter: number
  readonly steps: number
  readonly capMs?: number
}

/** For conflicts with other writers of the same object: 4 waits of about 10 ms. */
export const defaultRetry: Backoff = { steps: 5, durationMs: 10, factor: 1, jitter: 0.1 }
/** For conflicts with a controller that is busy on the same object: about 10, 50, 250 ms. */
export const defaultBackoff: Backoff = { steps: 4, durationMs: 10, factor: 5, jitter: 0.1 }

/** The delay now and the back-off afterwards. Reaching the cap also ends the steps. */
export function backoffStep(
  backoff: Backoff,
  random: RandomSource,
): { readonly delayMs: number; readonly next: Backoff } {
  const jittered = (durationMs: number): number =>
    backoff.jitter > 0 ? durationMs * (1 + random.next() * backoff.jitter) : durationMs
  if (backoff.steps < 1) return { delayMs: jittered(backoff.durationMs), next: backoff }
  let durationMs = backoff.factor === 0 ? backoff.durationMs : backoff.durationMs * backoff.factor
  let steps = backoff.steps - 1
  const capMs = backoff.capMs ?? 0
  if (capMs > 0 && durationMs > capMs) {
    durationMs = capMs
    steps = 0
  }
  return { delayMs: jittered(backoff.durationMs), next: { ...backoff, durationMs, steps } }
}

/** What waits run on, and what ends them. */
export interface RetryContext {
  readonly clock: Clock
  readonly random: RandomSource
  readonly signal?: AbortSignal
}

/** The condition did not hold within the attempts allowed; `missing` says what it was that did not. */
export class WaitTimeoutError extends Error {
  constructor(options?: ErrorOptions, missing?: string) {
    const text = 'timed out waiting for the condition'
    super(missing === undefined ? text : `${text}: ${missing}`, options)
    this.name = 'WaitTimeoutError'
  }
}

/** Calls `condition` up to `backoff.steps` times, with growing waits between, until it answers true. */
export async function exponentialBackoff(
  context: RetryContext,
  backoff: Backoff,
  condition: () => boolean | Promise<boolean>,
): Promise<void> {
  let current = backoff
  while (current.steps > 0) {
    if (await condition()) return
    if (current.steps === 1) break
    const { delayMs, next } = backoffStep(current, context.random)
    await sleep(context.clock, delayMs, context.signal)
    current = next
  }
  throw new WaitTimeoutError()
}

/** Calls `attempt` again on errors that `retriable` accepts; after the last step the last error is thrown. */
export async function retryOnError<T>(
  context: RetryContext,
  backoff: Backoff,
  retriable: (error: unknown) => boolean,
  attempt: () => Promise<T>,
): Promise<T> {
  let result: { readonly value: T } | undefined
  let lastError: unknown
  try {
    await exponentialBackoff(context, backoff, async () => {
      try {
        result = { value: await attempt() }
        return true
      } catch (error) {
        if (!retriable(error)) throw error
        lastError = error
        return false
      }
    })
  } catch (error) {
    if (error instanceof WaitTimeoutError && lastError !== undefined) throw lastError
    throw error
  }
  return result!.value
}

/** `attempt` must read the object anew each time: a copy from a cache conflicts again. */
export function retryOnConflict<T>(
  context: RetryContext,
  attempt: () => Promise<T>,
  backoff: Backoff = defaultRetry,
): Promise<T> {
  return retryOnError(context, backoff, isConflict, attempt)
}
