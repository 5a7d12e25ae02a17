import assert from 'node:assert/strict'
import { test } from 'node:test'
import { resources } from '@gyropilot/api'
import type { Job, JobCondition } from '@gyropilot/api'
import { PrometheusRegistry, silentLogger } from '@gyropilot/foundation'
import type { ControllerContext } from '@gyropilot/runtime'
import { drive, fakeInformers, testClock } from '@gyropilot/runtime/testing'
import type { DriveOptions } from '@gyropilot/runtime/testing'
import { defaultControllersConfiguration } from '../configuration.ts'
import type { ControllersConfiguration } from '../configuration.ts'
import { NOW_MS, refused, secondsAgo } from '../workload-support/fixtures.ts'
import { expiryMs, needsCleanup } from './expiry.ts'
import { ttlAfterFinishedController, ttlAfterFinishedLogic } from './index.ts'
import { reconcile } from './reconcile.ts'
import { jobWatch } from './watches.ts'

const LARGEST_TTL = 2_147_483_647

function finished(type: string, secondsSince: number, status = 'True'): JobCondition {
  return { type, status, lastTransitionTime: secondsAgo(secondsSince) }
}

function job(
  ttlSecondsAfterFinished: number | undefined,
  conditions: readonly JobCondition[],
  metadata: object = {},
): Job {
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name: 'work', namespace: 'ns', uid: 'work-uid', ...metadata },
    spec: {
      template: {},
      ...(ttlSecondsAfterFinished === undefined ? {} : { ttlSecondsAfterFinished }),
    },
    status: { conditions },
  }
}

const judged: readonly (readonly [string, Job, boolean])[] = [
  ['complete', job(1, [finished('Complete', 0)]), true],
  ['failed', job(1, [finished('Failed', 0)]), true],
  ['with TTL 0', job(0, [finished('Complete', 0)]), true],
  ['without a TTL', job(undefined, [finished('Complete', 0)]), false],
  ['being deleted', job(1, [finished('Complete', 0)], { deletionTimestamp: secondsAgo(0) }), false],
  ['with SuccessCriteriaMet only', job(1, [finished('SuccessCriteriaMet', 0)]), false],
  ['with FailureTarget only', job(1, [finished('FailureTarget', 0)]), false],
  ['with Complete=False', job(1, [finished('Complete', 0, 'False')]), false],
  ['with Failed=Unknown', job(1, [finished('Failed', 0, 'Unknown')]), false],
  ['with no condition', job(1, []), false],
  [
    'of another manager',
    {
      ...job(1, [finished('Complete', 0)]),
      spec: { template: {}, ttlSecondsAfterFinished: 1, managedBy: 'example.com/x' },
    },
    true,
  ],
]
for (const [title, subject, expected] of judged) {
  test(`a Job ${title} ${expected ? 'is' : 'is not'} cleaned up; it is queued when it is added and updated, never when it is deleted`, () => {
    assert.equal(needsCleanup(subject), expected)
    const keys = expected ? ['ns/work'] : []
    assert.deepEqual([...jobWatch.onAdd!(subject)], keys)
    assert.deepEqual([...jobWatch.onUpdate!(job(undefined, []), subject)], keys)
    assert.equal(jobWatch.onDelete, undefined)
  })
}

const times: readonly (readonly [string, Job, number])[] = [
  [
    'Given a Job completed or failed now with TTL 0, then remaining 0, expiry now, deleted at once',
    job(0, [finished('Complete', 0)]),
    0,
  ],
  [
    'Given a Job completed or failed now with TTL 10s, then remaining 10s and expiry now+10s',
    job(10, [finished('Failed', 0)]),
    10,
  ],
  [
    'Given a Job completed or failed 10s ago with TTL 15s, then remaining 5s and expiry now+5s',
    job(15, [finished('Complete', 10)]),
    5,
  ],
  [
    'the end is the first condition in the order of the list',
    job(15, [finished('Complete', 12, 'False'), finished('Failed', 10), finished('Complete', 3)]),
    5,
  ],
  [
    'a finish in the future makes the wait longer than the TTL',
    job(15, [finished('Complete', -10)]),
    25,
  ],
  ['the longest TTL', job(LARGEST_TTL, [finished('Complete', 0)]), LARGEST_TTL],
]
for (const [title, subject, seconds] of times) {
  test(title, () => {
    assert.equal(expiryMs(subject), NOW_MS + seconds * 1000)
    const { result, writes } = sync(subject)
    if (seconds === 0) assert.equal(writes.length, 1)
    else {
      assert.deepEqual(result, { requeueAfterMs: seconds * 1000 })
      assert.equal(writes.length, 0)
    }
  })
}

test('Given an unfinished Job, when the remaining time is asked, then an error "should not be cleaned up" and no delete', () => {
  const subject = job(1, [])
  assert.throws(() => expiryMs(subject), /should not be cleaned up/)
  assert.deepEqual(sync(subject).effects, [])
})

test('Given a Complete or Failed Job without TTL, then the same error', () => {
  for (const type of ['Complete', 'Failed']) {
    const subject = job(undefined, [finished(type, 5)])
    assert.throws(() => expiryMs(subject), /should not be cleaned up/)
    assert.deepEqual(sync(subject), { ...sync(subject), result: {}, effects: [] })
  }
})

/** `live`: what the server has; default the same. */
function sync(cached: Job, live: Job | 'gone' = cached, options: DriveOptions = {}) {
  const durations: number[] = []
  const driven = drive(
    reconcile(cached, (sinceExpiryMs) => void durations.push(sinceExpiryMs)),
    {
      nowMs: NOW_MS,
      onRead: () => (live === 'gone' ? refused(404, 'NotFound') : { ok: true, object: live }),
      ...options,
    },
  )
  return { ...driven, durations }
}

const expired = job(5, [finished('Complete', 8)])

test('an expired Job is deleted in the foreground, under its live uid, and the delay is observed', () => {
  const { writes, result, durations } = sync(expired, {
    ...expired,
    metadata: { ...expired.metadata, uid: 'live' },
  })
  assert.deepEqual(writes, [
    {
      verb: 'delete',
      type: resources.jobs,
      namespace: 'ns',
      name: 'work',
      options: { propagationPolicy: 'Foreground', preconditions: { uid: 'live' } },
    },
  ])
  assert.deepEqual([result, durations], [{}, [3_000]])
})

test('a Job that expires at this very moment has expired', () => {
  assert.equal(sync(job(8, [finished('Complete', 8)])).writes.length, 1)
  assert.equal(sync(job(9, [finished('Complete', 8)])).writes.length, 0)
})

test('a finish condition without a time is an error, and no reason to delete', () => {
  const { lastTransitionTime: _, ...condition } = finished('Complete', 0)
  const { result, effects } = sync(job(0, [condition]))
  assert.ok(result.error)
  assert.deepEqual(effects, [])
  assert.ok(sync(expired, job(0, [condition])).result.error)
})

const unexpected: readonly (readonly [string, Job | 'gone', object])[] = [
  ['gone', 'gone', { requeueAfterMs: 10_000 }],
  ['another one of that name, which runs', job(5, [], { uid: 'another' }), {}],
  ['without its TTL', job(undefined, [finished('Complete', 8)]), {}],
  ['on its way out', job(5, [finished('Complete', 8)], { deletionTimestamp: secondsAgo(1) }), {}],
]
for (const [title, live, expected] of unexpected) {
  test(`a Job that is live ${title} is left alone`, () => {
    const { writes, result, durations } = sync(expired, live)
    assert.deepEqual([writes, result, durations], [[], expected, []])
  })
}

test('Given the TTL is raised from 5s to 3600s just before expiry, when the cached object is still old, then the live check re-queues and no DELETE is sent', () => {
  const { writes, result } = sync(expired, job(3600, [finished('Complete', 8)]))
  assert.deepEqual([writes, result], [[], { requeueAfterMs: 3_592_000 }])
})

test('a live read that is older than the cache is retried, and calls nothing off', () => {
  const versioned = (version: string, conditions: readonly JobCondition[], uid = 'work-uid'): Job =>
    job(5, conditions, { resourceVersion: version, uid })
  const ended = [finished('Complete', 8)]
  const behind = sync(versioned('100', ended), versioned('99', []))
  assert.ok(behind.result.error)
  assert.deepEqual(behind.writes, [])
  assert.deepEqual(sync(versioned('100', ended), versioned('100', [])).result, {})
  assert.deepEqual(sync(versioned('100', ended), versioned('101', [])).result, {})
  assert.deepEqual(sync(versioned('100', ended), versioned('99', [], 'another')).result, {})
})

test('a live read that fails is retried', () => {
  const { writes, result } = sync(expired, expired, { onRead: () => refused(500, 'InternalError') })
  assert.deepEqual(writes, [])
  assert.ok(result.error)
})

test('Given DELETE returns 409 because of the UID, then the key is retried and the new Job is judged on its own', () => {
  const conflicted = sync(expired, expired, { onWrite: () => refused(409, 'Conflict') })
  assert.ok(conflicted.result.error)
  assert.deepEqual(conflicted.durations, [])
  assert.deepEqual(sync(expired, job(5, [], { uid: 'another' })).writes, [])
})

test('any refusal of the DELETE is retried, 404 too', () => {
  assert.ok(sync(expired, expired, { onWrite: () => refused(404, 'NotFound') }).result.error)
})

function wired(concurrentTtlSyncs: number) {
  const metrics = new PrometheusRegistry()
  const informers = fakeInformers([expired])
  const logic = ttlAfterFinishedLogic({
    informers,
    clock: testClock(),
    metrics,
    logger: silentLogger,
    configuration: { ...defaultControllersConfiguration, ttlAfterFinished: { concurrentTtlSyncs } },
  } as unknown as ControllerContext<ControllersConfiguration>)
  return { logic, metrics }
}

test('name, alias, identity, queue and workers are those of the page', () => {
  const { name, aliases, serviceAccount, enabledByDefault } = ttlAfterFinishedController
  assert.deepEqual(
    [name, aliases, serviceAccount, enabledByDefault],
    [
      'ttl-after-finished-controller',
      ['ttl-after-finished'],
      'ttl-after-finished-controller',
      true,
    ],
  )
  const { logic } = wired(7)
  assert.deepEqual([logic.queueName, logic.workers], ['ttl_jobs_to_delete', 7])
  assert.equal(logic.rateLimiter, undefined, 'the default of controllers')
  assert.equal(logic.observe('ns/gone'), undefined)
  assert.deepEqual([wired(0).logic.workers, wired(-1).logic.workers], [5, 5])
})

test('the metric is there from the start, in buckets doubled from 0.1 s, and counts deletions in seconds', () => {
  const { logic, metrics } = wired(5)
  const name = 'ttl_after_finished_controller_job_deletion_duration_seconds'
  assert.match(metrics.expose(), new RegExp(`${name}_count 0`))
  drive(logic.reconcile(logic.observe('ns/work')!), {
    nowMs: NOW_MS,
    onRead: () => ({ ok: true, object: expired }),
  })
  const text = metrics.expose()
  assert.match(text, new RegExp(`${name}_bucket{le="1.6"} 0`))
  assert.match(text, new RegExp(`${name}_bucket{le="3.2"} 1`))
  assert.match(text, new RegExp(`${name}_bucket{le="819.2"} 1\n${name}_bucket{le="\\+Inf"}`))
  assert.match(text, new RegExp(`${name}_sum 3\n`))
})

test('Jobs are watched by five workers, and the histogram is there before anything was deleted', async () => {
  const metrics = new PrometheusRegistry()
  const context = {
    informers: fakeInformers([]),
    clock: testClock(),
    metrics,
    recorder: () => ({ event() {} }),
    logger: silentLogger,
    configuration: defaultControllersConfiguration,
  } as unknown as ControllerContext<ControllersConfiguration>
  const { watches, workers } = ttlAfterFinishedLogic(context)
  assert.deepEqual([watches.map(({ type }) => type.resource), workers], [['jobs'], 5])
  assert.equal(defaultControllersConfiguration.ttlAfterFinished.concurrentTtlSyncs, 5)
  assert.match(
    metrics.expose(),
    /^ttl_after_finished_controller_job_deletion_duration_seconds_count 0$/m,
  )
  const built = await ttlAfterFinishedController.build(context)
  assert.equal(typeof built?.run, 'function')
})

test('a Job that says nothing is not to be cleaned up', () => {
  assert.equal(needsCleanup({}), false)
  assert.throws(() => expiryMs({}), { message: 'job undefined/undefined should not be cleaned up' })
})

test('a Job that has ended at nobody knows when is told by its name', () => {
  const { lastTransitionTime: _, ...timeless } = finished('Complete', 0)
  assert.throws(() => expiryMs(job(1, [timeless])), {
    message: 'unable to find the time when the Job ns/work finished',
  })
})

test('one millisecond before its time a Job is waited for, and at its time it goes', () => {
  const subject = job(10, [finished('Complete', 10)])
  const at = (nowMs: number) =>
    drive(
      reconcile(subject, () => {}),
      {
        nowMs,
        onRead: () => ({ ok: true, object: subject }),
      },
    )
  const early = at(NOW_MS - 1)
  assert.deepEqual([early.result, early.writes.length], [{ requeueAfterMs: 1 }, 0])
  assert.equal(at(NOW_MS).writes.length, 1)
})
