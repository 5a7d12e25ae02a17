import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { DiscoveredResource, KubernetesObject, StorageVersionMigration } from '@gyropilot/api'
import { StatusError, TransportError } from '@gyropilot/client'
import type { Outcome } from '@gyropilot/runtime'
import { drive } from '@gyropilot/runtime/testing'
import { NOW_MS, refusal, refused } from '../workload-support/fixtures.ts'
import { isRetriable, migrate } from './migrate.ts'
import type { MonitoredObjects } from './migrate.ts'
import { condition, discoveredResource, discovery, migration, says } from './migration-fixtures.ts'

const SUCCEEDED = condition('Succeeded', 'True', 'StorageVersionMigrationSucceeded', '')
const failure = (problem: string) =>
  condition(
    'Failed',
    'True',
    'StorageVersionMigrationFailed',
    `migration encountered unhandled error: ${problem}`,
  )

function object(name: string, resourceVersion: string): KubernetesObject {
  return {
    apiVersion: 'meta.k8s.io/v1',
    kind: 'PartialObjectMetadata',
    metadata: { name, namespace: 'ns', uid: `${name}-uid`, resourceVersion, labels: { a: 'b' } },
  }
}

interface World {
  readonly objects?: readonly KubernetesObject[]
  readonly seen?: string
  readonly isSynced?: boolean
  readonly isMonitored?: boolean
  readonly resources?: readonly DiscoveredResource[]
  readonly discovered?: Outcome
  /** What applying to the object of this name is answered with. */
  readonly refuses?: Readonly<Record<string, unknown>>
}

function sync(given: StorageVersionMigration, world: World = {}) {
  const { objects = [], seen = '10', isSynced = true, isMonitored = true, refuses = {} } = world
  const suggested: number[] = []
  const monitor: MonitoredObjects = {
    isSynced: () => isSynced,
    resourceVersion: () => seen,
    objects: () => objects,
  }
  const rules = migrate(given, {
    monitorOf: () => (isMonitored ? monitor : undefined),
    suggestDelay: (_, delayMs) => void suggested.push(delayMs),
  })
  const { writes, effects, result } = drive(rules, {
    nowMs: NOW_MS,
    onRead: () => world.discovered ?? discovery(world.resources ?? [discoveredResource()]),
    onWrite(write) {
      const error = write.verb === 'apply' ? refuses[write.name] : undefined
      return error === undefined ? undefined : { ok: false, error, attempted: true }
    },
  })
  const applied = writes.flatMap((write) => (write.verb === 'apply' ? [write] : []))
  const written = writes.flatMap((write) => {
    if (write.verb === 'apply') return []
    assert.ok(write.verb === 'update' && write.subresource === 'status')
    return [write.object]
  })
  const waitedMs = effects.reduce(
    (sum, effect) => sum + (effect.effect === 'wait' ? effect.waitMs : 0),
    0,
  )
  const verdict = result as { error?: Error; expected?: true } | undefined
  return {
    applied,
    names: applied.map(({ name }) => name),
    written,
    waitedMs,
    suggested,
    error: verdict?.error?.message,
    isQuiet: verdict?.expected,
  }
}

const ready = migration(['running'], { resourceVersion: '10' })
const old = migration(['running'], { resourceVersion: '10', ageMs: 60_000 })
const RUNNING = condition('Running', 'True', 'MigrationRunning', 'The migration is running')
const ended = (problem?: string, of = ready) =>
  says(of, RUNNING, problem === undefined ? SUCCEEDED : failure(problem))

const conflict = refusal(409, 'Conflict')
const a = object('a', '5')
const b = object('b', '10')
const c = object('c', '9')

const CASES: readonly (readonly [
  string,
  StorageVersionMigration,
  World,
  { readonly names?: readonly string[]; readonly written?: readonly unknown[]; error?: string },
])[] = [
  ['stale cache', ready, { seen: '9' }, { error: 'the cache is at 9, which is before 10' }],
  [
    'missing monitor',
    old,
    { isMonitored: false },
    { error: 'the garbage collector does not monitor deployments' },
  ],
  [
    'fatal error',
    ready,
    { objects: [a, b], refuses: { a: refusal(422, 'Invalid', 'is wrong') } },
    { names: ['a'], written: [ended('is wrong')] },
  ],
  [
    'conflict',
    ready,
    { objects: [a, b], refuses: { a: conflict } },
    { names: ['a', 'b'], written: [ended()] },
  ],
  [
    'retriable error',
    ready,
    { objects: [a, b, c], refuses: { b: refusal(503, 'ServiceUnavailable', 'later') } },
    { names: ['a', 'b'], error: 'later' },
  ],
  [
    'incomparable versions: of the cache',
    ready,
    { seen: '' },
    { written: [ended('resourceVersion "" cannot be compared')] },
  ],
  [
    'incomparable versions: of the migration',
    migration(['running'], { resourceVersion: '010' }),
    {},
    {
      written: [
        ended(
          'resourceVersion "010" cannot be compared',
          migration(['running'], { resourceVersion: '010' }),
        ),
      ],
    },
  ],
  [
    'incomparable versions: of an object',
    ready,
    { objects: [a, object('bad', '0'), b] },
    { names: ['a'], written: [ended('resourceVersion "0" cannot be compared')] },
  ],
  ['nothing to do', ready, {}, { written: [ended()] }],
  ['succeeded before', migration(['running', 'succeeded'], { resourceVersion: '10' }), {}, {}],
  ['failed before', migration(['running', 'failed'], { resourceVersion: '10' }), {}, {}],
  ['no checkpoint yet', migration(['running']), { objects: [a] }, {}],
]

test('Given stale cache, missing monitor, fatal error, conflict, retriable error, incomparable versions, then retry, Failed or Succeeded as above.', () => {
  for (const [title, given, world, expected] of CASES) {
    const { names, written, error } = sync(given, world)
    assert.deepEqual(
      { names, written, error },
      { names: [], written: [], error: undefined, ...expected },
      title,
    )
  }
})

test('the apply is not forced, owns no fields, and carries uid and resourceVersion', () => {
  const [only, ...more] = sync(ready, { objects: [a] }).applied
  assert.deepEqual(more, [])
  const { type, ...sent } = only!
  assert.deepEqual(sent, {
    verb: 'apply',
    namespace: 'ns',
    name: 'a',
    object: {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { uid: 'a-uid', resourceVersion: '5' },
    },
    fieldManager: 'storage-version-migrator-controller',
    force: false,
  })
  assert.deepEqual([type.group, type.version, type.resource], ['apps', 'v1', 'deployments'])
})

test('objects written after the checkpoint are skipped; versions may exceed 64 bits', () => {
  const long = '1'.repeat(30)
  const objects = [object('new', '11'), a, object('newer', '100'), object('longest', long)]
  assert.deepEqual(sync(ready, { objects }).names, ['a'])
  const far = migration(['running'], { resourceVersion: long })
  assert.deepEqual(sync(far, { objects, seen: `${long}0` }).names, ['new', 'a', 'newer', 'longest'])
})

test('a cache that is not filled is waited for 10 s, then the migration is retried while it is younger than 1 minute', () => {
  const problem = 'the cache of deployments is not filled'
  const young = sync(ready, { isSynced: false })
  assert.deepEqual([young.waitedMs, young.written, young.error], [10_000, [], problem])
  assert.deepEqual(sync(old, { isSynced: false }).written, [ended(problem, old)])
})

test('a missing resource is waited for while the migration is younger than 1 minute', () => {
  const problem = 'unable to obtain GVR from discovery'
  const young = sync(ready, { resources: [] })
  assert.deepEqual([young.written, young.error], [[], problem])
  assert.deepEqual(sync(old, { resources: [] }).written, [ended(problem, old)])
  assert.equal(sync(old, { discovered: refused(500, 'x', 'no') }).error, 'no')
})

test('what the server asks for is handed on', () => {
  const later = new StatusError({
    apiVersion: 'v1',
    kind: 'Status',
    code: 429,
    reason: 'TooManyRequests',
    message: 'slow down',
    details: { retryAfterSeconds: 7 },
  })
  const { suggested, error } = sync(ready, { objects: [a], refuses: { a: later } })
  assert.deepEqual([suggested, error], [[7_000], 'slow down'])
  assert.deepEqual(sync(ready, { objects: [a], refuses: { a: refusal(503, 'x') } }).suggested, [])
})

test('connection reset, HTTP/2 lost, EOF, server timeout, 429, 503, 500 and timeout are retriable, others are not', () => {
  const retriable: readonly unknown[] = [
    ...['ECONNRESET', 'HTTP2_CONNECTION_LOST', 'EOF', 'ETIMEDOUT'].map(
      (code) => new TransportError(code, code),
    ),
    refusal(500, 'ServerTimeout'),
    refusal(429, 'TooManyRequests'),
    refusal(503, 'ServiceUnavailable'),
    refusal(500, 'InternalError'),
    refusal(504, 'Timeout'),
  ]
  for (const error of retriable) assert.ok(isRetriable(error), String(error))
  const fatal: readonly unknown[] = [
    ...['NotFound', 'Forbidden', 'Invalid', 'BadRequest'].map((reason) => refusal(400, reason)),
    new TransportError('CERT_HAS_EXPIRED', 'x'),
    new Error('x'),
  ]
  for (const error of fatal) assert.ok(!isRetriable(error), String(error))
})

test('Given encryption key rotation and an SVM for secrets, then all secrets are rewritten: each is applied once, of every namespace', () => {
  const secrets = migration(['running'], { group: '', resource: 'secrets', resourceVersion: '10' })
  const resources = [discoveredResource({ group: '', resource: 'secrets', kind: 'Secret' })]
  const elsewhere = { ...c, metadata: { ...c.metadata, namespace: 'other' } }
  const { applied, written } = sync(secrets, { resources, objects: [a, b, elsewhere] })
  assert.deepEqual(
    applied.map(({ namespace, name, object: body }) => [namespace, name, body.apiVersion]),
    [
      ['ns', 'a', 'v1'],
      ['ns', 'b', 'v1'],
      ['other', 'c', 'v1'],
    ],
  )
  assert.deepEqual(written, [says(secrets, RUNNING, SUCCEEDED)])
})

test('a cache that is behind, or not filled yet, is waited for without a word at default verbosity', () => {
  assert.equal(sync(ready, { seen: '9' }).isQuiet, true)
  assert.equal(sync(ready, { isSynced: false }).isQuiet, true)
  assert.equal(sync(ready, { resources: [] }).isQuiet, true)
  assert.equal(sync(old, { isMonitored: false }).isQuiet, undefined)
})
