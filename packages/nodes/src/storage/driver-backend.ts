/** The storage behind the driver: it takes its time, fails when it is told to, and keeps what is written. */
import { sleep } from '@gyropilot/foundation'
import type { Clock } from '@gyropilot/foundation'
import { scriptOf } from './script.ts'
import type { StorageOperation, Values } from './script.ts'

/** The driver refused: `message` reads as a driver's answer. */
export class OperationRefused extends Error {}

export class DriverBackend {
  readonly #clock: Clock
  /** Scripted failures so far, by operation and object. */
  readonly #failures = new Map<string, number>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** `id`: of the object that it is done for. Rejects with OperationRefused. */
  async perform(
    operation: StorageOperation,
    id: string,
    values: Values,
    signal: AbortSignal,
  ): Promise<void> {
    const { durationMs, error, failures } = scriptOf(operation, values)
    if (durationMs > 0) await sleep(this.#clock, durationMs, signal)
    const key = `${operation} ${id}`
    const before = this.#failures.get(key) ?? 0
    if (error === undefined || before >= failures) return
    this.#failures.set(key, before + 1)
    throw new OperationRefused(error)
  }
}
