import assert from 'node:assert/strict'
import { test } from 'node:test'
import { resources } from '@gyropilot/api'
import { BucketRateLimiter, ExponentialRateLimiter, MaxOfRateLimiter } from '@gyropilot/runtime'
import { fakeInformers, startLoop, testClock, testContext } from '@gyropilot/runtime/testing'
import { defaultControllersConfiguration } from '../configuration.ts'
import { resourceWatch, migrationWatch } from './migration-watches.ts'
import { discoveredResource, migration } from './migration-fixtures.ts'
import {
  migratorLogic,
  runnerLogic,
  storageVersionMigratorController,
  versionLogic,
} from './migrator.ts'
import { monitoredObjects } from './monitored-objects.ts'
import { SuggestedDelays } from './suggested-delays.ts'

const configuration = defaultControllersConfiguration
const other = migration([], { name: 'other', group: '', resource: 'secrets' })

test('the runner is told of every event by resource, the other loops of additions and updates by name', () => {
  const key = 'deployments.apps'
  assert.deepEqual([...resourceWatch.onAdd!(migration())], [key])
  assert.deepEqual([...resourceWatch.onUpdate!(other, migration())], [key])
  assert.deepEqual([...resourceWatch.onDelete!(migration())], [key])
  assert.deepEqual([...resourceWatch.onAdd!(other)], ['secrets.'])
  assert.deepEqual([...migrationWatch.onAdd!(migration())], ['m'])
  assert.deepEqual([...migrationWatch.onUpdate!(other, migration())], ['m'])
  assert.equal(migrationWatch.onDelete, undefined)
})

test('a migration under the name of another that went unseen tells the runner of the resource of both', () => {
  const next = { ...migration(), metadata: { ...migration().metadata, uid: 'next' } }
  assert.deepEqual([...resourceWatch.onUpdate!(other, next)], ['secrets.', 'deployments.apps'])
  assert.deepEqual([...resourceWatch.onUpdate!(migration(), next)], ['deployments.apps'])
})

test('three loops with a queue each; the runner sees the migrations of its resource only', () => {
  const context = testContext({ configuration, cached: [migration(), other] })
  const runner = runnerLogic(context)
  const version = versionLogic(context)
  const migrator = migratorLogic(context, () => undefined)
  assert.deepEqual(
    [runner, version, migrator].map(({ queueName, workers }) => [queueName, workers]),
    [
      [undefined, 1],
      ['resource-version-controller', 1],
      ['storage-version-migrator-controller', 5],
    ],
  )
  assert.deepEqual(runner.observe('deployments.apps'), [migration()])
  assert.deepEqual(runner.observe('nothing.'), [])
  for (const logic of [version, migrator]) {
    assert.deepEqual(logic.watches, [migrationWatch])
    assert.deepEqual(logic.observe('other'), other)
    assert.equal(logic.observe('gone'), undefined)
  }
})

test('objects come from the caches of the garbage collector; what it does not watch has none', () => {
  const deployment = { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'd' } }
  const informers = fakeInformers([deployment])
  let started = 0
  informers.start = () => void started++
  const signal = new AbortController().signal
  const monitorOf = monitoredObjects(informers, () => signal)
  const monitor = monitorOf(discoveredResource())
  assert.deepEqual(monitor?.objects(), [deployment])
  assert.equal(monitor.isSynced(), true)
  informers.informer(resources.deployments).bookmark('77')
  assert.equal(monitor.resourceVersion(), '77')
  assert.equal(started, 1)
  for (const missing of ['delete', 'list', 'watch']) {
    const verbs = discoveredResource().verbs.filter((verb) => verb !== missing)
    assert.equal(monitorOf(discoveredResource({ verbs })), undefined, missing)
  }
  for (const group of ['', 'events.k8s.io'])
    assert.equal(monitorOf(discoveredResource({ group, resource: 'events' })), undefined)
  assert.equal(started, 1)
})

test('a retry waits for what the server suggested, once, or longer', () => {
  const delays = new SuggestedDelays(new ExponentialRateLimiter(5, 1_000_000))
  delays.suggest('a', 2_000)
  assert.deepEqual([delays.whenMs('a'), delays.whenMs('a'), delays.whenMs('b')], [2_000, 10, 5])
  delays.suggest('a', 1)
  assert.deepEqual([delays.whenMs('a'), delays.requeues('a')], [20, 3])
  delays.suggest('a', 2_000)
  delays.forget('a')
  assert.deepEqual([delays.requeues('a'), delays.whenMs('a')], [0, 5])
})

test('the limiter is 5 ms to 1000 s per key, and 10 a second with a burst of 100', () => {
  const clock = testClock()
  const { rateLimiter } = migratorLogic(testContext({ configuration }), () => undefined)
  const expected = new MaxOfRateLimiter(
    new ExponentialRateLimiter(5, 1_000_000),
    new BucketRateLimiter(clock, 10, 100),
  )
  const delays = (limiter: { whenMs(key: string): number } | undefined) =>
    Array.from({ length: 25 }, () => limiter?.whenMs('a'))
  assert.deepEqual(delays(rateLimiter), delays(expected))
})

test('it needs StorageVersionMigrator and the garbage collector; names are those of the page', async () => {
  const { name, aliases, serviceAccount, featureGates, clientRate } =
    storageVersionMigratorController
  assert.deepEqual(
    [name, aliases, serviceAccount, featureGates, clientRate],
    [
      'storage-version-migrator-controller',
      ['svm'],
      'storage-version-migrator-controller',
      ['StorageVersionMigrator', 'InformerResourceVersion', 'InOrderInformers'],
      { qpsFactor: 20, burstFactor: 100 },
    ],
  )
  assert.ok(storageVersionMigratorController.enabledByDefault)
  const built = async (gates: Readonly<Record<string, boolean>>, enableGarbageCollector = true) =>
    await storageVersionMigratorController.build(
      testContext({
        configuration: {
          ...configuration,
          featureGates: gates,
          garbageCollector: { ...configuration.garbageCollector, enableGarbageCollector },
        },
      }),
    )
  const on = { StorageVersionMigrator: true }
  assert.equal(await built({}, false), undefined)
  assert.equal(await built({ ...on, InOrderInformers: false }), undefined)
  assert.equal(await built({ ...on, InformerResourceVersion: false }), undefined)
  assert.ok(await built(on))
  await assert.rejects(built(on, false), /requires garbage collector/)
})

test('all of its loops run', async () => {
  const context = testContext({
    configuration: { ...configuration, featureGates: { StorageVersionMigrator: true } },
    cached: [migration(), migration(['running'], { name: 'begun', resource: 'daemonsets' })],
  })
  const controller = await storageVersionMigratorController.build(context)
  const { stop } = startLoop(controller, context.clock)
  await context.clock.advance(1_000)
  assert.ok(context.client.requests.length > 0)
  await stop()
})
