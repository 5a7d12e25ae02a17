/**
 * What a CustomResourceDefinition says of the migration of its objects.
 * Contract: docs/behaviour/controllers/storageversion-gc-and-migrator.md, Sync, Runner.
 */
import { findCondition, resources } from '@gyropilot/api'
import type {
  CustomResourceDefinition,
  KubernetesObject,
  StatusCondition,
  StorageVersionMigration,
} from '@gyropilot/api'
import { isConflict, isNotFound } from '@gyropilot/client'
import { formatTime } from '@gyropilot/foundation'
import { apply, currentTimeMs, getLive, wait, write } from '@gyropilot/runtime'
import type { Reconcile } from '@gyropilot/runtime'
import {
  CONFLICT_JITTER,
  CONFLICT_PAUSE_MS,
  CONFLICT_TRIES,
  RUNNER_FIELD_MANAGER,
} from './config.ts'
import { hasSucceeded, resourceKey } from './migration.ts'

const STORAGE_MIGRATING = 'StorageMigrating'
const SUCCEEDED = 'The migration has succeeded and the stored versions have been updated'
const SUCCEEDED_WITHOUT_VERSIONS =
  'The migration has succeeded but the stored versions have not been updated due to a generation mismatch'

interface DefinitionStatus {
  readonly conditions: readonly StatusCondition[]
  readonly storedVersions?: readonly string[]
}

type StatusOf = (definition: CustomResourceDefinition, nowText: string) => DefinitionStatus

export function migrationBegins(migration: StorageVersionMigration): StatusOf {
  return (definition, nowText) =>
    statusWith(definition, nowText, {
      status: 'True',
      reason: 'MigrationRunning',
      message: `Migration ${migration.metadata?.name} is running`,
    })
}

/**
 * Old versions are forgotten if what is stored now was stored when the migration began; also after one that failed, as
 * upstream does.
 */
export function migrationEnds(migration: StorageVersionMigration): StatusOf {
  return (definition, nowText) => {
    const began = findCondition<ObservedCondition>(definition.status?.conditions, STORAGE_MIGRATING)
    const isSame =
      began?.observedGeneration !== undefined &&
      began.observedGeneration === definition.metadata?.generation
    const stored = definition.spec.versions.find(({ storage }) => storage)?.name
    return {
      ...statusWith(definition, nowText, saidAtEnd(migration, isSame)),
      ...(isSame && stored !== undefined ? { storedVersions: [stored] } : {}),
    }
  }
}

function saidAtEnd(migration: StorageVersionMigration, isSame: boolean): Said {
  if (!hasSucceeded(migration))
    return { status: 'False', reason: 'MigrationFailed', message: 'The migration has failed' }
  const message = isSame ? SUCCEEDED : SUCCEEDED_WITHOUT_VERSIONS
  return { status: 'False', reason: 'MigrationSucceeded', message }
}

interface ObservedCondition extends StatusCondition {
  readonly observedGeneration?: number
}

type Said = Pick<StatusCondition, 'status' | 'reason' | 'message'>

function statusWith(
  { metadata }: CustomResourceDefinition,
  nowText: string,
  said: Said,
): DefinitionStatus {
  const condition: ObservedCondition = {
    type: STORAGE_MIGRATING,
    ...said,
    lastTransitionTime: nowText,
    observedGeneration: metadata?.generation,
  }
  return { conditions: [condition] }
}

/** Says it in the definition of the resource, if it has one. Answers the error. `random` is 0 to 1. */
export function* tellDefinition(
  migration: StorageVersionMigration,
  statusOf: StatusOf,
  random: () => number,
): Reconcile<unknown> {
  const name = resourceKey(migration)
  let conflict: unknown
  for (let tries = 0; tries < CONFLICT_TRIES; tries++) {
    if (tries > 0) yield* wait(CONFLICT_PAUSE_MS * (1 + random() * CONFLICT_JITTER))
    const found = yield* getLive(resources.customresourcedefinitions, undefined, name)
    if (!found.ok) return isNotFound(found.error) ? undefined : found.error
    const nowText = formatTime(yield* currentTimeMs())
    const { resourceVersion } = found.object.metadata ?? {}
    const status = statusOf(found.object, nowText)
    const applied: KubernetesObject & { readonly status: DefinitionStatus } = {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name, resourceVersion },
      status,
    }
    const outcome = yield* write(
      apply(
        resources.customresourcedefinitions,
        applied as unknown as CustomResourceDefinition,
        RUNNER_FIELD_MANAGER,
        'status',
      ),
    )
    if (outcome.ok) return undefined
    if (!isConflict(outcome.error)) return outcome.error
    conflict = outcome.error
  }
  return conflict
}
