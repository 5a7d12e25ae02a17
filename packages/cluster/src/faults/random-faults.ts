/** Faults at seeded random moments, each kind from its own stream: switching one off does not move the others' dice. */
import type { RandomSource, Timer } from '@gyropilot/foundation'
import { integerBetween } from '@gyropilot/foundation'
import { isWrite } from '../simulated/request-facts.ts'
import type { RequestFacts } from '../simulated/request-facts.ts'
import type { SimulatedCluster } from '../simulated/simulated-cluster.ts'
import type { SimulatedProcess } from '../simulated/process.ts'
import { FaultRecorder } from './fault-recorder.ts'
import type { EventFacts, EventFault, FaultInjector, RequestFault } from './injector.ts'
import { FAULT_KINDS } from './rates.ts'
import type { FaultKind, FaultRates } from './rates.ts'
import type { ScheduledFault } from './schedule.ts'
import { strike } from './world-fault.ts'
import type { WorldFault } from './world-fault.ts'

const MINUTE_MS = 60_000
const REFUSALS = [409, 429, 500, 503] as const

/** Faults at random, by their rates. The same cluster seed gives the same faults. */
export class RandomFaults implements FaultInjector {
  readonly #cluster: SimulatedCluster
  readonly #rates: FaultRates
  readonly #random: Readonly<Record<FaultKind, RandomSource>>
  readonly #timers = new Map<FaultKind, Timer>()
  readonly #recorder: FaultRecorder
  #on = false

  constructor(cluster: SimulatedCluster, rates: FaultRates) {
    this.#cluster = cluster
    this.#rates = rates
    this.#recorder = new FaultRecorder(this, cluster.clock)
    const random = cluster.random.fork('faults')
    this.#random = Object.fromEntries(
      FAULT_KINDS.map((kind) => [kind, random.fork(kind)]),
    ) as Record<FaultKind, RandomSource>
  }

  start(): void {
    this.#on = true
    this.#cluster.injector = this.#recorder
    for (const kind of FAULT_KINDS) {
      const chosen = this.#timed(kind)
      if (chosen !== undefined && this.#rates[kind] > 0) this.#schedule(kind, chosen)
    }
  }

  /** What went wrong so far. */
  get schedule(): readonly ScheduledFault[] {
    return this.#recorder.entries
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

  #schedule(kind: FaultKind, chosen: (random: RandomSource) => WorldFault | undefined): void {
    const random = this.#random[kind]
    const waitMs = (-Math.log(1 - random.next()) * MINUTE_MS) / this.#rates[kind]
    const timer = this.#cluster.clock.after(waitMs, () => {
      const fault = chosen(random)
      if (fault !== undefined) {
        this.#recorder.world(fault)
        strike(this.#cluster, fault)
      }
      this.#schedule(kind, chosen)
    })
    this.#timers.set(kind, timer)
  }

  /** Undefined for faults of requests and events. */
  #timed(kind: FaultKind): ((random: RandomSource) => WorldFault | undefined) | undefined {
    switch (kind) {
      case 'pause':
        return (random) => this.#stopped('pause', random)
      case 'suspension':
        return (random) => this.#stopped('suspension', random)
      case 'kill':
        return (random) => this.#kill('kill', random, (name) => !isNode(name), [500, 10_000])
      case 'nodeloss':
        return (random) => this.#kill('nodeloss', random, isNode, [10_000, 120_000])
      case 'partition':
        return (random) => this.#partition(random)
      case 'restart':
        return (random) => {
          const downMs = integerBetween(random, 100, 15_000)
          return { kind: 'restart', downMs, compacted: random.next() < 0.5 }
        }
      case 'compaction':
        return () => ({ kind: 'compaction' })
      case 'jump':
        return (random) => this.#jump(random)
      default:
        return undefined
    }
  }

  #stopped(kind: 'pause' | 'suspension', random: RandomSource): WorldFault | undefined {
    const process = this.#victim(random)
    const forMs = integerBetween(random, 1_000, 40_000)
    return process && { kind, process: process.name, forMs }
  }

  #kill(
    kind: 'kill' | 'nodeloss',
    random: RandomSource,
    isEligible: (name: string) => boolean,
    [leastMs, mostMs]: readonly [number, number],
  ): WorldFault | undefined {
    const process = this.#victim(random, isEligible)
    const downMs = integerBetween(random, leastMs, mostMs)
    return process && { kind, process: process.name, downMs }
  }

  #partition(random: RandomSource): WorldFault | undefined {
    const process = this.#victim(random)?.name
    const forMs = integerBetween(random, 1_000, 40_000)
    const isPartial = random.next() < 0.5
    if (process === undefined) return undefined
    const links = [...this.#cluster.network.linksOf(process)]
    const link = isPartial ? links[integerBetween(random, 0, links.length)] : undefined
    return { kind: 'partition', process, forMs, ...(link === undefined ? {} : { link }) }
  }

  #jump(random: RandomSource): WorldFault | undefined {
    const process = this.#victim(random)
    const byMs = integerBetween(random, -300_000, 300_000)
    // Nobody sets the clock of a machine that is asleep.
    if (process?.life === undefined || process.life.clock.isAsleep) return undefined
    return { kind: 'jump', process: process.name, byMs }
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
