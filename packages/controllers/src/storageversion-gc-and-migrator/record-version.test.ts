import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { DiscoveredResource, KubernetesObject, StorageVersionMigration } from '@gyropilot/api'
import type { Outcome } from '@gyropilot/runtime'
import { drive } from '@gyropilot/runtime/testing'
import { NOW_MS, refused } from '../workload-support/fixtures.ts'
import { condition, discoveredResource, discovery, migration, says } from './migration-fixtures.ts'
import { isMigratable, recordVersion } from './record-version.ts'

const RUNNING = condition('Running', 'True', 'MigrationRunning', 'The migration is running')
const failure = (message: string) =>
  condition('Failed', 'True', 'StorageVersionMigrationFailed', message)

interface Given {
  readonly resources?: readonly DiscoveredResource[]
  readonly failed?: Readonly<Record<string, string>>
  readonly discovered?: Outcome
  readonly listed?: Outcome
  readonly code?: number
}

function sync(given: StorageVersionMigration, world: Given = {}) {
  const { resources = [discoveredResource()], failed, code } = world
  const listed = world.listed ?? { ok: true, object: { metadata: { resourceVersion: '42' } } }
  const { writes, effects, result } = drive(recordVersion(given), {
    nowMs: NOW_MS,
    onRead: (read) =>
      read.verb === 'discover' ? (world.discovered ?? discovery(resources, failed)) : listed,
    onWrite: () => (code === undefined ? undefined : refused(code, 'x', 'no')),
  })
  const written = writes.map((write) => {
    assert.ok(write.verb === 'update' && write.subresource === 'status')
    return write.object
  })
  const lists = effects.flatMap((effect) =>
    effect.effect === 'read' && effect.read.verb === 'list' ? [effect.read] : [],
  )
  const verdict = result as { error?: Error; expected?: true } | undefined
  const isQuiet = verdict?.expected
  return { written, lists, error: verdict?.error?.message, ...(isQuiet && { isQuiet }) }
}

const running = migration(['running'])
const old = migration(['running'], { ageMs: 60_000 })
const young = migration(['running'], { ageMs: 59_000 })

test('Given verb sets, then migratable or not.', () => {
  const isWith = (...verbs: readonly string[]) => isMigratable({ verbs })
  assert.equal(isWith('get', 'list', 'patch', 'update', 'watch'), true)
  assert.equal(isWith(), false)
  assert.equal(isWith('list', 'create', 'update'), false)
  const resources = [discoveredResource({ verbs: ['get', 'update'] })]
  const message =
    'resource "apps/v1, Resource=deployments" does not support discovery operations: [update patch list]'
  assert.deepEqual(sync(running, { resources }).written, [says(running, RUNNING, failure(message))])
})

const listOf = (resourceVersion: string | undefined): Outcome => ({
  ok: true,
  object: { metadata: { resourceVersion } } as KubernetesObject,
})
const LONG = '9'.repeat(30)

test('Given SVM states, list errors, bad versions, then status writes or errors.', () => {
  for (const version of ['42', LONG]) {
    const { written } = sync(running, { listed: listOf(version) })
    const after = { ...running, status: { ...running.status, resourceVersion: version } }
    assert.deepEqual(written, [after])
  }
  const idle = [
    migration(),
    migration(['released']),
    migration(['running', 'succeeded']),
    migration(['running', 'failed']),
    migration(['running'], { resourceVersion: '1' }),
  ]
  for (const each of idle)
    assert.deepEqual(sync(each), { written: [], lists: [], error: undefined })
  const refusedList = sync(running, { listed: refused(500, 'x', 'no') })
  assert.deepEqual([refusedList.written, refusedList.error], [[], 'no'])
  for (const version of ['0', '', '007', 'a', undefined, '-1', '1.5']) {
    const [written] = sync(running, { listed: listOf(version) })
      .written as StorageVersionMigration[]
    assert.equal(written?.status?.conditions?.at(-1)?.type, 'Failed', String(version))
    assert.equal(written?.status?.resourceVersion, undefined)
  }
})

test('a missing resource is waited for while the migration is younger than 1 minute', () => {
  const message = 'resource does not exist in discovery'
  const resources = [discoveredResource({ group: 'other' })]
  assert.deepEqual(sync(old, { resources }).written, [says(old, RUNNING, failure(message))])
  const quiet = { written: [], lists: [], error: message, isQuiet: true }
  assert.deepEqual(sync(young, { resources }), quiet, 'and not told at default verbosity')
})

test('discovery that fails, or whose group does not answer, is retried at any age', () => {
  assert.equal(sync(old, { discovered: refused(500, 'x', 'no') }).error, 'no')
  const down = sync(old, { resources: [], failed: { 'apps/v1': 'down' } })
  assert.deepEqual([down.written, down.error], [[], 'apps/v1: down'])
  const elsewhere = sync(old, { resources: [], failed: { 'other/v1': 'down' } })
  assert.deepEqual([elsewhere.error, elsewhere.written.length], [undefined, 1])
  const text = { ok: true, object: { metadata: { resourceVersion: 'x' } } } as const
  assert.match(
    JSON.stringify(sync(running, { listed: text }).written),
    /cannot be compared: \\"x\\"/,
  )
  const other = sync(old, { failed: { 'other/v1': 'down' } })
  assert.equal(other.written.length, 1)
})

test('the version comes from a metadata list of one, in a namespace that cannot be where there are namespaces', () => {
  const listed = (namespaced: boolean) => {
    const resources = [discoveredResource({ namespaced })]
    const [read] = sync(running, { resources }).lists
    return [read?.namespace, read?.metadataOnly, read?.limit]
  }
  assert.deepEqual(listed(true), ['@fake:svm_ns!', true, 1])
  assert.deepEqual(listed(false), [undefined, true, 1])
})

test('a refused status write is retried', () => {
  assert.equal(sync(running, { code: 409 }).error, 'no')
  assert.equal(sync(old, { code: 409, resources: [] }).error, 'no')
})
