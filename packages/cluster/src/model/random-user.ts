/** A user with a seed: makes things, changes them, breaks them, and at last puts the nodes back in order. */
import type { RandomSource } from '@gyropilot/foundation'
import { integerBetween } from '@gyropilot/foundation'
import type { SimulatedCluster } from '../simulated/simulated-cluster.ts'
import { operations } from './operations.ts'
import type { Hand } from './operations.ts'

export interface RandomUserOptions {
  /** Mean pause between two operations, in virtual milliseconds. Default 5 s. */
  readonly meanPauseMs?: number
  /** Names of operations; default all. */
  readonly only?: readonly string[]
}

export class RandomUser {
  /** How often each operation was done, refused ones left out. */
  readonly done = new Map<string, number>()
  refused = 0
  readonly #cluster: SimulatedCluster
  readonly #random: RandomSource
  readonly #meanPauseMs: number
  readonly #operations: typeof operations
  readonly #weights: number
  #names = 0

  constructor(cluster: SimulatedCluster, options: RandomUserOptions = {}) {
    this.#cluster = cluster
    this.#random = cluster.random.fork('user')
    this.#meanPauseMs = options.meanPauseMs ?? 5_000
    const { only } = options
    this.#operations = operations.filter(({ name }) => only?.includes(name) ?? true)
    this.#weights = this.#operations.reduce((sum, { weight }) => sum + weight, 0)
  }

  /** Works for this much virtual time. `onStep` is told after each operation. */
  async work(forMs: number, onStep?: () => void): Promise<void> {
    const untilMs = this.#cluster.virtualMs + forMs
    while (this.#cluster.virtualMs < untilMs) {
      await this.#act()
      onStep?.()
      const pauseMs = -Math.log(1 - this.#random.next()) * this.#meanPauseMs
      await this.#cluster.advance(Math.min(pauseMs, untilMs - this.#cluster.virtualMs))
    }
  }

  /** Nodes take pods again, so that everything can come to its end. */
  async tidyUp(): Promise<void> {
    await operations.find(({ name }) => name === 'uncordon nodes')!.act(this.#hand())
  }

  async #act(): Promise<void> {
    let draw = this.#random.next() * this.#weights
    const operation = this.#operations.find(({ weight }) => (draw -= weight) < 0)!
    try {
      const acted = await operation.act(this.#hand())
      if (!acted) return
      this.done.set(operation.name, (this.done.get(operation.name) ?? 0) + 1)
      this.#cluster.history.line(`user did: ${operation.name}`)
    } catch (error) {
      // A user is refused now and then: the namespace is going, somebody else was faster.
      this.refused++
      this.#cluster.history.line(`user was refused: ${operation.name}: ${String(error)}`)
    }
  }

  #hand(): Hand {
    const cluster = this.#cluster
    const random = this.#random
    return {
      cluster,
      random,
      pick: (values) => values[integerBetween(random, 0, values.length)],
      number: (least, limit) => integerBetween(random, least, limit),
      fresh: (base) => `${base}-${this.#names++}`,
    }
  }
}
