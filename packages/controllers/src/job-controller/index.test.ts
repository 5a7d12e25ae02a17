import assert from 'node:assert/strict'
import { test } from 'node:test'
import { resources } from '@gyropilot/api'
import { PrometheusRegistry, silentLogger } from '@gyropilot/foundation'
import type { ControllerContext } from '@gyropilot/runtime'
import { fakeInformers, testClock } from '@gyropilot/runtime/testing'
import { defaultControllersConfiguration } from '../configuration.ts'
import type { ControllersConfiguration } from '../configuration.ts'
import { job, jobPod, podWritesOf } from './fixtures.ts'
import { jobController, jobLogic, orphanLogic } from './index.ts'
import { drive } from '@gyropilot/runtime/testing'

function wired(featureGates: Readonly<Record<string, boolean>> = {}) {
  const informers = fakeInformers([job()])
  const context = {
    informers,
    clock: testClock(),
    metrics: new PrometheusRegistry(),
    logger: silentLogger,
    configuration: {
      ...defaultControllersConfiguration,
      featureGates,
      job: { concurrentJobSyncs: 7 },
    },
  } as unknown as ControllerContext<ControllersConfiguration>
  const logic = jobLogic(context)
  return { logic, orphans: orphanLogic(context), informers }
}

test('name, alias, identity, queues and workers are those of the page', () => {
  const { name, aliases, serviceAccount, enabledByDefault } = jobController
  assert.deepEqual(
    [name, aliases, serviceAccount, enabledByDefault],
    ['job-controller', ['job'], 'job-controller', true],
  )
  const { logic, orphans } = wired()
  assert.deepEqual(
    [logic.queueName, logic.workers, logic.eventComponent],
    ['job', 7, 'job-controller'],
  )
  assert.deepEqual(
    [orphans.queueName, orphans.workers, orphans.eventComponent],
    ['job_orphan_pod', 7, 'job-controller'],
  )
  assert.deepEqual(defaultControllersConfiguration.job, { concurrentJobSyncs: 5 })
  for (const { watches } of [logic, orphans])
    assert.deepEqual(
      watches.map(({ type }) => type.resource),
      ['jobs', 'pods'],
    )
  assert.deepEqual(logic.staleGuard?.metric, {
    name: 'job_controller_stale_sync_skips_total',
    kind: 'Job',
  })
  assert.equal(logic.staleGuard.ownerUid(logic.observe('ns/work')!), 'work-uid')
  assert.deepEqual(
    logic.staleGuard.informers.map(({ type }) => type.resource),
    ['pods', 'jobs'],
  )
})

test('per-key exponential 1s, 2s, ... 60s; success resets it', () => {
  const { logic, orphans } = wired()
  for (const limiter of [logic.rateLimiter!, orphans.rateLimiter!]) {
    const waits = Array.from({ length: 8 }, () => limiter.whenMs('key'))
    assert.deepEqual(waits, [1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000])
    assert.equal(limiter.whenMs('another'), 1_000)
    limiter.forget('key')
    assert.equal(limiter.whenMs('key'), 1_000)
  }
})

test('with the gate StaleControllerConsistencyJob off there is no stale-cache guard', () => {
  assert.equal(wired({ StaleControllerConsistencyJob: false }).logic.staleGuard, undefined)
})

test('a suspended Job has not started, unless the gate MutableSchedulingDirectivesForSuspendedJobs is off', () => {
  const startTimes = [true, false].map((gate) => {
    const { logic, informers } = wired({ MutableSchedulingDirectivesForSuspendedJobs: gate })
    informers.apply(resources.jobs, job({ spec: { suspend: true } }))
    const { writes } = drive(logic.reconcile(logic.observe('ns/work')!))
    const [write] = writes
    assert.ok(write?.verb === 'update')
    return (write.object as ReturnType<typeof job>).status?.startTime !== undefined
  })
  assert.deepEqual(startTimes, [false, true])
})

test('creations are awaited until the informer showed all of them, and pods are those of the Job and the orphans', () => {
  const { logic, informers } = wired()
  logic.expectations!.expectCreations('ns/work', 1)
  assert.equal(logic.observe('ns/work')?.expectationsMet, false)
  const watch = logic.watches.find(({ type }) => type === resources.pods)!
  const orphan = jobPod('orphan', { metadata: { ownerReferences: [] } })
  const stranger = jobPod('stranger', {
    metadata: {
      ownerReferences: [
        { apiVersion: 'batch/v1', kind: 'Job', name: 'work', uid: 'x', controller: true },
      ],
    },
  })
  for (const pod of [orphan, stranger, jobPod('p')]) {
    informers.apply(resources.pods, pod)
    assert.ok(watch.onAdd!(pod))
  }
  const observed = logic.observe('ns/work')!
  assert.equal(observed.expectationsMet, true)
  assert.deepEqual(
    observed.pods().map(({ metadata }) => metadata?.name),
    ['p', 'orphan'],
  )
})

test('a Job that is gone is forgotten', () => {
  const { logic, informers } = wired()
  logic.expectations!.expectCreations('ns/work', 1)
  drive(
    logic.reconcile({
      ...logic.observe('ns/work')!,
      pods: () => [jobPod('p', { phase: 'Failed' })],
      showsFormerReleases: true,
    }),
  )
  assert.equal(logic.observe('ns/work')!.backoff.failures, 1)
  assert.equal(logic.observe('ns/work')!.awaitedRemovals.size, 1)
  informers.remove(resources.jobs, job())
  assert.equal(logic.observe('ns/work'), undefined)
  logic.forget!('ns/work')
  informers.apply(resources.jobs, job())
  const { backoff, awaitedRemovals, expectationsMet } = logic.observe('ns/work')!
  assert.deepEqual([backoff.failures, awaitedRemovals.size, expectationsMet], [0, 0, true])
})

test('an end that was written is known before the cache shows it', () => {
  const { logic, informers } = wired()
  const successful = { type: 'SuccessCriteriaMet', status: 'True', reason: 'r' }
  const ended = job({
    spec: { completions: 0 },
    status: { startTime: '2025-01-01T00:00:00Z', conditions: [successful] },
  })
  informers.apply(resources.jobs, ended)
  const sync = () => drive(logic.reconcile(logic.observe('ns/work')!)).writes.length
  assert.ok(sync() > 0)
  assert.equal(logic.observe('ns/work')!.knownFinished, true)
  assert.equal(sync(), 0)
})

test('orphans are looked up and let go', () => {
  const { orphans, informers } = wired()
  informers.remove(resources.jobs, job())
  informers.apply(resources.pods, jobPod('p'))
  const key = '{"namespace":"ns","selector":{"matchLabels":{"job":"work"}}}'
  assert.deepEqual(podWritesOf(drive(orphans.reconcile(orphans.observe(key)!))), ['patch p'])
})
