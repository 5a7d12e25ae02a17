/**
 * Where a migration starts from: what is written after this version is in the new form already.
 * Step numbers are those of docs/behaviour/controllers/storageversion-gc-and-migrator.md, Sync, Resource-version loop.
 */
import type { DiscoveredResource, StorageVersionMigration } from '@gyropilot/api'
import { asType } from '@gyropilot/client'
import { currentTimeMs, isResourceVersion, listLive } from '@gyropilot/runtime'
import type { Reconcile } from '@gyropilot/runtime'
import { IMPOSSIBLE_NAMESPACE } from './config.ts'
import { findResource } from './find-resource.ts'
import { awaited, isRunning, isTerminal, isYoung, markFailed, writeStatus } from './migration.ts'

const NEEDED_VERBS = ['update', 'patch', 'list'] as const

/** Whether its objects can be read and written again: with all of the verbs. */
export function isMigratable({ verbs }: Pick<DiscoveredResource, 'verbs'>): boolean {
  return NEEDED_VERBS.every((verb) => verbs.includes(verb))
}

export function* recordVersion(migration: StorageVersionMigration): Reconcile {
  // 1.
  if (!isRunning(migration) || isTerminal(migration) || migration.status?.resourceVersion) return
  // 2.
  const found = yield* findResource(migration)
  if (!found.ok) return { error: found.error }
  const resource = found.object
  if (resource === undefined) {
    const problem = 'resource does not exist in discovery'
    if (isYoung(migration, yield* currentTimeMs())) return awaited(problem)
    return yield* markFailed(migration, problem)
  }
  // 3.
  if (!isMigratable(resource)) {
    // All that is needed, as upstream tells, not what of it is missing.
    return yield* markFailed(
      migration,
      `resource "${resourceText(resource)}" does not support discovery operations: [${NEEDED_VERBS.join(' ')}]`,
    )
  }
  // 4.
  const namespace = resource.namespaced ? IMPOSSIBLE_NAMESPACE : undefined
  const listed = yield* listLive(asType(resource), namespace, { metadataOnly: true, limit: 1 })
  if (!listed.ok) return { error: listed.error }
  // 5.
  const resourceVersion = listed.object.metadata?.resourceVersion
  if (!isResourceVersion(resourceVersion)) {
    return yield* markFailed(
      migration,
      `resource "${resourceText(resource)}" has a resourceVersion that cannot be compared: "${resourceVersion ?? ''}"`,
    )
  }
  return yield* writeStatus(migration, { resourceVersion })
}

/** As the server's own components write it: `apps/v1, Resource=deployments`. */
function resourceText({ group, version, resource }: DiscoveredResource): string {
  return `${group}/${version}, Resource=${resource}`
}
