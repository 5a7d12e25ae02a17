import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newControllerRef, resources } from '@gyropilot/api'
import type { CronJob, Job } from '@gyropilot/api'
import { PrometheusRegistry } from '@gyropilot/foundation'
import { DeletedFinalStateUnknown } from '@gyropilot/runtime'
import type { Watch } from '@gyropilot/runtime'
import { drive, testContext } from '@gyropilot/runtime/testing'
import { defaultControllersConfiguration } from '../configuration.ts'
import { cronJob, job } from './fixtures.ts'
import { cronJobLogic, cronJobController } from './index.ts'

function world(cached: readonly CronJob[] = [cronJob()]) {
  const context = testContext({ configuration: defaultControllersConfiguration, cached })
  const logic = cronJobLogic(context)
  const [cronJobs, jobs] = logic.watches
  return { context, logic, cronJobs: cronJobs as Watch<CronJob>, jobs: jobs as Watch<Job> }
}

test('a CronJob is queued when it is added, changed, sent again, or deleted', () => {
  const { cronJobs } = world()
  const object = cronJob()
  assert.deepEqual([...cronJobs.onAdd!(object)], ['ns/tick'])
  assert.deepEqual([...cronJobs.onUpdate!(object, { ...object, status: {} })], ['ns/tick'])
  assert.deepEqual([...cronJobs.onDelete!(object)], ['ns/tick'])
  const tombstone = new DeletedFinalStateUnknown<CronJob>('ns/tick', undefined)
  assert.deepEqual([...cronJobs.onDelete!(tombstone)], ['ns/tick'])
})

test('Given schedule change via update, then the key is re-queued after the new delay, not immediately', () => {
  const { cronJobs, context } = world()
  const createdAt = '2026-01-01T00:00:00Z'
  assert.equal(context.clock.nowMs(), Date.parse(createdAt))
  const previous = cronJob({ createdAt })
  const later = cronJob({ createdAt, spec: { schedule: '30 * * * *' } })
  assert.deepEqual(
    [...cronJobs.onUpdate!(previous, later)],
    [{ key: 'ns/tick', afterMs: 30 * 60_000 + 100 }],
  )
  const elsewhere = cronJob({ createdAt, spec: { timeZone: 'Asia/Kolkata' } })
  assert.deepEqual(
    [...cronJobs.onUpdate!(previous, elsewhere)],
    [{ key: 'ns/tick', afterMs: 30 * 60_000 + 100 }],
  )
  assert.deepEqual(context.events, [])
})

test('a schedule that cannot be read any more is told of, and nothing is queued', () => {
  const { cronJobs, context } = world()
  const broken = cronJob({ spec: { schedule: 'TZ=0' } })
  assert.deepEqual([...cronJobs.onUpdate!(cronJob(), broken)], [])
  assert.deepEqual(
    context.events.map(({ component, type, reason, message }) => [
      component,
      type,
      reason,
      message,
    ]),
    [
      [
        'cronjob-controller',
        'Warning',
        'UnsupportedSchedule',
        'CRON_TZ or TZ used in schedule "TZ=0" is not officially supported, see https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/ for more details',
      ],
      [
        'cronjob-controller',
        'Warning',
        'UnParseableCronJobSchedule',
        'unparseable schedule for cronjob: TZ=0',
      ],
    ],
  )
})

test('a Job queues the CronJob that controls it, by uid', () => {
  const { jobs } = world()
  const own = job('a')
  const earlier = { ...cronJob(), metadata: { ...cronJob().metadata, uid: 'earlier-uid' } }
  const foreign = job('a', { owner: earlier })
  const replicaSet = {
    ...own,
    metadata: {
      ...own.metadata,
      ownerReferences: [newControllerRef(cronJob(), resources.replicasets)],
    },
  }
  for (const other of [foreign, replicaSet, { ...own, metadata: { namespace: 'ns', name: 'a' } }])
    assert.deepEqual([...jobs.onAdd!(other), ...jobs.onDelete!(other)], [])
  assert.deepEqual([...jobs.onAdd!(own)], ['ns/tick'])
  assert.deepEqual([...jobs.onDelete!(own)], ['ns/tick'])
  const tombstone = new DeletedFinalStateUnknown<Job>('ns/a', undefined)
  assert.deepEqual([...jobs.onDelete!(tombstone)], [])
  const newer = { ...own, metadata: { ...own.metadata, resourceVersion: '4' } }
  assert.deepEqual([...jobs.onUpdate!(own, newer)], ['ns/tick'])
  assert.deepEqual([...jobs.onUpdate!(own, own)], [])
  const orphan = { ...newer, metadata: { ...newer.metadata, ownerReferences: [] } }
  assert.deepEqual([...jobs.onUpdate!(own, orphan)], ['ns/tick'])
  assert.deepEqual([...jobs.onUpdate!(orphan, { ...own })], ['ns/tick'])
})

test('children are Jobs of the namespace whose controller has the name, whatever its kind and uid', () => {
  const { context, logic } = world()
  const earlier = { ...cronJob(), metadata: { ...cronJob().metadata, uid: 'earlier-uid' } }
  const children = [job('a'), job('b', { owner: earlier })]
  const other = { ...cronJob(), metadata: { ...cronJob().metadata, name: 'other' } }
  const elsewhere = job('d')
  context.informers.fill(...children, job('c', { owner: other }), {
    ...elsewhere,
    metadata: { ...elsewhere.metadata, namespace: 'elsewhere' },
  })
  assert.deepEqual(
    logic
      .observe('ns/tick')
      ?.children.map(({ metadata }) => metadata?.name)
      .sort(),
    ['a', 'b'],
  )
  assert.equal(logic.observe('ns/none'), undefined)
})

test('names are those of the page', () => {
  const { name, aliases, serviceAccount, enabledByDefault } = cronJobController
  assert.deepEqual(
    [name, aliases, serviceAccount, enabledByDefault],
    ['cronjob-controller', ['cronjob'], 'cronjob-controller', true],
  )
})

test('a sync waits until the cache shows the last status that was written of this CronJob', () => {
  const { logic } = world()
  assert.deepEqual(
    logic.staleGuard?.informers.map(({ type }) => type.resource),
    ['cronjobs'],
  )
  assert.equal(logic.staleGuard.ownerUid(logic.observe('ns/tick')!), 'cron-uid')
})

test('queue, component, workers and settings are those of the page', () => {
  const { logic } = world()
  assert.deepEqual(
    [logic.queueName, logic.eventComponent, logic.workers],
    ['cronjob', 'cronjob-controller', 5],
  )
  assert.deepEqual(defaultControllersConfiguration.cronJob, {
    concurrentCronJobSyncs: 5,
    localTimeZone: 'UTC',
  })
  assert.equal(logic.staleGuard?.ownerUid(logic.observe('ns/tick')!), cronJob().metadata?.uid)
})

test('how late a Job was created is measured', () => {
  const createdAt = '2026-01-01T00:00:00Z'
  const cached = [cronJob({ createdAt, spec: { schedule: '30 * * * *' } })]
  const metrics = new PrometheusRegistry()
  const context = testContext({ configuration: defaultControllersConfiguration, cached })
  const logic = cronJobLogic({ ...context, metrics })
  const { writes } = drive(logic.reconcile(logic.observe('ns/tick')!), {
    nowMs: Date.parse('2026-01-01T00:30:03Z'),
    onWrite: (write) =>
      write.verb === 'create'
        ? {
            ok: true,
            object: {
              ...write.object,
              metadata: { ...write.object.metadata, creationTimestamp: '2026-01-01T00:30:03Z' },
            },
          }
        : undefined,
  })
  assert.deepEqual(
    writes.map(({ verb }) => verb),
    ['create', 'update'],
  )
  const text = metrics.expose()
  assert.match(text, /\ncronjob_controller_job_creation_skew_duration_seconds_sum 3\n/)
  const bounds = [...text.matchAll(/creation_skew_duration_seconds_bucket\{le="([^"]+)"\}/g)]
  assert.deepEqual(
    bounds.map(([, bound]) => bound),
    ['1', '2', '4', '8', '16', '32', '64', '128', '256', '512', '+Inf'],
  )
})
