import type { SimulatedCluster } from '../simulated/simulated-cluster.ts'
import type { RequestFacts } from '../simulated/request-facts.ts'
import type { EventFacts, EventFault, FaultInjector, RequestFault } from './injector.ts'
import { BURST_GAP_MS, Ordinals, eventPlace, placeKey, requestPlace } from './schedule.ts'
import type { ScheduledFault } from './schedule.ts'
import { strike } from './world-fault.ts'

interface Waiting<F> {
  readonly atMs: number
  readonly ordinal: number
  readonly fault: F
}

/** Plays faults at the places of a schedule. A place that is not there when it was is waited for. */
export class ScheduledFaults implements FaultInjector {
  readonly #cluster: SimulatedCluster
  readonly #faults: readonly ScheduledFault[]
  /** By place, in order of time. */
  readonly #requests = new Map<string, Waiting<RequestFault>[]>()
  readonly #events = new Map<string, Waiting<EventFault>[]>()
  readonly #ordinals = new Ordinals()
  #on = false

  constructor(cluster: SimulatedCluster, faults: readonly ScheduledFault[]) {
    this.#cluster = cluster
    this.#faults = faults.toSorted((a, b) => a.atMs - b.atMs)
    for (const entry of this.#faults) {
      if ('request' in entry) add(this.#requests, placeKey(entry.request), entry)
      else if ('event' in entry) add(this.#events, placeKey(entry.event), entry)
    }
  }

  get schedule(): readonly ScheduledFault[] {
    return this.#faults
  }

  start(): void {
    const { clock } = this.#cluster
    this.#on = true
    this.#cluster.injector = this
    for (const entry of this.#faults) {
      if (!('world' in entry)) continue
      clock.after(entry.atMs - clock.monotonicMs(), () => {
        if (this.#on) strike(this.#cluster, entry.world)
      })
    }
  }

  stop(): void {
    this.#on = false
  }

  onRequest(facts: RequestFacts): RequestFault | undefined {
    return this.#take(this.#requests, placeKey(requestPlace(facts)))
  }

  onEvent(facts: EventFacts): EventFault | undefined {
    return this.#take(this.#events, placeKey(eventPlace(facts)))
  }

  #take<F>(waiting: ReadonlyMap<string, Waiting<F>[]>, key: string): F | undefined {
    const nowMs = this.#cluster.clock.monotonicMs()
    const ordinal = this.#ordinals.next(key, nowMs)
    const queue = waiting.get(key)
    const next = queue?.[0]
    if (!this.#on || next === undefined) return undefined
    const lateMs = nowMs - next.atMs
    const isIt = Math.abs(lateMs) < BURST_GAP_MS && ordinal === next.ordinal
    if (!isIt && lateMs < BURST_GAP_MS) return undefined
    queue!.shift()
    return next.fault
  }
}

function add<F>(to: Map<string, Waiting<F>[]>, key: string, entry: Waiting<F>): void {
  const queue = to.get(key) ?? []
  to.set(key, queue)
  queue.push(entry)
}
