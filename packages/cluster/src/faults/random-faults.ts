/** Faults at seeded random moments, each kind from its own stream: switching one off does not move the others' dice. */
import type { RandomSource, Timer } from '@gyropilot/foundation'
import { integerBetween } from '@gyropilot/foundation'
import { isWrite } from '../simulated/request-facts.ts'
import type { RequestFacts } from '../simulated/request-facts.ts'
import type { SimulatedCluster } from '../simulated/simulated-cluster.ts'
import type { SimulatedProcess } from '../simulated/process.ts'
import type { EventFacts, EventFault, FaultInjector, RequestFault } from './injector.ts'
import { FAULT_KINDS } from './rates.ts'
import type { FaultKind, FaultRates } from './rates.ts'

const MINUTE_MS = 60_000
const REFUSALS = [409, 429, 500, 503] as const

export class RandomFaults implements FaultInjector {
  readonly #cluster: SimulatedCluster
  readonly #rates: FaultRates
  readonly #random: Readonly<Record<FaultKind, RandomSource>>
  readonly #timers = new Map<FaultKind, Timer>()
  #on = false

  constructor(cluster: SimulatedCluster, rates: FaultRates) {
    this.#cluster = cluster
    this.#rates = rates
    const random = cluster.random.fork('faults')
    this.#random = Object.fromEntries(
      FAULT_KINDS.map((kind) => [kind, random.fork(kind)]),
    ) as Record<FaultKind, RandomSource>
  }

  start(): void {
    this.#on = true
    this.#cluster.injector = this
    for (const kind of FAULT_KINDS) {
      const strike = this.#timed(kind)
      if (strike !== undefined && this.#rates[kind] > 0) this.#schedule(kind, strike)
    }
  }

  /** Nothing more is begun; what was begun ends in its time. */
  stop(): void {
    this.#on = false
    for (const timer of this.#timers.values()) timer.cancel()
  }

  onRequest(facts: RequestFacts): RequestFault | undefined {
    if (!this.#on) return undefined
    if (isWrite(facts) && mayCrash(facts.process) && this.#hits('crash'))
      return { kind: 'crash', when: this.#coin('crash') ? 'before' : 'after' }
    if (this.#hits('reset')) return { kind: 'reset', applied: this.#coin('reset') }
    if (this.#hits('timeout'))
      return {
        kind: 'timeout',
        applied: this.#coin('timeout'),
        afterMs: integerBetween(this.#random.timeout, 1_000, 30_000),
      }
    if (this.#hits('refusal')) {
      const code = this.#pick('refusal', REFUSALS)
      const mayConflict = facts.verb === 'update' || facts.verb === 'patch'
      return { kind: 'refusal', code: code === 409 && !mayConflict ? 500 : code }
    }
    if ((facts.verb === 'get' || facts.verb === 'list') && this.#hits('stale'))
      return { kind: 'stale', behind: integerBetween(this.#random.stale, 1, 6) }
    if (this.#hits('slow'))
      return { kind: 'delay', byMs: integerBetween(this.#random.slow, 10, 5_000) }
    return undefined
  }

  onEvent(_facts: EventFacts): EventFault | undefined {
    if (!this.#on) return undefined
    if (this.#hits('gap'))
      return { kind: 'gap', forMs: integerBetween(this.#random.gap, 100, 10_000) }
    if (this.#hits('break')) return { kind: 'break' }
    if (this.#hits('repeat')) return { kind: 'repeat' }
    if (this.#hits('lag'))
      return { kind: 'delay', byMs: integerBetween(this.#random.lag, 10, 10_000) }
    return undefined
  }

  #schedule(kind: FaultKind, strike: (random: RandomSource) => void): void {
    const random = this.#random[kind]
    const waitMs = (-Math.log(1 - random.next()) * MINUTE_MS) / this.#rates[kind]
    const timer = this.#cluster.clock.after(waitMs, () => {
      strike(random)
      this.#schedule(kind, strike)
    })
    this.#timers.set(kind, timer)
  }

  /** Undefined for faults of requests and events. */
  #timed(kind: FaultKind): ((random: RandomSource) => void) | undefined {
    switch (kind) {
      case 'pause':
        return (random) => this.#pause(random)
      case 'kill':
        return (random) => this.#kill(random, (name) => !isNode(name), [500, 10_000])
      case 'nodeloss':
        return (random) => this.#kill(random, isNode, [10_000, 120_000])
      case 'partition':
        return (random) => this.#partition(random)
      case 'restart':
        return (random) => this.#restart(random)
      case 'compaction':
        return () => this.#cluster.compact()
      case 'jump':
        return (random) => this.#jump(random)
      default:
        return undefined
    }
  }

  #pause(random: RandomSource): void {
    const process = this.#victim(random)
    const forMs = integerBetween(random, 1_000, 40_000)
    if (process === undefined) return
    this.#cluster.noteFault(`pause ${process.name} for ${forMs} ms`)
    process.pause(forMs)
  }

  #kill(
    random: RandomSource,
    isEligible: (name: string) => boolean,
    [leastMs, mostMs]: readonly [number, number],
  ): void {
    const process = this.#victim(random, isEligible)
    const downMs = integerBetween(random, leastMs, mostMs)
    if (process === undefined) return
    this.#cluster.noteFault(`kill ${process.name}, down for ${downMs} ms`)
    process.crash(downMs)
  }

  #partition(random: RandomSource): void {
    const process = this.#victim(random)
    const forMs = integerBetween(random, 1_000, 40_000)
    const isPartial = random.next() < 0.5
    if (process === undefined) return
    const links = [...this.#cluster.network.linksOf(process.name)]
    const link = isPartial ? links[integerBetween(random, 0, links.length)] : undefined
    this.#cluster.noteFault(`partition ${process.name} ${link ?? ''} for ${forMs} ms`)
    this.#cluster.network.partition(process.name, link, forMs)
  }

  #restart(random: RandomSource): void {
    const downMs = integerBetween(random, 100, 15_000)
    if (random.next() < 0.5) this.#cluster.compact()
    void this.#cluster.restartServer(downMs)
  }

  #jump(random: RandomSource): void {
    const process = this.#victim(random)
    const byMs = integerBetween(random, -300_000, 300_000)
    if (process?.life === undefined) return
    this.#cluster.noteFault(`jump of the wall clock of ${process.name} by ${byMs} ms`)
    process.life.clock.jumpWallTime(byMs)
  }

  #victim(
    random: RandomSource,
    isEligible: (name: string) => boolean = () => true,
  ): SimulatedProcess | undefined {
    const eligible = this.#cluster.processes.filter(({ name }) => isEligible(name))
    return eligible[integerBetween(random, 0, eligible.length)]
  }

  #hits(kind: FaultKind): boolean {
    return this.#rates[kind] > 0 && this.#random[kind].next() < this.#rates[kind]
  }

  #coin(kind: FaultKind): boolean {
    return this.#random[kind].next() < 0.5
  }

  #pick<T>(kind: FaultKind, values: readonly T[]): T {
    return values[integerBetween(this.#random[kind], 0, values.length)]!
  }
}

function isNode(process: string): boolean {
  return process.startsWith('node-')
}

/** Kubelets and the scheduler are the stage, not the play: they are killed at random moments only. */
function mayCrash(process: string): boolean {
  return !isNode(process) && process !== 'scheduler'
}
