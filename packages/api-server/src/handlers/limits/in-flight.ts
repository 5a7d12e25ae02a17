/** Bounds on how much is being worked on at once. Contract: docs/behaviour/api-server/requests.md, "Timeouts and limits". */
import type { UserInfo } from '../../contracts.ts'
import { text, type Answer } from '../../http/answer.ts'

export interface InFlightLimits {
  readonly reading: number
  readonly mutating: number
}

export const IN_FLIGHT_LIMITS: InFlightLimits = { reading: 400, mutating: 200 }

export class InFlight {
  readonly #limits: InFlightLimits
  #reading = 0
  #mutating = 0

  constructor(limits: InFlightLimits) {
    this.#limits = limits
  }

  get reading(): number {
    return this.#reading
  }

  get mutating(): number {
    return this.#mutating
  }

  /** False: too many, unless the user is one of those who always get an answer. After true, call `leave` once. */
  enter(mutating: boolean, { groups }: UserInfo): boolean {
    const { reading, mutating: most } = this.#limits
    const full = mutating ? this.#mutating >= most : this.#reading >= reading
    if (full && !groups.includes('system:masters')) return false
    if (mutating) this.#mutating++
    else this.#reading++
    return true
  }

  leave(mutating: boolean): void {
    if (mutating) this.#mutating--
    else this.#reading--
  }
}

export function tooManyRequests(): Answer {
  return text(429, 'Too many requests, please try again later.\n', {
    'retry-after': '1',
    'x-content-type-options': 'nosniff',
  })
}
