/**
 * Writes every object of a resource anew, so that the server stores it in the version of now.
 * Step numbers are those of docs/behaviour/controllers/storageversion-gc-and-migrator.md, Sync, Migrator.
 */
import { apiVersionOf } from '@gyropilot/api'
import type {
  DiscoveredResource,
  KubernetesObject,
  ResourceType,
  StorageVersionMigration,
} from '@gyropilot/api'
import {
  asType,
  isConflict,
  isConnectionLost,
  isInternalError,
  isServerTimeout,
  isServiceUnavailable,
  isTimeout,
  isTooManyRequests,
  isTransportTimeout,
  statusErrorIn,
} from '@gyropilot/client'
import { errorText } from '@gyropilot/foundation'
import {
  compareResourceVersions,
  currentTimeMs,
  isResourceVersion,
  wait,
  write,
} from '@gyropilot/runtime'
import type { Reconcile, Verdict, Write } from '@gyropilot/runtime'
import { MIGRATION_FIELD_MANAGER, MONITOR_POLL_MS, MONITOR_WAIT_MS } from './config.ts'
import { findResource } from './find-resource.ts'
import { awaited, isTerminal, isYoung, markFailed, markSucceeded } from './migration.ts'

/** What the garbage collector's cache knows of a resource. */
export interface MonitoredObjects {
  isSynced(): boolean
  /** How far the cache has come; empty: nowhere yet. */
  resourceVersion(): string
  objects(): readonly KubernetesObject[]
}

export interface MigrationWorld {
  /** Undefined: the garbage collector does not watch this resource. */
  monitorOf(resource: DiscoveredResource): MonitoredObjects | undefined
  /** The server asks for this much patience before the next try of the migration. */
  suggestDelay(migration: StorageVersionMigration, delayMs: number): void
}

export function* migrate(migration: StorageVersionMigration, world: MigrationWorld): Reconcile {
  // 1.
  const checkpoint = migration.status?.resourceVersion
  if (isTerminal(migration) || !checkpoint) return
  // 2.
  const found = yield* findResource(migration)
  if (!found.ok) return { error: found.error }
  const resource = found.object
  if (resource === undefined)
    return yield* retryWhileYoung(migration, 'unable to obtain GVR from discovery')
  // 3.
  const monitor = world.monitorOf(resource)
  if (monitor === undefined)
    return { error: new Error(`the garbage collector does not monitor ${resource.resource}`) }
  if (!(yield* becomesSynced(monitor)))
    return yield* retryWhileYoung(migration, `the cache of ${resource.resource} is not filled`)
  // 4.
  const seen = monitor.resourceVersion()
  if (!isResourceVersion(seen)) return yield* fail(migration, incomparable(seen))
  if (!isResourceVersion(checkpoint)) return yield* fail(migration, incomparable(checkpoint))
  if (compareResourceVersions(seen, checkpoint) < 0)
    return awaited(`the cache is at ${seen}, which is before ${checkpoint}`)
  // 5.
  for (const object of monitor.objects()) {
    const version = object.metadata?.resourceVersion
    if (!isResourceVersion(version)) return yield* fail(migration, incomparable(version ?? ''))
    if (compareResourceVersions(version, checkpoint) > 0) continue
    const outcome = yield* write(rewrite(asType(resource), object))
    // Changed or gone since: either way it is not in the old version any more.
    if (outcome.ok || isConflict(outcome.error)) continue
    if (!isRetriable(outcome.error)) return yield* fail(migration, errorText(outcome.error))
    const delayMs = statusErrorIn(outcome.error)?.retryAfterMs
    if (delayMs !== undefined) world.suggestDelay(migration, delayMs)
    return { error: outcome.error }
  }
  // 6.
  return yield* markSucceeded(migration)
}

/** Owns no field and takes none over. The uid keeps an object that is gone from being made anew. */
function rewrite(type: ResourceType, { metadata }: KubernetesObject): Write {
  const { name = '', namespace, uid, resourceVersion } = metadata ?? {}
  return {
    verb: 'apply',
    type,
    namespace,
    name,
    object: { apiVersion: apiVersionOf(type), kind: type.kind, metadata: { uid, resourceVersion } },
    fieldManager: MIGRATION_FIELD_MANAGER,
    force: false,
  }
}

const incomparable = (version: string): string => `resourceVersion "${version}" cannot be compared`

function* fail(migration: StorageVersionMigration, problem: string): Reconcile {
  return yield* markFailed(migration, `migration encountered unhandled error: ${problem}`)
}

function* retryWhileYoung(
  migration: StorageVersionMigration,
  problem: string,
): Reconcile<Verdict | void> {
  if (isYoung(migration, yield* currentTimeMs())) return awaited(problem)
  return yield* fail(migration, problem)
}

function* becomesSynced(monitor: MonitoredObjects): Reconcile<boolean> {
  for (let waitedMs = 0; !monitor.isSynced(); waitedMs += MONITOR_POLL_MS) {
    if (waitedMs >= MONITOR_WAIT_MS) return false
    yield* wait(MONITOR_POLL_MS)
  }
  return true
}

const RETRIABLE: readonly ((error: unknown) => boolean)[] = [
  isConnectionLost,
  isTransportTimeout,
  isServerTimeout,
  isTooManyRequests,
  isServiceUnavailable,
  isInternalError,
  isTimeout,
]

/** It may go well another time. */
export function isRetriable(error: unknown): boolean {
  return RETRIABLE.some((applies) => applies(error))
}
