/**
 * StorageVersionMigration: the wish that all objects of a resource be written anew. Beta and off by default.
 * Contract: docs/behaviour/controllers/storageversion-gc-and-migrator.md, Status and conditions.
 */
import { findCondition, isConditionTrue, parseTime, resourcesOnRequest } from '@gyropilot/api'
import type {
  Condition,
  GroupResource,
  StorageVersionMigration,
  StorageVersionMigrationStatus,
} from '@gyropilot/api'
import { formatTime } from '@gyropilot/foundation'
import { currentTimeMs, updateStatus, write } from '@gyropilot/runtime'
import type { Reconcile, Verdict } from '@gyropilot/runtime'
import { NEW_RESOURCE_GRACE_MS } from './config.ts'

export const MIGRATIONS = resourcesOnRequest.storageversionmigrations

export function resourceOf({ spec }: StorageVersionMigration): GroupResource {
  return { group: spec?.resource?.group ?? '', resource: spec?.resource?.resource ?? '' }
}

/** `<resource>.<group>`: the key of the runner, and the name of the definition where it is a custom one. */
export function resourceKey(migration: StorageVersionMigration): string {
  const { group, resource } = resourceOf(migration)
  return `${resource}.${group}`
}

export const isRunning = ({ status }: StorageVersionMigration): boolean =>
  isConditionTrue(status?.conditions, 'Running')
export const hasSucceeded = ({ status }: StorageVersionMigration): boolean =>
  isConditionTrue(status?.conditions, 'Succeeded')
export const isTerminal = (migration: StorageVersionMigration): boolean =>
  hasSucceeded(migration) || isConditionTrue(migration.status?.conditions, 'Failed')

/** The clause of a new resource: what it lacks may still come. */
export function isYoung({ metadata }: StorageVersionMigration, nowMs: number): boolean {
  return nowMs - (parseTime(metadata?.creationTimestamp) ?? 0) < NEW_RESOURCE_GRACE_MS
}

/** Not there yet: tried again, and told only to who wants to know, as upstream does. */
export function awaited(problem: string): Verdict {
  return { error: new Error(problem), expected: true }
}

type ConditionType = 'Running' | 'Succeeded' | 'Failed'

const REASONS: Readonly<Record<ConditionType, string>> = {
  Running: 'MigrationRunning',
  Succeeded: 'StorageVersionMigrationSucceeded',
  Failed: 'StorageVersionMigrationFailed',
}

export function* markRunning(migration: StorageVersionMigration): Reconcile {
  return yield* settle(migration, 'Running', 'The migration is running')
}

export function* markSucceeded(migration: StorageVersionMigration): Reconcile {
  return yield* settle(migration, 'Succeeded', '')
}

export function* markFailed(migration: StorageVersionMigration, message: string): Reconcile {
  return yield* settle(migration, 'Failed', message)
}

/** The resource is free for the next migration. */
export function* markNotRunning(migration: StorageVersionMigration): Reconcile {
  const condition: Condition = {
    type: 'Running',
    status: 'False',
    lastTransitionTime: formatTime(yield* currentTimeMs()),
    reason: 'MigrationCompleted',
    message: 'Migration completed',
  }
  const conditions = migration.status?.conditions ?? []
  return yield* writeStatus(migration, {
    conditions: conditions.map((each) => (each.type === 'Running' ? condition : each)),
  })
}

/** What is known for True or False already is not said again. */
function* settle(
  migration: StorageVersionMigration,
  type: ConditionType,
  message: string,
): Reconcile {
  const conditions = migration.status?.conditions ?? []
  const known = findCondition(conditions, type)
  if (known?.status === 'True' || known?.status === 'False') return
  const condition: Condition = {
    type,
    status: 'True',
    lastTransitionTime: formatTime(yield* currentTimeMs()),
    reason: REASONS[type],
    message,
  }
  const others = conditions.filter((each) => each !== known)
  return yield* writeStatus(migration, { conditions: [...others, condition] })
}

export function* writeStatus(
  migration: StorageVersionMigration,
  status: StorageVersionMigrationStatus,
): Reconcile {
  const outcome = yield* write(
    updateStatus(MIGRATIONS, { ...migration, status: { ...migration.status, ...status } }),
  )
  return outcome.ok ? undefined : { error: outcome.error }
}
