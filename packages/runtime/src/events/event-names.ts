import type { Clock, RandomSource } from '@gyropilot/foundation'
import { integerBetween, uuid } from '@gyropilot/foundation'

const DNS_SUBDOMAIN = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/
const LONGEST_NAME = 253

/** Names events `<object>.<hex of Unix nanoseconds>`, or by a UUID where that is no name. */
export class EventNames {
  readonly #clock: Clock
  readonly #random: RandomSource
  readonly #withinMillisecond: bigint
  #lastNanoseconds = 0n

  constructor(clock: Clock, random: RandomSource) {
    this.#clock = clock
    this.#random = random
    this.#withinMillisecond = BigInt(integerBetween(random.fork('names'), 0, 1_000_000))
  }

  /**
   * The clock has milliseconds only: two events in one of them must not have one name. Events of other processes about the
   * same object neither, so each process has a place of its own within the millisecond.
   */
  next(objectName: string): string {
    const now = BigInt(Math.floor(this.#clock.nowMs())) * 1_000_000n + this.#withinMillisecond
    this.#lastNanoseconds = now > this.#lastNanoseconds ? now : this.#lastNanoseconds + 1n
    const name = `${objectName}.${this.#lastNanoseconds.toString(16)}`
    return name.length <= LONGEST_NAME && DNS_SUBDOMAIN.test(name) ? name : uuid(this.#random)
  }
}
