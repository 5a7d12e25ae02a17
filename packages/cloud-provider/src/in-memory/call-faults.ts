import { sleep } from '@gyropilot/foundation'
import type { Clock } from '@gyropilot/foundation'

/** The name of a call, `ensureLoadBalancer`, or `*` for all of them. */
export type CallName = string

export interface CallRecord {
  readonly name: string
  readonly arguments: readonly unknown[]
}

interface Failure {
  readonly error: () => unknown
  left: number
}

/** How long a call into a partition waits before it gives up, as a client of a cloud does. */
const PARTITION_TIMEOUT_MS = 10_000

/** What becomes of calls to a cloud on their way there and back: slow, refused, lost, cut off. Starts without any fault. */
export class CallFaults {
  readonly #clock: Clock
  readonly #delaysMs = new Map<CallName, number>()
  readonly #failures = new Map<CallName, Failure>()
  readonly #lost = new Map<CallName, Failure>()
  readonly #calls: CallRecord[] = []
  readonly #keepsCalls: boolean
  #isPartitioned = false

  /** `keepsCalls`: `calls` tells them all; false for clouds that live long. Default true. */
  constructor(clock: Clock, { keepsCalls = true }: { readonly keepsCalls?: boolean } = {}) {
    this.#clock = clock
    this.#keepsCalls = keepsCalls
  }

  /** All calls that were made, those that failed included, in their order. */
  get calls(): readonly CallRecord[] {
    return this.#calls
  }

  /** How often this call was made. */
  countOf(name: string): number {
    return this.#calls.filter((call) => call.name === name).length
  }

  forgetCalls(): void {
    this.#calls.length = 0
  }

  /** Calls take this long from now on; 0 is at once. */
  slow(name: CallName, delayMs: number): void {
    this.#delaysMs.set(name, delayMs)
  }

  /** The next `times` calls are refused and do nothing. */
  fail(name: CallName, error: unknown, times = Infinity): void {
    this.#failures.set(name, { error: () => error, left: times })
  }

  /** The next `times` calls do their work, and the answer is lost on the way. */
  loseAnswers(name: CallName, times = Infinity): void {
    const error = (): Error => new Error('connection reset by peer')
    this.#lost.set(name, { error, left: times })
  }

  /** Nothing gets through until `clear`: calls time out, those under way too. */
  partition(): void {
    this.#isPartitioned = true
  }

  /** Ends all faults. */
  clear(): void {
    this.#isPartitioned = false
    this.#delaysMs.clear()
    this.#failures.clear()
    this.#lost.clear()
  }

  /** Performs a call through whatever stands in its way. */
  async through<T>(
    name: string,
    args: readonly unknown[],
    signal: AbortSignal,
    work: () => T | Promise<T>,
  ): Promise<T> {
    if (this.#keepsCalls) this.#calls.push({ name, arguments: args })
    signal.throwIfAborted()
    const delayMs = this.#delaysMs.get(name) ?? this.#delaysMs.get('*') ?? 0
    if (delayMs > 0) await sleep(this.#clock, delayMs, signal)
    if (this.#isPartitioned) {
      await sleep(this.#clock, PARTITION_TIMEOUT_MS, signal)
      throw new Error(`${name}: i/o timeout`)
    }
    const refused = spend(this.#failures, name)
    if (refused !== undefined) throw refused.error()
    const result = await work()
    const lost = spend(this.#lost, name)
    if (lost !== undefined) throw lost.error()
    return result
  }
}

function spend(failures: ReadonlyMap<CallName, Failure>, name: string): Failure | undefined {
  const failure = [failures.get(name), failures.get('*')].find(
    (candidate) => candidate !== undefined && candidate.left > 0,
  )
  if (failure !== undefined) failure.left--
  return failure
}
