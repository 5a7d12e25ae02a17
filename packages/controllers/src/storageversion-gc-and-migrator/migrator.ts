/**
 * storage-version-migrator-controller: writes the objects of a resource anew when somebody asks for it.
 * Contract: docs/behaviour/controllers/storageversion-gc-and-migrator.md.
 */
import { defaultControllerRateLimiter, runKeyedController } from '@gyropilot/runtime'
import type { ControllerContext, ControllerDescriptor, KeyedController } from '@gyropilot/runtime'
import { keyOf } from '@gyropilot/api'
import type { StorageVersionMigration } from '@gyropilot/api'
import { featureEnabled } from '../configuration.ts'
import type { ControllersConfiguration } from '../configuration.ts'
import {
  MIGRATION_QUEUE,
  MIGRATION_WORKERS,
  MIGRATOR_GATE,
  MIGRATOR_IDENTITY,
  VERSION_GATES,
  VERSION_QUEUE,
} from './config.ts'
import { migrate } from './migrate.ts'
import type { MigrationWorld } from './migrate.ts'
import { MIGRATIONS } from './migration.ts'
import {
  MIGRATIONS_BY_RESOURCE,
  migrationWatch,
  migrationsByResource,
  resourceWatch,
} from './migration-watches.ts'
import { monitoredObjects } from './monitored-objects.ts'
import { recordVersion } from './record-version.ts'
import { runNext } from './run-next.ts'
import { SuggestedDelays } from './suggested-delays.ts'

type Context = ControllerContext<ControllersConfiguration>

export const storageVersionMigratorController: ControllerDescriptor<ControllersConfiguration> = {
  name: 'storage-version-migrator-controller',
  aliases: ['svm'],
  enabledByDefault: true,
  featureGates: [MIGRATOR_GATE, ...VERSION_GATES],
  serviceAccount: MIGRATOR_IDENTITY,
  clientRate: { qpsFactor: 20, burstFactor: 100 },
  build(context) {
    const { configuration } = context
    // Off by default: who says nothing has it off, and no informer may ask for what is not served.
    if (configuration.featureGates[MIGRATOR_GATE] !== true) return undefined
    if (!VERSION_GATES.every((gate) => featureEnabled(configuration, gate))) return undefined
    if (!configuration.garbageCollector.enableGarbageCollector)
      throw new Error('storage version migrator requires garbage collector')
    let running: AbortSignal | undefined
    const parts = [
      runKeyedController(runnerLogic(context), context),
      runKeyedController(versionLogic(context), context),
      runKeyedController(
        migratorLogic(context, () => running),
        context,
      ),
    ]
    return {
      async run(signal) {
        await context.informersStarted
        running = signal
        await Promise.all(parts.map((part) => part.run(signal)))
      },
    }
  },
}

export function runnerLogic({
  informers,
  random,
}: Pick<Context, 'informers' | 'random'>): KeyedController<readonly StorageVersionMigration[]> {
  const migrations = informers.informer(MIGRATIONS)
  migrations.addIndex(MIGRATIONS_BY_RESOURCE, migrationsByResource)
  return {
    workers: 1,
    watches: [resourceWatch],
    observe: (key) => migrations.lister.byIndex(MIGRATIONS_BY_RESOURCE, key),
    reconcile: (observed) => runNext(observed, () => random.next()),
  }
}

export function versionLogic({
  informers,
}: Pick<Context, 'informers'>): KeyedController<StorageVersionMigration> {
  const migrations = informers.informer(MIGRATIONS)
  return {
    queueName: VERSION_QUEUE,
    workers: 1,
    watches: [migrationWatch],
    observe: (name) => migrations.lister.getByKey(name),
    reconcile: recordVersion,
  }
}

/** `running` is the signal of the run, once it has begun: caches that are missing are begun under it. */
export function migratorLogic(
  { informers, metadataInformers, clock }: Context,
  running: () => AbortSignal | undefined,
): KeyedController<StorageVersionMigration> {
  const migrations = informers.informer(MIGRATIONS)
  const rateLimiter = new SuggestedDelays(defaultControllerRateLimiter(clock))
  const world: MigrationWorld = {
    monitorOf: monitoredObjects(metadataInformers, running),
    suggestDelay: (migration, delayMs) => rateLimiter.suggest(keyOf(migration), delayMs),
  }
  return {
    queueName: MIGRATION_QUEUE,
    workers: MIGRATION_WORKERS,
    watches: [migrationWatch],
    rateLimiter,
    observe: (name) => migrations.lister.getByKey(name),
    reconcile: (migration) => migrate(migration, world),
  }
}
