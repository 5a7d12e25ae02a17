/** Everything that is checked of a simulated cluster: at all times, and at its end. */
import { isWrite } from '../simulated/request-facts.ts'
import type { RequestFacts } from '../simulated/request-facts.ts'
import type { ClusterObserver } from '../simulated/cluster-observer.ts'
import type { SimulatedCluster } from '../simulated/simulated-cluster.ts'
import { budgets } from './budgets.ts'
import { cloudRules } from './end-state-rules/cloud-rules.ts'
import { endStateRules } from './end-state.ts'
import type { EndStateRule } from './end-state.ts'
import { hotLoop } from './hot-loop.ts'
import { jobCounts } from './jobs.ts'
import { leadership } from './leadership.ts'
import { liveRevisions } from './live-revisions.ts'
import { ordinals } from './ordinals.ts'
import { podRanges } from './end-state-rules/pod-range-rules.ts'
import { podLimits } from './pod-limits.ts'
import { reasons } from './reasons.ts'
import { revisionOrder } from './revision-order.ts'
import type { Violation } from './violation.ts'

/** One finding is enough to act on; a broken world repeats itself. */
const MOST_VIOLATIONS = 20

/** When a simulated cluster counts as at rest. */
export interface RestOptions {
  /** No write for so long is rest, and as much longer as wall clocks were set. Default 10 minutes. */
  readonly quietMs?: number
  /** How long it may take from now until the last write. Default 20 minutes. */
  readonly limitMs?: number
}

/**
 * Watches a simulated cluster: what must never be is a violation at once, and what must be in the end is asked once it rests.
 */
export class Watchdog {
  readonly violations: Violation[] = []
  /** By what the fault was: `crash`, `gap`, ... */
  readonly faults = new Map<string, number>()
  writes = 0
  readonly #cluster: SimulatedCluster
  #lastWriteMs = 0
  #lastWrites: string[] = []
  /** When the same was told last, by the path that it was told to. */
  readonly #toldMs = new Map<string, number>()

  constructor(cluster: SimulatedCluster) {
    this.#cluster = cluster
    const report = (checker: string, message: string): void => this.report(checker, message)
    const { clock, objects } = cluster
    for (const observer of [
      revisionOrder(report),
      leadership(report, objects),
      hotLoop(report, clock),
      podLimits(report, clock, objects),
      podRanges(report, objects),
      ordinals(report, clock, objects),
      liveRevisions(report, clock, objects),
      budgets(report, objects),
      reasons(report, objects),
      jobCounts(report),
      this.#counter(),
    ])
      cluster.observe(observer)
  }

  report(checker: string, message: string): void {
    if (this.violations.length >= MOST_VIOLATIONS) return
    this.violations.push({ checker, message, atMs: this.#cluster.virtualMs })
    this.#cluster.history.line(`VIOLATION ${checker}: ${message}`)
  }

  get faultCount(): number {
    let total = 0
    for (const count of this.faults.values()) total += count
    return total
  }

  /** Lets the cluster come to rest and judges what it has become, by `endStateRules` and `rules`. Faults must be over. */
  async judge(
    { quietMs = 600_000, limitMs = 1_200_000 }: RestOptions = {},
    rules: Readonly<Record<string, EndStateRule>> = {},
  ): Promise<readonly Violation[]> {
    const { clock } = this.#cluster
    this.#lastWriteMs = clock.monotonicMs()
    const startMs = clock.monotonicMs()
    // Who counts from a time of a clock that was ahead waits longer, such as a Job for a pod that failed there.
    const restMs = quietMs + this.#cluster.jumpedMs
    const isQuiet = (): boolean => clock.monotonicMs() - this.#lastWriteMs >= restMs
    const isOver = (): boolean => isQuiet() || this.#lastWriteMs - startMs > limitMs
    await clock.advanceUntil(isOver, limitMs + restMs)
    if (!isQuiet())
      this.report(
        'rest',
        `still writing after ${limitMs / 60_000} minutes: ${this.#lastWrites.join('; ')}`,
      )
    const { cloud } = this.#cluster
    const all = { ...endStateRules, ...(cloud && cloudRules(cloud)), ...rules }
    for (const [name, rule] of Object.entries(all))
      for (const problem of rule(this.#cluster.objects)) this.report(name, problem)
    return this.violations
  }

  /** The same event counted once more, or the same refusal of a driver, after a long pause. */
  #isReminder({ method, path }: RequestFacts): boolean {
    if (method !== 'PATCH' || !(OF_ONE_EVENT.test(path) || OF_ONE_ATTACHMENT.test(path)))
      return false
    const nowMs = this.#cluster.virtualMs
    const beforeMs = this.#toldMs.get(path) ?? 0
    this.#toldMs.set(path, nowMs)
    return nowMs - beforeMs >= REMINDER_PAUSE_MS
  }

  #counter(): ClusterObserver {
    return {
      answered: (facts, status) => {
        if (!isWrite(facts) || facts.isHeartbeat) return
        this.writes++
        if (this.#isReminder(facts)) return
        this.#lastWriteMs = this.#cluster.virtualMs
        this.#lastWrites.push(describe(facts, status))
        if (this.#lastWrites.length > 5) this.#lastWrites.shift()
      },
      fault: (text) => {
        const kind = /^[a-z]+/.exec(text)?.[0] ?? text
        this.faults.set(kind, (this.faults.get(kind) ?? 0) + 1)
      },
    }
  }
}

/** `.../namespaces/a/events/b.187`: a change of an event that is there. */
const OF_ONE_EVENT = /\/events\/[^/?]+/
/** A driver says there whether the volume is attached, and why not. */
const OF_ONE_ATTACHMENT = /\/volumeattachments\/[^/?]+\/status/
/**
 * A pod for which there is no room is tried again every five minutes, one whose volume does not come every two, and their events count
 * that; a volume that another node has is asked for every five: nobody has to come to rest.
 */
const REMINDER_PAUSE_MS = 100_000

function describe({ process, user, method, path }: RequestFacts, status: number): string {
  return `${process} as ${user} ${method} ${path} ${status}`
}
