import type { KubernetesObject, ResourceType } from '@gyropilot/api'
import type { Counter, MetricsRegistry } from '@gyropilot/foundation'
import type { Informer } from './informer.ts'
import type { Write } from './effects.ts'
import { compareResourceVersions, isResourceVersion } from './resource-versions.ts'

interface StaleCacheGuardOptions {
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

interface WrittenVersions {
  readonly ownerUid: string
  readonly versions: Map<Informer<KubernetesObject>, string>
}

/** A cache has not yet seen what this process wrote. The key is tried again with backoff. */
export class StaleCacheError extends Error {
  readonly type: ResourceType

  constructor(key: string, type: ResourceType, written: string, seen: string) {
    super(
      `cache of ${type.resource} is behind the writes for ${key}: written ${written}, seen ${JSON.stringify(seen)}`,
    )
    this.name = 'StaleCacheError'
    this.type = type
  }
}

/**
 * Read-your-writes: per key it remembers the highest resourceVersion that this process wrote of each type, and refuses to
 * go on until the informers have come that far. resourceVersions of different types are never compared.
 * Contract: docs/behaviour/controllers/shared-controller-utils.md, Stale-cache guard.
 */
export class StaleCacheGuard {
  readonly #informers: readonly Informer<KubernetesObject>[]
  readonly #skips: Counter | undefined
  readonly #deletions: boolean
  readonly #written = new Map<string, WrittenVersions>()

  constructor(options: StaleCacheGuardOptions) {
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
    const informer = this.#informers.find(({ type }) => sameResource(type, write.type))
    if (informer === undefined) return
    let record = this.#written.get(key)
    if (record === undefined || record.ownerUid !== ownerUid) {
      record = { ownerUid, versions: new Map() }
      this.#written.set(key, record)
    }
    const known = record.versions.get(informer)
    if (known === undefined || compareResourceVersions(known, version) < 0)
      record.versions.set(informer, version)
  }

  /** The error to retry with, or undefined when every write was seen; its record is dropped then. */
  check(key: string): StaleCacheError | undefined {
    const record = this.#written.get(key)
    if (record === undefined) return undefined
    for (const [informer, written] of record.versions) {
      const seen = informer.lastSyncResourceVersion()
      if (!isResourceVersion(seen) || compareResourceVersions(written, seen) <= 0) continue
      this.#skips?.increment({ group: informer.type.group, resource: informer.type.resource })
      return new StaleCacheError(key, informer.type, written, seen)
    }
    this.#written.delete(key)
    return undefined
  }

  forget(key: string): void {
    this.#written.delete(key)
  }
}

function sameResource(a: ResourceType, b: ResourceType): boolean {
  return a.group === b.group && a.resource === b.resource
}
