/** A user with a seed: makes things, changes them, breaks them, and at last puts the nodes back in order. */
import { StatusError, TransportError } from '@gyropilot/client'
import type { RandomSource } from '@gyropilot/foundation'
import { integerBetween } from '@gyropilot/foundation'
import type { ScheduledOperation } from '../faults/schedule.ts'
import type { SimulatedCluster } from '../simulated/simulated-cluster.ts'
import { cloudOperations, operations } from './operations.ts'
import type { Hand, Operation } from './operation.ts'
import { arePodGroupsServed, podGroupOperations } from './pod-group-operations.ts'

interface RandomUserOptions {
  /** Mean pause between two operations, in virtual milliseconds. Default 5 s. */
  readonly meanPauseMs?: number | undefined
  /** Names of operations; default all. */
  readonly only?: readonly string[]
  /** Work ends as soon as this holds. */
  readonly isOver?: () => boolean
}

/** Works on a simulated cluster as people do: creates, scales, edits and deletes, at random by the cluster's seed. */
export class RandomUser {
  /** How often each operation was done, refused ones left out. */
  readonly done = new Map<string, number>()
  refused = 0
  readonly #cluster: SimulatedCluster
  readonly #random: RandomSource
  readonly #meanPauseMs: number
  readonly #known: typeof operations
  readonly #operations: typeof operations
  readonly #weights: number
  readonly #isOver: () => boolean
  readonly #schedule: ScheduledOperation[] = []

  constructor(cluster: SimulatedCluster, options: RandomUserOptions = {}) {
    this.#cluster = cluster
    this.#random = cluster.random.fork('user')
    this.#meanPauseMs = options.meanPauseMs ?? 5_000
    const { only, isOver = () => false } = options
    this.#isOver = isOver
    this.#known = [
      ...operations,
      ...(cluster.cloud === undefined ? [] : cloudOperations),
      ...(arePodGroupsServed(cluster) ? podGroupOperations : []),
    ]
    this.#operations = this.#known.filter(({ name }) => only?.includes(name) ?? true)
    this.#weights = this.#operations.reduce((sum, { weight }) => sum + weight, 0)
  }

  /** What was done so far, refused operations too. */
  get schedule(): readonly ScheduledOperation[] {
    return this.#schedule
  }

  /** Works for this much virtual time. */
  async work(forMs: number): Promise<void> {
    const untilMs = this.#cluster.virtualMs + forMs
    for (let step = 0; this.#cluster.virtualMs < untilMs && !this.#isOver(); step++) {
      const random = this.#random.fork(`step/${step}`)
      let draw = random.next() * this.#weights
      const operation = this.#operations.find(({ weight }) => (draw -= weight) < 0)!
      await this.#act(operation, step, random.fork('details'))
      const pauseMs = -Math.log(1 - random.next()) * this.#meanPauseMs
      await this.#waitUntil(Math.min(this.#cluster.virtualMs + pauseMs, untilMs))
    }
  }

  /** Does what a schedule says, when it says so. */
  async follow(schedule: readonly ScheduledOperation[], forMs: number): Promise<void> {
    const untilMs = this.#cluster.virtualMs + forMs
    for (const { atMs, step, operation: name } of schedule) {
      await this.#waitUntil(atMs)
      if (this.#isOver()) return
      const operation = this.#known.find((known) => known.name === name)
      if (operation === undefined) throw new Error(`no operation ${JSON.stringify(name)}`)
      await this.#act(operation, step, this.#random.fork(`step/${step}`).fork('details'))
    }
    await this.#waitUntil(untilMs)
  }

  async #waitUntil(atMs: number): Promise<void> {
    const { clock, virtualMs } = this.#cluster
    if (atMs > virtualMs) await clock.advanceUntil(this.#isOver, atMs - virtualMs)
  }

  /** Nodes take pods again, so that everything can come to its end. */
  async tidyUp(): Promise<void> {
    for (const operation of this.#known.filter(({ tidies }) => tidies))
      await operation.act(this.#hand(-1, this.#random))
  }

  async #act(operation: Operation, step: number, random: RandomSource): Promise<void> {
    const atMs = this.#cluster.virtualMs
    const { name } = operation
    try {
      const acted = await operation.act(this.#hand(step, random))
      if (!acted) return
      this.#schedule.push({ atMs, step, operation: name })
      this.done.set(name, (this.done.get(name) ?? 0) + 1)
      this.#cluster.history.line(`user did: ${name}`)
    } catch (error) {
      if (!isAnswer(error)) throw error
      // A user is refused now and then: the namespace is going, somebody else was faster.
      this.#schedule.push({ atMs, step, operation: name })
      this.refused++
      this.#cluster.history.line(`user was refused: ${name}: ${String(error)}`)
    }
  }

  /** What a step decides depends on nothing but the seed, its number and the world that it meets. */
  #hand(step: number, random: RandomSource): Hand {
    let names = 0
    return {
      cluster: this.#cluster,
      random,
      pick: (values) => values[integerBetween(random, 0, values.length)],
      number: (least, limit) => integerBetween(random, least, limit),
      fresh: (base) => `${base}-${step}${names++ === 0 ? '' : `-${names}`}`,
    }
  }
}

/** What a server may say to a user, or a disturbed network. Anything else is a defect, of the server or of the operation. */
function isAnswer(error: unknown): boolean {
  if (error instanceof TransportError) return true
  if (!(error instanceof StatusError)) return false
  return error.code !== 500 || /webhook|etcdserver: /.test(error.message)
}
