/** Which pod is tried next. Contract: docs/behaviour/simulation/scheduler.md, Queue. */
import { semanticEqual } from '@gyropilot/api'
import type { Pod } from '@gyropilot/api'
import { Heap } from '@gyropilot/foundation'
import type { Clock, Timer } from '@gyropilot/foundation'

const BACK_OFF_BASE_MS = 1_000
const BACK_OFF_LIMIT_MS = 10_000
/** Pods that no event has moved are tried again after this time. */
const UNSCHEDULABLE_LIMIT_MS = 300_000

/** An entry of those that may be tried now. It counts as long as it is the latest of its pod. */
interface Turn {
  readonly waiting: Waiting
  readonly priority: number
  readonly sequence: number
}

interface Waiting {
  pod: Pod
  /** When it came, or came back from a try: the order of pods of one priority. */
  sequence: number
  turn: Turn | undefined
  /** Tries that found no node. */
  failures: number
  /** Tries that went wrong otherwise. */
  errors: number
  failedAtMs: number
  place: 'active' | 'backoff' | 'unschedulable' | 'trying'
  /** How often pods had been moved when this one was taken: one more since, and an event came that may help. */
  takenAtMove: number
  timer: Timer | undefined
}

export class SchedulingQueue {
  readonly #clock: Clock
  readonly #onReady: () => void
  readonly #isGated: (pod: Pod) => boolean
  readonly #waiting = new Map<string, Waiting>()
  readonly #active = new Heap<Turn>(byTurn)
  /** What events move; the others wait for time, for their turn, or for a node's answer. */
  readonly #unschedulable = new Set<Waiting>()
  #sequence = 0
  #moves = 0

  /**
   * `isGated`: a pod that is not to be tried yet. It is looked at again with each event and with each change of the pod, and
   * having not been tried it then waits for no back-off.
   */
  constructor(clock: Clock, onReady: () => void, isGated: (pod: Pod) => boolean) {
    this.#clock = clock
    this.#onReady = onReady
    this.#isGated = isGated
  }

  /** A pod to be scheduled, new or changed. */
  offer(pod: Pod): void {
    const uid = pod.metadata?.uid ?? ''
    const known = this.#waiting.get(uid)
    if (known === undefined) {
      const waiting: Waiting = {
        pod,
        sequence: this.#sequence++,
        turn: undefined,
        failures: 0,
        errors: 0,
        failedAtMs: 0,
        place: 'active',
        takenAtMove: 0,
        timer: undefined,
      }
      this.#waiting.set(uid, waiting)
      this.#activate(waiting)
      return
    }
    const isOfNoUse = isSameForScheduling(known.pod, pod)
    known.pod = pod
    if (isOfNoUse) return
    // Being tried, it is looked at once more afterwards.
    known.takenAtMove = -1
    this.#move(known)
  }

  /** Whether it waits for a node, or for the answer to a try. */
  has(uid: string): boolean {
    return this.#waiting.has(uid)
  }

  remove(uid: string): void {
    const waiting = this.#waiting.get(uid)
    if (waiting === undefined) return
    waiting.timer?.cancel()
    this.#unschedulable.delete(waiting)
    this.#waiting.delete(uid)
  }

  /** The next pod to try, or undefined. It stays known until `remove`. */
  take(): Pod | undefined {
    for (;;) {
      const turn = this.#active.pop()
      if (turn === undefined) return undefined
      const next = turn.waiting
      if (next.turn !== turn || this.#waiting.get(next.pod.metadata?.uid ?? '') !== next) continue
      if (this.#isGated(next.pod)) {
        next.place = 'unschedulable'
        this.#unschedulable.add(next)
        continue
      }
      next.turn = undefined
      next.place = 'trying'
      next.takenAtMove = this.#moves
      return next.pod
    }
  }

  /** `first`, just taken, and those of the others that may be tried with it, whatever they wait for: in the order of their turns. */
  takeWith(first: Pod, uids: Iterable<string>): readonly Pod[] {
    const taken: Waiting[] = []
    const add = (waiting: Waiting | undefined): void => void (waiting && taken.push(waiting))
    add(this.#waiting.get(first.metadata?.uid ?? ''))
    for (const uid of uids) {
      const waiting = this.#waiting.get(uid)
      if (waiting === undefined || waiting.place === 'trying' || this.#isGated(waiting.pod))
        continue
      waiting.timer?.cancel()
      this.#unschedulable.delete(waiting)
      waiting.place = 'trying'
      waiting.turn = undefined
      waiting.takenAtMove = this.#moves
      add(waiting)
    }
    return taken
      .map(turnOf)
      .toSorted(byTurn)
      .map(({ waiting }) => waiting.pod)
  }

  /** A try that went wrong, not for want of a node: no event has to help, only time. */
  errored(uid: string): void {
    const waiting = this.#waiting.get(uid)
    if (waiting === undefined) return
    waiting.errors++
    // Those that came meanwhile are before it: what cannot be bound for long must not keep them back.
    waiting.sequence = this.#sequence++
    waiting.place = 'backoff'
    waiting.timer = this.#clock.after(backOffMs(waiting.errors), () => this.#activate(waiting))
  }

  failed(uid: string): void {
    const waiting = this.#waiting.get(uid)
    if (waiting === undefined) return
    waiting.failures++
    waiting.sequence = this.#sequence++
    waiting.failedAtMs = this.#clock.monotonicMs()
    waiting.place = 'unschedulable'
    waiting.timer = this.#clock.after(UNSCHEDULABLE_LIMIT_MS, () => this.#move(waiting))
    this.#unschedulable.add(waiting)
    if (waiting.takenAtMove !== this.#moves) this.#move(waiting)
  }

  /** Something happened that may help: a node came or changed, a pod left. */
  moveAll(): void {
    this.#moves++
    for (const waiting of this.#unschedulable) this.#move(waiting)
  }

  /** As moveAll, of the pods that it helps. None is being tried: a try has no pauses before its end. */
  moveThose(isHelped: (pod: Pod) => boolean): void {
    for (const waiting of this.#unschedulable) if (isHelped(waiting.pod)) this.#move(waiting)
  }

  /** As moveAll, of these pods, by uid. */
  moveThese(uids: Iterable<string>): void {
    for (const uid of uids) {
      const waiting = this.#waiting.get(uid)
      if (waiting !== undefined) this.#move(waiting)
    }
  }

  stop(): void {
    for (const waiting of this.#waiting.values()) waiting.timer?.cancel()
    this.#waiting.clear()
    this.#unschedulable.clear()
  }

  #move(waiting: Waiting): void {
    if (waiting.place !== 'unschedulable' || this.#isGated(waiting.pod)) return
    waiting.timer?.cancel()
    this.#unschedulable.delete(waiting)
    const remainingMs = waiting.failedAtMs + backOffMs(waiting.failures) - this.#clock.monotonicMs()
    if (remainingMs <= 0) return this.#activate(waiting)
    waiting.place = 'backoff'
    waiting.timer = this.#clock.after(remainingMs, () => this.#activate(waiting))
  }

  #activate(waiting: Waiting): void {
    waiting.place = 'active'
    waiting.turn = turnOf(waiting)
    this.#active.push(waiting.turn)
    this.#onReady()
  }
}

function turnOf(waiting: Waiting): Turn {
  return { waiting, priority: waiting.pod.spec?.priority ?? 0, sequence: waiting.sequence }
}

function byTurn(a: Turn, b: Turn): number {
  return b.priority - a.priority || a.sequence - b.sequence
}

/** What is written of tries must not lead to the next one; which claims were made for the pod must. */
function isSameForScheduling(before: Pod, after: Pod): boolean {
  return (
    before.metadata?.generation === after.metadata?.generation &&
    semanticEqual(before.metadata?.labels, after.metadata?.labels) &&
    semanticEqual(before.status?.resourceClaimStatuses, after.status?.resourceClaimStatuses)
  )
}

/** 1, 2, 4, 8, 10, 10... s; none before the first failure. */
function backOffMs(times: number): number {
  if (times === 0) return 0
  return Math.min(BACK_OFF_BASE_MS * 2 ** (times - 1), BACK_OFF_LIMIT_MS)
}
