import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { CustomResourceDefinition, StorageVersionMigration } from '@gyropilot/api'
import { drive } from '@gyropilot/runtime/testing'
import type { DriveOptions } from '@gyropilot/runtime/testing'
import { NOW_MS, refused } from '../workload-support/fixtures.ts'
import { condition, migration, says } from './migration-fixtures.ts'
import { markFailed, markSucceeded } from './migration.ts'
import { runNext } from './run-next.ts'

const RUNNING = condition('Running', 'True', 'MigrationRunning', 'The migration is running')
const RELEASED = condition('Running', 'False', 'MigrationCompleted', 'Migration completed')
const SUCCEEDED = condition('Succeeded', 'True', 'StorageVersionMigrationSucceeded', '')
const FAILED = condition('Failed', 'True', 'StorageVersionMigrationFailed', 'why')

/** A definition whose generation is 2; `began` is that of its migration. */
function definition(began?: number): CustomResourceDefinition {
  const migrating = { type: 'StorageMigrating', status: 'True', observedGeneration: began }
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'deployments.apps', resourceVersion: '9', generation: 2 },
    spec: {
      group: 'apps',
      scope: 'Namespaced',
      names: { plural: 'deployments', kind: 'Deployment' },
      versions: [
        { name: 'v1', served: true, storage: false },
        { name: 'v2', served: true, storage: true },
      ],
    },
    status: began === undefined ? {} : { conditions: [migrating] },
  } as CustomResourceDefinition
}

function applied(
  status: 'True' | 'False',
  reason: string,
  message: string,
  storedVersions?: string[],
) {
  return {
    verb: 'apply',
    name: 'deployments.apps',
    fieldManager: 'migration-runner-controller',
    force: true,
    subresource: 'status',
    object: {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: 'deployments.apps', resourceVersion: '9' },
      status: {
        conditions: [
          { ...condition('StorageMigrating', status, reason, message), observedGeneration: 2 },
        ],
        ...(storedVersions === undefined ? {} : { storedVersions }),
      },
    },
  }
}

function run(
  migrations: readonly StorageVersionMigration[],
  crd?: CustomResourceDefinition,
  options: DriveOptions = {},
) {
  const { writes, effects, result } = drive(
    runNext(migrations, () => 0.5),
    {
      nowMs: NOW_MS,
      onRead(read) {
        assert.ok(read.verb === 'get' && read.name === 'deployments.apps')
        return crd === undefined ? refused(404, 'NotFound') : { ok: true, object: crd }
      },
      ...options,
    },
  )
  const written = writes.map((write) => {
    if (write.verb === 'update') {
      assert.equal(write.subresource, 'status')
      return write.object
    }
    assert.ok(write.verb === 'apply')
    const { verb, name, fieldManager, force, subresource, object } = write
    return { verb, name, fieldManager, force, subresource, object }
  })
  const waits = effects.flatMap((effect) => (effect.effect === 'wait' ? [effect.waitMs] : []))
  return { written, waits, error: (result as { error?: Error } | undefined)?.error?.message }
}

const pending = migration()
const succeeded = migration(['running', 'succeeded'])
const failed = migration(['running', 'failed'])
const UPDATED = 'The migration has succeeded and the stored versions have been updated'
const MISMATCH =
  'The migration has succeeded but the stored versions have not been updated due to a generation mismatch'
const began = applied('True', 'MigrationRunning', 'Migration m is running')
const older = migration([], { name: 'z', ageMs: 5_000 })
const later = migration([], { name: 'a' })

const CASES: readonly (readonly [
  string,
  readonly StorageVersionMigration[],
  CustomResourceDefinition | undefined,
  readonly unknown[],
])[] = [
  ['no CRD', [pending], undefined, [says(pending, RUNNING)]],
  ['a CRD', [pending], definition(), [began, says(pending, RUNNING)]],
  ['a running SVM', [migration(['running']), later], definition(2), []],
  [
    'succeeded',
    [succeeded],
    definition(2),
    [applied('False', 'MigrationSucceeded', UPDATED, ['v2']), says(succeeded, RELEASED, SUCCEEDED)],
  ],
  ['succeeded, no CRD', [succeeded], undefined, [says(succeeded, RELEASED, SUCCEEDED)]],
  [
    'generation mismatch',
    [succeeded],
    definition(1),
    [applied('False', 'MigrationSucceeded', MISMATCH), says(succeeded, RELEASED, SUCCEEDED)],
  ],
  [
    'no condition of the beginning is a mismatch',
    [succeeded],
    definition(),
    [applied('False', 'MigrationSucceeded', MISMATCH), says(succeeded, RELEASED, SUCCEEDED)],
  ],
  [
    'failed',
    [failed],
    definition(2),
    [
      applied('False', 'MigrationFailed', 'The migration has failed', ['v2']),
      says(failed, RELEASED, FAILED),
    ],
  ],
  [
    'failed, generation mismatch',
    [failed],
    definition(1),
    [
      applied('False', 'MigrationFailed', 'The migration has failed'),
      says(failed, RELEASED, FAILED),
    ],
  ],
  ['two pending SVMs', [later, older], undefined, [says(older, RUNNING)]],
  [
    'two pending SVMs of one second: by name',
    [migration([], { name: 'b' }), later],
    undefined,
    [says(later, RUNNING)],
  ],
  [
    'the one that ended makes room for the next',
    [succeeded, later],
    undefined,
    [says(succeeded, RELEASED, SUCCEEDED), says(later, RUNNING)],
  ],
  [
    'a cleaned up one is no candidate',
    [migration(['released', 'succeeded']), migration(['failed'])],
    undefined,
    [],
  ],
  ['none', [], undefined, []],
]

test('Given no CRD, a CRD, a running SVM, succeeded, generation mismatch, failed, two pending SVMs, then the writes above.', () => {
  for (const [title, migrations, crd, written] of CASES)
    assert.deepEqual(run(migrations, crd), { written, waits: [], error: undefined }, title)
})

test('a condition Running that is True or False is not set to True again', () => {
  const released = migration(['released'])
  assert.deepEqual(run([released], undefined).written, [])
})

test('a conflict at the CRD is tried 5 times, with pauses, on what it is then', () => {
  const conflicts = (count: number) =>
    run([pending], definition(), {
      onWrite: (write, index) =>
        write.verb === 'apply' && index < count ? refused(409, 'Conflict', 'changed') : undefined,
    })
  const four = conflicts(4)
  assert.deepEqual(
    [four.written.length, four.waits, four.error],
    [6, [10.5, 10.5, 10.5, 10.5], undefined],
  )
  const five = conflicts(5)
  assert.deepEqual([five.written.length, five.waits.length, five.error], [5, 4, 'changed'])
})

test('any other error of the CRD is retried by the queue, and the migration is not touched', () => {
  const refusedRead = run([pending], undefined, { onRead: () => refused(500, 'x', 'no') })
  assert.deepEqual([refusedRead.written, refusedRead.error], [[], 'no'])
  for (const each of [pending, succeeded]) {
    const refusedWrite = run([each, later], definition(2), {
      onWrite: () => refused(403, 'x', 'no'),
    })
    assert.deepEqual([refusedWrite.written.length, refusedWrite.error], [1, 'no'])
  }
})

test('a release that is refused promotes nobody', () => {
  const { written, error } = run([succeeded, later], undefined, {
    onWrite: () => refused(409, 'Conflict', 'changed'),
  })
  assert.deepEqual([written.length, error], [1, 'changed'])
})

test('one that has ended is not begun again, and what is known of a migration is not said twice', () => {
  const ended = [migration(['succeeded']), migration(['released', 'failed'])]
  assert.deepEqual(drive(runNext(ended, () => 0)).effects, [])
  assert.deepEqual(drive(markSucceeded(migration(['succeeded']))).effects, [])
  const unsure = says(migration(), condition('Failed', 'Unknown', 'why', 'why'))
  const [write] = drive(markFailed(unsure, 'no'), { nowMs: NOW_MS }).writes
  assert.ok(write?.verb === 'update')
  const { status } = write.object as StorageVersionMigration
  assert.deepEqual(
    status?.conditions?.map(({ type, status: said }) => `${type} ${said}`),
    ['Failed True'],
  )
})
