/**
 * Which migrations an event concerns.
 * Contract: docs/behaviour/controllers/storageversion-gc-and-migrator.md, Watches and keys.
 */
import { keyOf } from '@gyropilot/api'
import type { StorageVersionMigration } from '@gyropilot/api'
import { DeletedFinalStateUnknown } from '@gyropilot/runtime'
import type { IndexFunction, Watch } from '@gyropilot/runtime'
import { MIGRATIONS, resourceKey } from './migration.ts'

export const MIGRATIONS_BY_RESOURCE = 'resource'

export const migrationsByResource: IndexFunction<StorageVersionMigration> = (migration) => [
  resourceKey(migration),
]

/** The runner's: a migration that is gone frees its resource, also one whose name another has taken. */
export const resourceWatch: Watch<StorageVersionMigration> = {
  type: MIGRATIONS,
  onAdd: (migration) => [resourceKey(migration)],
  onUpdate: (previous, current) =>
    previous.metadata?.uid === current.metadata?.uid
      ? [resourceKey(current)]
      : new Set([resourceKey(previous), resourceKey(current)]),
  onDelete: (migration) =>
    migration instanceof DeletedFinalStateUnknown ? [] : [resourceKey(migration)],
}

export const migrationWatch: Watch<StorageVersionMigration> = {
  type: MIGRATIONS,
  onAdd: (migration) => [keyOf(migration)],
  onUpdate: (_, current) => [keyOf(current)],
}
