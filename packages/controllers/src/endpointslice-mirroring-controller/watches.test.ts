import assert from 'node:assert/strict'
import { test } from 'node:test'
import { resources } from '@gyropilot/api'
import type { Endpoints, Service } from '@gyropilot/api'
import { DeletedFinalStateUnknown } from '@gyropilot/runtime'
import { fakeInformers, testContext } from '@gyropilot/runtime/testing'
import { defaultControllersConfiguration } from '../configuration.ts'
import { service, slice } from '../endpoint-support/fixtures.ts'
import { MANAGER } from './config.ts'
import { ONE_SUBSET, bareService, customEndpoints } from './fixtures.ts'
import { endpointSliceMirroringController, mirroringLogic } from './index.ts'
import { isMirrorable } from './mirrorable.ts'
import { endpointsWatch, serviceWatch } from './watches.ts'

const SKIP = 'endpointslice.kubernetes.io/skip-mirror'
const LEADER = 'control-plane.alpha.kubernetes.io/leader'
const skipped = customEndpoints(ONE_SUBSET, { labels: { [SKIP]: 'true' } })

test('Given skip-mirror values and the leader annotation, then mirrorable is as defined', () => {
  assert.ok(isMirrorable(customEndpoints()))
  for (const value of ['True', '1', 'false', '']) {
    assert.ok(isMirrorable(customEndpoints(ONE_SUBSET, { labels: { [SKIP]: value } })), value)
  }
  assert.ok(!isMirrorable(skipped))
  for (const value of ['', 'x']) {
    assert.ok(!isMirrorable(customEndpoints(ONE_SUBSET, { annotations: { [LEADER]: value } })))
  }
})

test('Endpoints concern themselves if they are mirrorable, or were', () => {
  const plain = customEndpoints()
  assert.deepEqual([...endpointsWatch.onAdd!(plain)], ['ns/svc'])
  assert.deepEqual([...endpointsWatch.onAdd!(skipped)], [])
  assert.deepEqual([...endpointsWatch.onUpdate!(plain, skipped)], ['ns/svc'])
  assert.deepEqual([...endpointsWatch.onUpdate!(skipped, plain)], ['ns/svc'])
  assert.deepEqual([...endpointsWatch.onUpdate!(skipped, skipped)], [])
  assert.deepEqual([...endpointsWatch.onDelete!(plain)], ['ns/svc'])
  assert.deepEqual([...endpointsWatch.onDelete!(skipped)], [])
  const tombstone = new DeletedFinalStateUnknown<Endpoints>('ns/svc', undefined)
  assert.deepEqual([...endpointsWatch.onDelete!(tombstone)], ['ns/svc'])
})

test('a Service concerns its Endpoints if it has no selector, and when it gains or loses one', () => {
  const bare = bareService()
  assert.deepEqual([...serviceWatch.onAdd!(bare)], ['ns/svc'])
  assert.deepEqual([...serviceWatch.onAdd!(service())], [])
  assert.deepEqual([...serviceWatch.onAdd!(service({ spec: { selector: {} } }))], [])
  assert.deepEqual([...serviceWatch.onUpdate!(bare, bare)], [])
  assert.deepEqual([...serviceWatch.onUpdate!(service(), bare)], ['ns/svc'])
  assert.deepEqual([...serviceWatch.onUpdate!(bare, service())], ['ns/svc'])
  assert.deepEqual([...serviceWatch.onDelete!(bare)], ['ns/svc'])
  assert.deepEqual([...serviceWatch.onDelete!(service())], [])
  const tombstone = new DeletedFinalStateUnknown<Service>('ns/svc', undefined)
  assert.deepEqual([...serviceWatch.onDelete!(tombstone)], ['ns/svc'])
})

test('names, queue, component, workers and retries are those of the page', () => {
  const { name, aliases, serviceAccount } = endpointSliceMirroringController
  assert.ok(endpointSliceMirroringController.enabledByDefault)
  assert.deepEqual(
    [name, aliases, serviceAccount],
    [
      'endpointslice-mirroring-controller',
      ['endpointslicemirroring'],
      'endpointslicemirroring-controller',
    ],
  )
  const logic = mirroringLogic(testContext({ configuration: defaultControllersConfiguration }))
  assert.deepEqual(
    [logic.queueName, logic.eventComponent, logic.workers, logic.maxRetries],
    ['endpoint_slice_mirroring', 'endpoint-slice-mirroring-controller', 5, 15],
  )
  const delaysMs = Array.from({ length: 9 }, () => logic.rateLimiter!.whenMs('a'))
  assert.deepEqual(
    delaysMs,
    [1, 2, 4, 8, 16, 32, 64, 100, 100].map((seconds) => seconds * 1_000),
  )
  assert.deepEqual(defaultControllersConfiguration.endpointSliceMirroring, {
    concurrentServiceEndpointSyncs: 5,
    maxEndpointsPerSubset: 1_000,
    endpointUpdatesBatchPeriodMs: 0,
  })
})

test('Given slices of other managers or other services, then they are not listed', () => {
  const objects = [
    slice({ name: 'b', manager: MANAGER }),
    slice({ name: 'a', manager: MANAGER }),
    slice({ name: 'foreign' }),
    slice({ name: 'other', manager: MANAGER, service: 'other' }),
    slice({ name: 'nameless', manager: MANAGER, service: '' }),
  ]
  const informers = fakeInformers(objects)
  const context = testContext({ configuration: defaultControllersConfiguration })
  const observed = mirroringLogic({ ...context, informers }).observe('ns/svc')
  assert.deepEqual(
    observed?.slices.map(({ metadata }) => metadata?.name),
    ['a', 'b'],
  )
  assert.deepEqual([observed.endpoints, observed.service], [undefined, undefined])
})

test('what others do to mirrored slices is looked at; every sync is timed', () => {
  const context = testContext({ configuration: defaultControllersConfiguration })
  const logic = mirroringLogic(context)
  const watch = logic.watches.find(({ type }) => type === resources.endpointslices)!
  const foreign = slice({ manager: MANAGER })
  assert.deepEqual([...watch.onAdd!(foreign)], [{ key: 'ns/svc', afterMs: 0 }])
  assert.deepEqual([...watch.onAdd!(slice())], [])
  const rules = logic.reconcile(logic.observe('ns/svc')!)
  while (!rules.next([]).done);
  const name = 'endpoint_slice_mirroring_controller_endpoints_sync_duration'
  assert.equal(context.metrics.observed(name).length, 1)
})
