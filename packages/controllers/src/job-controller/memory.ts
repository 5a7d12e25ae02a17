/**
 * What the controller knows of Jobs and has from no cache. A restart forgets it, and nothing is lost but waits.
 * Contract: docs/behaviour/controllers/job-controller.md, Concurrency, retries, timing.
 */
import { NO_BACKOFF } from './pods/pod-backoff.ts'
import type { BackoffRecord } from './pods/pod-backoff.ts'

interface Remembered {
  readonly uid: string
  backoff: BackoffRecord
  /** Its end was written; the cache need not show it yet. */
  finished: boolean
  /** uids of pods whose finalizer was taken away and whose events have not said so. */
  readonly awaitedRemovals: Set<string>
}

const NOTHING_AWAITED: ReadonlySet<string> = new Set()

/** By the key of a Job; a namesake with another uid begins anew. */
export class JobMemory {
  readonly #jobs = new Map<string, Remembered>()
  #hasSeenRelease = false

  /**
   * A pod that this process released has been seen without its finalizer. All that the leader before it wrote is older, so from
   * here on the cache of pods shows it.
   */
  get hasSeenRelease(): boolean {
    return this.#hasSeenRelease
  }

  /** Of how many Jobs anything is kept. */
  get size(): number {
    return this.#jobs.size
  }

  backoff(key: string, uid: string): BackoffRecord {
    return this.#find(key, uid)?.backoff ?? NO_BACKOFF
  }

  setBackoff(key: string, uid: string, backoff: BackoffRecord): void {
    if (backoff !== this.backoff(key, uid)) this.#make(key, uid).backoff = backoff
  }

  isFinished(key: string, uid: string): boolean {
    return this.#find(key, uid)?.finished === true
  }

  markFinished(key: string, uid: string): void {
    this.#make(key, uid).finished = true
  }

  /**
   * Pods that count as released although the cache still shows their finalizer. A snapshot: events that come in later belong to
   * pods that are listed later.
   */
  awaitedRemovals(key: string, uid: string): ReadonlySet<string> {
    const awaited = this.#find(key, uid)?.awaitedRemovals
    return awaited === undefined || awaited.size === 0 ? NOTHING_AWAITED : new Set(awaited)
  }

  expectRemovals(key: string, uid: string, podUids: readonly string[]): void {
    if (podUids.length === 0) return
    const { awaitedRemovals } = this.#make(key, uid)
    for (const podUid of podUids) awaitedRemovals.add(podUid)
  }

  /** An event said so. */
  removalObserved(key: string, podUid: string): void {
    if (this.#jobs.get(key)?.awaitedRemovals.delete(podUid)) this.#hasSeenRelease = true
  }

  removalFailed(key: string, podUid: string): void {
    this.#jobs.get(key)?.awaitedRemovals.delete(podUid)
  }

  forget(key: string): void {
    this.#jobs.delete(key)
  }

  #find(key: string, uid: string): Remembered | undefined {
    const known = this.#jobs.get(key)
    return known?.uid === uid ? known : undefined
  }

  #make(key: string, uid: string): Remembered {
    const known = this.#find(key, uid)
    if (known !== undefined) return known
    const made = { uid, backoff: NO_BACKOFF, finished: false, awaitedRemovals: new Set<string>() }
    this.#jobs.set(key, made)
    return made
  }
}
