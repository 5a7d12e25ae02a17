import type { KubernetesObject, ResourceType } from '@gyropilot/api'
import { keyOf } from '@gyropilot/api'
import { isConflict } from '@gyropilot/client'
import type { Clock, Counter, MetricsRegistry } from '@gyropilot/foundation'
import type { Informer } from './informer.ts'
import type { Write } from './effects.ts'
import { compareResourceVersions, isResourceVersion } from './resource-versions.ts'

/** No longer than this for what a conflict says: a webhook may answer one as well, and then nothing comes that the cache could show. */
const CONFLICT_HOLD_MS = 30_000
/** So many keys are worth a look at each. */
const LEAST_TO_PRUNE = 1_000

interface StaleCacheGuardOptions {
  readonly clock: Clock
  readonly informers: readonly Informer<KubernetesObject>[]
  /** Deletions count as writes too, where the server answers with the object: pods that have time to end. */
  readonly deletions?: boolean
  readonly metrics?: MetricsRegistry
  readonly metric?: StaleSyncMetric
}

/** A counter with the labels group and resource: those of the cache that was behind. */
export interface StaleSyncMetric {
  /** `replicaset_controller_stale_sync_skips_total` */
  readonly name: string
  /** Of what the controller syncs, for the help text: `ReplicaSet`. */
  readonly kind: string
}

/** What is known to have happened for a key, and may not be in the caches yet. */
interface Known {
  readonly ownerUid: string
  /** The highest version that was written. */
  readonly written: Map<Informer<KubernetesObject>, string>
  readonly conflicts: Conflict[]
}

/** The server has a newer version of this object than the one that was sent, or none. */
interface Conflict {
  readonly informer: Informer<KubernetesObject>
  readonly objectKey: string
  readonly sent: string
  readonly untilMs: number
}

/** A cache has not yet seen what this process wrote, or what it was refused for. The key is tried again with backoff. */
export class StaleCacheError extends Error {
  readonly type: ResourceType

  constructor(key: string, type: ResourceType, behind: string) {
    super(`cache of ${type.resource} is behind the writes for ${key}: ${behind}`)
    this.name = 'StaleCacheError'
    this.type = type
  }
}

/**
 * Read-your-writes: per key it remembers the highest resourceVersion that this process wrote of each type, and refuses to
 * go on until the informers have come that far. resourceVersions of different types are never compared. Of an object whose
 * update was refused as a conflict the cache has to show a newer version, for a while.
 * Contract: docs/behaviour/controllers/shared-controller-utils.md, Stale-cache guard.
 */
export class StaleCacheGuard {
  readonly #clock: Clock
  readonly #informers: readonly Informer<KubernetesObject>[]
  readonly #skips: Counter | undefined
  readonly #deletions: boolean
  readonly #known = new Map<string, Known>()
  #pruneAt = LEAST_TO_PRUNE

  constructor(options: StaleCacheGuardOptions) {
    this.#clock = options.clock
    this.#informers = options.informers
    this.#deletions = options.deletions ?? false
    if (options.metrics !== undefined && options.metric !== undefined) {
      this.#skips = options.metrics.counter({
        name: options.metric.name,
        help: `Total number of ${options.metric.kind} syncs skipped due to a stale watch cache.`,
        labels: ['group', 'resource'],
      })
    }
  }

  /** Types that no informer of the guard watches are not recorded. */
  written(key: string, ownerUid: string, write: Write, object: KubernetesObject): void {
    if (write.verb === 'deleteCollection' || (write.verb === 'delete' && !this.#deletions)) return
    const version = object.metadata?.resourceVersion ?? ''
    if (!isResourceVersion(version)) return
    const informer = this.#informerOf(write.type)
    if (informer === undefined) return
    const { written } = this.#knownOf(key, ownerUid)
    const highest = written.get(informer)
    if (highest === undefined || compareResourceVersions(highest, version) < 0)
      written.set(informer, version)
  }

  /** Conflicts of updates count; another error tells nothing of the cache. */
  refused(key: string, ownerUid: string, write: Write, error: unknown): void {
    if (write.verb !== 'update' || !isConflict(error)) return
    const sent = write.object.metadata?.resourceVersion
    const informer = this.#informerOf(write.type)
    if (informer === undefined || !isResourceVersion(sent)) return
    const untilMs = this.#clock.monotonicMs() + CONFLICT_HOLD_MS
    const conflict = { informer, objectKey: keyOf(write.object), sent, untilMs }
    this.#knownOf(key, ownerUid).conflicts.push(conflict)
  }

  /** The error to retry with, or undefined when the caches show all that is known; it is forgotten then. */
  check(key: string): StaleCacheError | undefined {
    const known = this.#known.get(key)
    if (known === undefined) return undefined
    const behind = this.#behind(known)
    if (behind === undefined) {
      this.#known.delete(key)
      return undefined
    }
    const { type, why } = behind
    this.#skips?.increment({ group: type.group, resource: type.resource })
    return new StaleCacheError(key, type, why)
  }

  forget(key: string): void {
    this.#known.delete(key)
  }

  /** Keys that something is known of. */
  get size(): number {
    return this.#known.size
  }

  /** The cache that does not show all that is known. */
  #behind({
    written: versions,
    conflicts,
  }: Known): { type: ResourceType; why: string } | undefined {
    for (const [informer, written] of versions) {
      const seen = informer.lastSyncResourceVersion()
      if (!isResourceVersion(seen) || compareResourceVersions(written, seen) <= 0) continue
      return { type: informer.type, why: `written ${written}, seen ${JSON.stringify(seen)}` }
    }
    for (const { informer, objectKey, sent, untilMs } of conflicts) {
      const seen = informer.lister.getByKey(objectKey)?.metadata?.resourceVersion
      const isBehind = isResourceVersion(seen) && compareResourceVersions(seen, sent) <= 0
      if (!isBehind || this.#clock.monotonicMs() >= untilMs) continue
      return { type: informer.type, why: `${sent} of ${objectKey} is no longer the newest` }
    }
    return undefined
  }

  /** Of keys that nobody works on again: looked for when there are twice as many as the last time. */
  #prune(): void {
    if (this.#known.size < this.#pruneAt) return
    for (const [key, known] of this.#known)
      if (this.#behind(known) === undefined) this.#known.delete(key)
    this.#pruneAt = Math.max(LEAST_TO_PRUNE, 2 * this.#known.size)
  }

  #informerOf(type: ResourceType): Informer<KubernetesObject> | undefined {
    return this.#informers.find((informer) => sameResource(informer.type, type))
  }

  #knownOf(key: string, ownerUid: string): Known {
    let known = this.#known.get(key)
    if (known === undefined || known.ownerUid !== ownerUid) {
      this.#prune()
      known = { ownerUid, written: new Map(), conflicts: [] }
      this.#known.set(key, known)
    }
    return known
  }
}

function sameResource(a: ResourceType, b: ResourceType): boolean {
  return a.group === b.group && a.resource === b.resource
}
