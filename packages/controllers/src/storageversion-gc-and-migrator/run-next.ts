/**
 * The runner: one migration of a resource at a time, the oldest first.
 * Step numbers are those of docs/behaviour/controllers/storageversion-gc-and-migrator.md, Sync, Runner.
 */
import { compareTimes } from '@gyropilot/api'
import type { StorageVersionMigration } from '@gyropilot/api'
import { compareStrings } from '@gyropilot/foundation'
import type { Reconcile } from '@gyropilot/runtime'
import { migrationBegins, migrationEnds, tellDefinition } from './definition-status.ts'
import { isRunning, isTerminal, markNotRunning, markRunning } from './migration.ts'

/** 1. `migrations` are all of one resource. `random` is 0 to 1. */
export function* runNext(
  migrations: readonly StorageVersionMigration[],
  random: () => number,
): Reconcile {
  // 2.
  for (const migration of migrations) {
    if (!isRunning(migration) || !isTerminal(migration)) continue
    const error = yield* tellDefinition(migration, migrationEnds(migration), random)
    if (error !== undefined) return { error }
    const verdict = yield* markNotRunning(migration)
    if (verdict?.error !== undefined) return verdict
  }
  // 3.
  if (migrations.some((migration) => isRunning(migration) && !isTerminal(migration))) return
  const [next] = migrations
    .filter((migration) => !isRunning(migration) && !isTerminal(migration))
    .sort(byAge)
  if (next === undefined) return
  const error = yield* tellDefinition(next, migrationBegins(next), random)
  if (error !== undefined) return { error }
  return yield* markRunning(next)
}

function byAge({ metadata: a }: StorageVersionMigration, { metadata: b }: StorageVersionMigration) {
  return (
    compareTimes(a?.creationTimestamp, b?.creationTimestamp) ||
    compareStrings(a?.name ?? '', b?.name ?? '')
  )
}
