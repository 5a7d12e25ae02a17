import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Event, Node } from '@gyropilot/api'
import { startLoop, statusError, testContext } from '@gyropilot/runtime/testing'
import { defaultControllersConfiguration } from '../configuration.ts'
import { refused } from '../workload-support/fixtures.ts'
import { claim, volume, world } from './fixtures.ts'
import { persistentVolumeBinderController } from './index.ts'

test('a conflict is tried again without a word at default verbosity, another refusal with an error', () => {
  for (const [code, reason, isQuiet] of [
    [409, 'Conflict', true],
    [500, 'InternalError', undefined],
  ] as const) {
    const refuse = () => refused(code, reason, 'no')
    const bound = world([claim(), volume()], { onWrite: refuse }).syncClaim()
    const shown = world([volume('v', { phase: 'Pending' })], { onWrite: refuse }).syncVolume()
    for (const driven of [bound, shown]) {
      const verdict = driven?.result
      assert.ok(verdict?.error)
      assert.equal(verdict.expected, isQuiet, `${code}`)
    }
  }
})

test('names are those of the page', () => {
  const { name, aliases, serviceAccount, enabledByDefault } = persistentVolumeBinderController
  assert.deepEqual(
    [name, aliases, serviceAccount, enabledByDefault],
    [
      'persistentvolume-binder-controller',
      ['persistentvolume-binder'],
      'persistent-volume-binder',
      true,
    ],
  )
  const { claim: claims, volume: volumes } = world([]).logic
  assert.deepEqual([claims.queueName, volumes.queueName], ['claims', 'volumes'])
  assert.deepEqual([claims.workers, volumes.workers], [1, 1])
  assert.deepEqual(
    [claims.eventComponent, volumes.eventComponent],
    ['persistentvolume-controller', 'persistentvolume-controller'],
  )
  assert.equal(claims.alsoAwait?.length, 3)
})

test('claims and volumes are looked at when they come, and again every 15 s, until it is stopped', async () => {
  const context = testContext({
    name: 'persistentvolume-binder-controller',
    configuration: defaultControllersConfiguration,
    cached: [claim(), volume('lost', { phase: 'Pending', size: '1Mi' })],
  })
  const controller = await persistentVolumeBinderController.build(context)
  const { stop } = startLoop(controller, context.clock)
  const seen = () => [
    context.events.filter(({ reason }) => reason === 'FailedBinding').length,
    context.client.requested('update').length,
  ]
  context.client.onRequest = () => {
    throw statusError(404, 'NotFound', 'gone')
  }
  await context.clock.advance(1_000)
  const [told = 0, written = 0] = seen()
  assert.equal(told, 1)
  assert.ok(written > 0)
  await context.clock.advance(13_000)
  const before = seen()
  await context.clock.advance(2_000)
  const after = seen()
  assert.ok(after[0]! > before[0]! && after[1]! > before[1]!)
  await stop()
})

test('a claim that a volume waits for is looked at once more', async () => {
  const context = testContext({
    name: 'persistentvolume-binder-controller',
    configuration: defaultControllersConfiguration,
    cached: [claim(), volume('v', { phase: 'Bound', claimUid: 'c-uid', size: '1Mi' })],
  })
  const controller = await persistentVolumeBinderController.build(context)
  const { stop } = startLoop(controller, context.clock)
  await context.clock.advance(1_000)
  // When it came, and when its volume did.
  assert.equal(context.events.filter(({ reason }) => reason === 'FailedBinding').length, 2)
  await stop()
})

test('what is gone leaves nothing behind', () => {
  const here = world([])
  const { binder, logic, metrics } = here
  binder.begun.set('ns/c', { claimUid: 'c-uid', path: '/tmp/x', tries: 1, state: 'unsaved' })
  binder.toldAtOwnVersion.set('ns/c', '7')
  binder.times.begun('ns/c', 'provision', () => 'p')
  logic.claim.forget?.('ns/c')
  assert.deepEqual([binder.begun.size, binder.toldAtOwnVersion.size], [0, 0])
  binder.times.ended('ns/c', 'provision')
  const labels = (operation: string) => ({ plugin_name: 'p', operation_name: operation })
  const took = 'volume_operation_total_seconds'
  assert.deepEqual(metrics.observed(took, labels('provision')), [])
  binder.times.begun('v', 'delete', () => 'p')
  logic.volume.forget?.('v')
  assert.deepEqual(metrics.observed(took, labels('delete')), [0])
})

test('what is there is remembered while the informer is behind an own write', () => {
  const here = world([claim('c', { resourceVersion: '9' }), volume('v', { resourceVersion: '9' })])
  const { binder, logic, metrics } = here
  binder.claims.written(claim('c', { resourceVersion: '10' }))
  binder.volumes.written(volume('v', { resourceVersion: '10' }))
  binder.begun.set('ns/c', { claimUid: 'c-uid', path: '/tmp/x', tries: 1, state: 'unsaved' })
  binder.lostRecyclers.add('v')
  binder.times.begun('ns/c', 'provision', () => 'p')
  binder.times.begun('v', 'delete', () => 'p')
  assert.deepEqual([logic.claim.observe('ns/c'), logic.volume.observe('v')], [undefined, undefined])
  logic.claim.forget?.('ns/c')
  logic.volume.forget?.('v')
  assert.deepEqual([binder.begun.size, binder.lostRecyclers.size], [1, 1])
  const took = (operation: string) =>
    metrics.observed('volume_operation_total_seconds', {
      plugin_name: 'p',
      operation_name: operation,
    })
  assert.deepEqual(took('delete'), [], 'the volume is still there')
  binder.times.ended('ns/c', 'provision')
  assert.deepEqual(took('provision'), [0])
})

test('an event of a recycler is news once, each time that it happened again, and after its volume was forgotten', () => {
  const { binder, logic } = world([])
  const event = (uid: string, count?: number) => ({ metadata: { uid }, count }) as Event
  const news = (...events: readonly Event[]) => events.map((each) => binder.isNews(volume(), each))
  assert.deepEqual(news(event('a'), event('a', 1), event('a', 2), event('b')), [
    true,
    false,
    true,
    true,
  ])
  assert.ok(binder.isNews(volume('other'), event('a')))
  logic.volume.forget?.('v')
  assert.deepEqual(news(event('a')), [true])
})

test('nodes are known where volumes are made on them', () => {
  const node: Node = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n' } }
  const known = (enableHostPathProvisioner: boolean) =>
    world([node], { settings: { enableHostPathProvisioner } }).binder.nodeNamed('n')
  assert.deepEqual([known(true), known(false)], [node, undefined])
})
