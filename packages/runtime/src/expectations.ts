import type { Clock } from '@gyropilot/foundation'

/**
 * What a controller has asked for and not yet seen come back through its informers. While expectations of a key are not
 * met, its cache is known to be behind and nothing may be created or deleted for it.
 * Contract: docs/behaviour/controllers/shared-controller-utils.md, Concurrency.
 */
export interface Expectations {
  /** Replaces the count of creations. Deletions of the same key that are still awaited stay awaited. */
  expectCreations(key: string, count: number): void
  /**
   * `dependents` are keys of the objects being deleted; each counts once however often its deletion is observed. Replaces
   * the awaited deletions. Creations of the same key that are still awaited stay awaited.
   */
  expectDeletions(key: string, dependents: readonly string[]): void
  creationObserved(key: string): void
  deletionObserved(key: string, dependent: string): void
  /** Met, unknown or older than five minutes. */
  satisfied(key: string): boolean
  delete(key: string): void
}

/** A lost event must not stop a controller for ever. */
export const EXPECTATIONS_TIMEOUT_MS = 5 * 60_000

interface Awaited {
  creations: number
  deletions: Set<string>
  sinceMs: number
}

/** One store per controller: keys of different types may be equal. */
export function createExpectations(clock: Clock): Expectations {
  const awaitedByKey = new Map<string, Awaited>()
  const expired = (awaited: Awaited): boolean =>
    clock.monotonicMs() - awaited.sinceMs > EXPECTATIONS_TIMEOUT_MS
  const unexpired = (key: string): Awaited | undefined => {
    const awaited = awaitedByKey.get(key)
    return awaited === undefined || expired(awaited) ? undefined : awaited
  }

  return {
    expectCreations(key, count) {
      const deletions = unexpired(key)?.deletions ?? new Set<string>()
      awaitedByKey.set(key, { creations: count, deletions, sinceMs: clock.monotonicMs() })
    },
    expectDeletions(key, dependents) {
      const creations = Math.max(0, unexpired(key)?.creations ?? 0)
      awaitedByKey.set(key, {
        creations,
        deletions: new Set(dependents),
        sinceMs: clock.monotonicMs(),
      })
    },
    creationObserved(key) {
      const awaited = awaitedByKey.get(key)
      if (awaited !== undefined) awaited.creations--
    },
    deletionObserved(key, dependent) {
      awaitedByKey.get(key)?.deletions.delete(dependent)
    },
    satisfied(key) {
      const awaited = awaitedByKey.get(key)
      if (awaited === undefined || expired(awaited)) return true
      return awaited.creations <= 0 && awaited.deletions.size === 0
    },
    delete(key) {
      awaitedByKey.delete(key)
    },
  }
}
