import assert from 'node:assert/strict'
import { test } from 'node:test'
import { UTC, resources } from '@gyropilot/api'
import type { CronJob, Job, KubernetesObject } from '@gyropilot/api'
import { drive } from '@gyropilot/runtime/testing'
import type { DriveOptions } from '@gyropilot/runtime/testing'
import { refused } from '../workload-support/fixtures.ts'
import { CronJobDraft } from './draft.ts'
import { activeJobs, cronJob, job } from './fixtures.ts'
import { reconcile } from './reconcile.ts'
import { startJob } from './start-job.ts'

const at = (time: string): number => Date.parse(`2026-01-01T${time}Z`)
/** A minute after eleven: the hourly time of eleven is due. */
const NOW_MS = at('11:01:00')
const ELEVEN = '2026-01-01T11:00:00Z'
const NAME = `tick-${at('11:00:00') / 60_000}`
/** To twelve, and the padding. */
const TO_TWELVE = { requeueAfterMs: 59 * 60_000 + 100 }
const LEFT = { keepsFailures: true }

interface Sync extends DriveOptions {
  readonly children?: readonly Job[]
  /** What a live read finds, by kind and name. */
  readonly live?: readonly KubernetesObject[]
}

function sync(object: CronJob, given: Sync = {}) {
  const skews: number[] = []
  const live = given.live ?? []
  const driven = drive(
    reconcile(
      { cronJob: object, children: given.children ?? [] },
      { localTimeZone: UTC, onJobCreated: (seconds) => void skews.push(seconds) },
    ),
    {
      nowMs: NOW_MS,
      onWrite: (write) =>
        write.verb === 'create' ? { ok: true, object: made(write.object) } : undefined,
      onRead: (read) => {
        assert.ok(read.verb === 'get' && read.namespace === 'ns')
        const found = live.find(
          ({ kind, metadata }) => kind === read.type.kind && metadata?.name === read.name,
        )
        return found === undefined ? refused(404, 'NotFound') : { ok: true, object: found }
      },
      ...given,
    },
  )
  const writes = driven.writes.map((write) => {
    if (write.verb === 'update') {
      assert.deepEqual([write.subresource, write.object.metadata?.resourceVersion], ['status', '7'])
      return 'status'
    }
    return `${write.verb} ${'object' in write ? write.object.metadata?.name : 'name' in write && write.name}`
  })
  const last = driven.writes.findLast(({ verb }) => verb === 'update')
  const status = last?.verb === 'update' ? (last.object as CronJob).status : undefined
  return { ...driven, did: writes, status, skews }
}

function made(object: KubernetesObject): Job {
  const metadata = {
    ...object.metadata,
    uid: 'made-uid',
    resourceVersion: '9',
    creationTimestamp: '2026-01-01T11:01:02Z',
  }
  return { ...object, metadata } as Job
}

const MADE = {
  kind: 'Job',
  namespace: 'ns',
  name: NAME,
  uid: 'made-uid',
  apiVersion: 'batch/v1',
  resourceVersion: '9',
}

test('a due time makes a Job: named by its minute, owned, with template and time', () => {
  const { writes, status, events, result, skews } = sync(cronJob())
  const [write] = writes
  assert.ok(write?.verb === 'create' && write.type === resources.jobs)
  assert.deepEqual(write.object, {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: {
      name: NAME,
      namespace: 'ns',
      creationTimestamp: ELEVEN,
      labels: { l: 'x' },
      annotations: { a: 'y', 'batch.kubernetes.io/cronjob-scheduled-timestamp': ELEVEN },
      ownerReferences: [
        {
          apiVersion: 'batch/v1',
          kind: 'CronJob',
          name: 'tick',
          uid: 'cron-uid',
          controller: true,
          blockOwnerDeletion: true,
        },
      ],
    },
    spec: cronJob().spec!.jobTemplate.spec,
  })
  assert.deepEqual(status, { active: [MADE], lastScheduleTime: ELEVEN })
  assert.deepEqual(events, [
    { type: 'Normal', reason: 'SuccessfulCreate', message: `Created job ${NAME}` },
  ])
  assert.deepEqual([result, skews], [TO_TWELVE, [62]])
})

test('of many that are due at once every Job comes before what is told of any', () => {
  const { effects } = sync(cronJob())
  const order = effects.map((effect) =>
    effect.effect === 'write' ? effect.write.verb : effect.effect,
  )
  assert.deepEqual(order, ['create', 'event', 'update'])
  const first = effects.map(
    (effect) => effect.effect === 'write' && effect.aside === true && 'due' in effect.write,
  )
  assert.deepEqual(first, [true, false, false])
})

test('nothing is due yet: back at the next time', () => {
  const { effects, result } = sync(cronJob(), { nowMs: at('10:59:00') })
  assert.deepEqual([effects, result], [[], { requeueAfterMs: 60_100 }])
})

test('Given timeZone `Asia/Shanghai` or none, then annotation is RFC3339 in that zone or UTC', () => {
  const annotation = (timeZone?: string) => {
    const { writes } = sync(cronJob({ spec: { ...(timeZone && { timeZone }) } }))
    const [write] = writes
    assert.ok(write?.verb === 'create')
    return write.object.metadata?.annotations?.['batch.kubernetes.io/cronjob-scheduled-timestamp']
  }
  assert.equal(annotation('Asia/Shanghai'), '2026-01-01T19:00:00+08:00')
  assert.equal(annotation('America/New_York'), '2026-01-01T06:00:00-05:00')
  assert.equal(annotation(), ELEVEN)
})

const running = job('tick-running')
const ACTIVE = { status: activeJobs(running) }

test('Given Allow/Forbid/Replace with one active Job at schedule time, then 2 Jobs / 0 new and JobAlreadyActive / old deleted and 1 new', () => {
  const world = { children: [running], live: [running] }
  const allow = sync(cronJob(ACTIVE), world)
  assert.deepEqual(allow.did, [`create ${NAME}`, 'status'])
  assert.deepEqual(
    allow.status?.active?.map(({ name }) => name),
    ['tick-running', NAME],
  )
  const forbid = sync(cronJob({ ...ACTIVE, spec: { concurrencyPolicy: 'Forbid' } }), world)
  assert.deepEqual([forbid.did, forbid.result], [[], TO_TWELVE])
  assert.deepEqual(forbid.events, [
    {
      type: 'Normal',
      reason: 'JobAlreadyActive',
      message:
        'Not starting job because prior execution is running and concurrency policy is Forbid',
    },
  ])
  const replace = sync(cronJob({ ...ACTIVE, spec: { concurrencyPolicy: 'Replace' } }), world)
  assert.deepEqual(replace.did, ['delete tick-running', `create ${NAME}`, 'status'])
  assert.deepEqual(replace.status?.active, [MADE])
  const [deletion] = replace.writes
  assert.deepEqual(deletion?.verb === 'delete' && deletion.options, {
    propagationPolicy: 'Background',
    due: true,
  })
  assert.deepEqual(
    replace.events.map(({ reason }) => reason),
    ['SuccessfulDelete', 'SuccessfulCreate'],
  )
})

test('with Forbid a Job is started when no other is at work', () => {
  const { did, events } = sync(cronJob({ spec: { concurrencyPolicy: 'Forbid' } }))
  assert.deepEqual(did, [`create ${NAME}`, 'status'])
  assert.deepEqual(
    events.map(({ reason }) => reason),
    ['SuccessfulCreate'],
  )
})

test('with Replace, an active Job that cannot be read or deleted fails the sync', () => {
  const object = cronJob({ ...ACTIVE, spec: { concurrencyPolicy: 'Replace' } })
  const gone = sync(object, { children: [running] })
  assert.deepEqual(gone.events, [
    { type: 'Warning', reason: 'FailedGet', message: 'Get job: NotFound' },
  ])
  assert.ok(gone.result?.error)
  const kept = sync(object, {
    children: [running],
    live: [running],
    onWrite: () => refused(403, 'Forbidden', 'no'),
  })
  assert.deepEqual(kept.events, [
    { type: 'Warning', reason: 'FailedDelete', message: 'Deleted job: no' },
  ])
  assert.deepEqual(
    [kept.did, (kept.result?.error as Error | undefined)?.message],
    [['delete tick-running'], 'could not replace job ns/tick-running'],
  )
})

test('Given past deadline, then no Job and MissSchedule', () => {
  // The search leaves out what is past the deadline, so a sync never gets here with such a time.
  const due = (scheduledMs: number) =>
    drive(
      startJob(
        {
          draft: new CronJobDraft(cronJob({ spec: { startingDeadlineSeconds: 30 } })),
          scheduledMs,
          nowMs: NOW_MS,
          later: () => TO_TWELVE,
        },
        { onJobCreated() {} },
      ),
    )
  const { writes, events, result } = due(NOW_MS - 30_001)
  assert.deepEqual([writes, result], [[], TO_TWELVE])
  assert.deepEqual(events, [
    {
      type: 'Warning',
      reason: 'MissSchedule',
      message: 'Missed scheduled time to start a job: Thu, 01 Jan 2026 11:00:29 +0000',
    },
  ])
  assert.equal(due(NOW_MS - 30_000).writes.length, 1)
})

test('a time before the deadline is not found, one within it is run', () => {
  const late = (startingDeadlineSeconds: number) =>
    sync(cronJob({ spec: { startingDeadlineSeconds } }), { nowMs: at('11:00:30') })
  assert.deepEqual(
    [late(30).effects, late(30).result],
    [[], { requeueAfterMs: 59.5 * 60_000 + 100 }],
  )
  assert.deepEqual(late(31).did, [`create ${NAME}`, 'status'])
})

test('a time that was run is not run again: by lastScheduleTime, or by the name of an active Job', () => {
  const run = cronJob({ status: { lastScheduleTime: ELEVEN } })
  assert.deepEqual([sync(run).effects, sync(run).result], [[], TO_TWELVE])
  const named = job(NAME)
  const known = cronJob({ status: activeJobs(named) })
  assert.deepEqual(sync(known, { children: [named] }).effects, [])
})

test('two @every times in one minute share a name: the second is handled already', () => {
  const named = job(`tick-${at('11:00:00') / 60_000}`)
  const object = cronJob({
    spec: { schedule: '@every 20s' },
    status: { ...activeJobs(named), lastScheduleTime: '2026-01-01T11:00:10Z' },
  })
  const { did, result } = sync(object, { children: [named], nowMs: at('11:00:31') })
  assert.deepEqual([did, result], [[], { requeueAfterMs: 19_100 }])
})

test('Given a Job exists but is not in active, then it is added and lastScheduleTime set', () => {
  const existing = job(NAME, { uid: 'known-uid' })
  const { did, status, events, result, skews } = sync(cronJob(), {
    live: [existing],
    onWrite: (write) => (write.verb === 'create' ? refused(409, 'AlreadyExists') : undefined),
  })
  assert.deepEqual(did, [`create ${NAME}`, 'status'])
  assert.deepEqual(
    status?.active?.map(({ uid }) => uid),
    ['known-uid'],
  )
  assert.equal(status?.lastScheduleTime, ELEVEN)
  assert.deepEqual([events, result, skews], [[], TO_TWELVE, []])
})

test('Given a Job exists but is not in active, then it is added and lastScheduleTime set; with a different owner nothing changes', () => {
  const owner = { ...cronJob(), metadata: { name: 'tick', uid: 'earlier-uid' } }
  const foreign = job(NAME, { owner })
  const exists: DriveOptions['onWrite'] = (write) =>
    write.verb === 'create' ? refused(409, 'AlreadyExists') : undefined
  const { did, events, result } = sync(cronJob(), { live: [foreign], onWrite: exists })
  assert.deepEqual([did, events, result], [[`create ${NAME}`], [], LEFT])
  const failed = sync(cronJob(), { onWrite: exists })
  assert.ok(failed.result?.error)
})

test('Given a Job exists and has just ended, then it is told of once, and the time is used up', () => {
  const ended = job(NAME, { finished: 'Failed' })
  const { did, status, events, result } = sync(cronJob({ status: activeJobs(ended) }), {
    children: [ended],
    live: [ended],
    onWrite: (write) => (write.verb === 'create' ? refused(409, 'AlreadyExists') : undefined),
  })
  assert.deepEqual(did, [`create ${NAME}`, 'status'])
  assert.deepEqual(status, { lastScheduleTime: ELEVEN })
  assert.deepEqual(
    events.map(({ reason }) => reason),
    ['SawCompletedJob'],
  )
  assert.deepEqual(result, TO_TWELVE)
})

test('a Job that is found and active under another name is left', () => {
  const existing = job(NAME, { uid: 'known-uid' })
  const renamed = job('other', { uid: 'known-uid' })
  const { did, result } = sync(cronJob({ status: activeJobs(renamed) }), {
    children: [renamed],
    live: [existing],
    onWrite: (write) => (write.verb === 'create' ? refused(409, 'AlreadyExists') : undefined),
  })
  assert.deepEqual([did, result], [[`create ${NAME}`], LEFT])
})

test('Given namespace terminating on create, then no event and no active entry', () => {
  const ending = refused(403, 'Forbidden', 'x', 'NamespaceTerminating')
  assert.ok(!ending.ok)
  const { did, events, result } = sync(cronJob(), { onWrite: () => ending })
  assert.deepEqual([did, events, result], [[`create ${NAME}`], [], { error: ending.error }])
})

test('a Job that cannot be made is told and tried again', () => {
  const failed = refused(403, 'Forbidden', 'quota')
  assert.ok(!failed.ok)
  const { events, result } = sync(cronJob(), { onWrite: () => failed })
  assert.deepEqual(events, [
    { type: 'Warning', reason: 'FailedCreate', message: 'Error creating job: quota' },
  ])
  assert.deepEqual(result, { error: failed.error })
})

const done = (name: string, hour: number, finished: 'Complete' | 'Failed' = 'Complete') =>
  job(name, {
    finished,
    startTime: at(`0${hour}:00:00`) > 0 ? `2026-01-01T0${hour}:00:00Z` : '',
    completionTime: `2026-01-01T0${hour}:10:00Z`,
  })

test('Given limits 1/0 and finished Jobs, then only the newest succeeded Job remains', () => {
  const children = [
    done('c', 3),
    done('a', 1),
    done('b', 2),
    done('failed', 4, 'Failed'),
    job('no-start', { finished: 'Complete' }),
  ]
  const quiet = { suspend: true, successfulJobsHistoryLimit: 1, failedJobsHistoryLimit: 0 }
  const { did, events } = sync(cronJob({ spec: quiet }), { children })
  assert.deepEqual(did, ['delete a', 'delete b', 'delete c', 'delete failed', 'status'])
  assert.deepEqual(events[0], {
    type: 'Normal',
    reason: 'SuccessfulDelete',
    message: 'Deleted job a',
  })
  const one = { suspend: true, successfulJobsHistoryLimit: 4 }
  assert.deepEqual(sync(cronJob({ spec: one }), { children }).did, ['status'])
  assert.deepEqual(sync(cronJob({ spec: { suspend: true } }), { children }).did, ['status'])
})

test('ties of the history go by name, and a deletion that fails does not stop the others', () => {
  const children = ['b', 'a', 'c'].map((name) => done(name, 1, 'Failed'))
  const object = cronJob({ spec: { suspend: true, failedJobsHistoryLimit: 1 } })
  const { did, events } = sync(object, { children, onWrite: () => refused(500, 'x', 'broken') })
  assert.deepEqual(did, ['delete a', 'delete b', 'status'].slice(0, did.length))
  assert.deepEqual(events, [
    { type: 'Warning', reason: 'FailedDelete', message: 'Deleted job: broken' },
    { type: 'Warning', reason: 'FailedDelete', message: 'Deleted job: broken' },
  ])
})

test('a Job that was gone before its deletion leaves the history without a word, and no status to write', () => {
  const known = { lastSuccessfulTime: '2026-01-01T05:00:00Z' }
  const old = done('a', 1)
  const spec = { suspend: true, successfulJobsHistoryLimit: 0 }
  const onWrite = () => refused(404, 'NotFound', 'gone')
  const deleted = sync(cronJob({ spec, status: known }), { children: [old], onWrite })
  assert.deepEqual([deleted.did, deleted.events], [['delete a'], []])
  const active = { ...known, ...activeJobs(old) }
  const stale = sync(cronJob({ spec, status: active }), { children: [old], onWrite })
  assert.deepEqual([stale.did, stale.events, stale.status], [['delete a', 'status'], [], known])
})

test('Given successfulJobsHistoryLimit 0, then lastSuccessfulTime is still set', () => {
  const object = cronJob({ spec: { suspend: true, successfulJobsHistoryLimit: 0 } })
  const { did, status } = sync(object, { children: [done('a', 1), done('b', 2)] })
  assert.deepEqual(did, ['delete a', 'delete b', 'status'])
  assert.deepEqual(status, { lastSuccessfulTime: '2026-01-01T02:10:00Z' })
})

test('lastSuccessfulTime goes forward only, and failed Jobs do not count', () => {
  const known = { lastSuccessfulTime: '2026-01-01T05:00:00Z' }
  const object = cronJob({ spec: { suspend: true }, status: known })
  const children = [done('a', 1), done('b', 6, 'Failed'), job('c', { finished: 'Complete' })]
  assert.deepEqual(sync(object, { children }).effects, [])
  assert.deepEqual(sync(object, { children: [done('d', 6)] }).status, {
    lastSuccessfulTime: '2026-01-01T06:10:00Z',
  })
})

test('a Job that has finished leaves active', () => {
  const children = [done('a', 1), done('b', 2, 'Failed'), running]
  const status = activeJobs(...children)
  const { events, status: next } = sync(cronJob({ spec: { suspend: true }, status }), { children })
  assert.deepEqual(events, [
    {
      type: 'Normal',
      reason: 'SawCompletedJob',
      message: 'Saw completed job: a, condition: Complete',
    },
    {
      type: 'Normal',
      reason: 'SawCompletedJob',
      message: 'Saw completed job: b, condition: Failed',
    },
  ])
  assert.deepEqual(
    next?.active?.map(({ name }) => name),
    ['tick-running'],
  )
})

test('a Job at work that is not in active is looked up live before anything is said', () => {
  const stale = cronJob({ spec: { suspend: true } })
  const fresh = cronJob({ spec: { suspend: true }, ...ACTIVE })
  const known = sync(stale, { children: [running], live: [fresh] })
  assert.deepEqual([known.events, known.did, known.result], [[], [], LEFT])
  const unknown = sync(stale, { children: [running], live: [stale] })
  assert.deepEqual(unknown.events, [
    {
      type: 'Warning',
      reason: 'UnexpectedJob',
      message: 'Saw a job that the controller did not create or forgot: tick-running',
    },
  ])
  assert.deepEqual(unknown.did, [])
  assert.ok(sync(stale, { children: [running] }).result?.error)
})

test('what was changed before the live object took over and what comes after is written on to it', () => {
  const finished = done('a', 1)
  const stale = cronJob({ spec: { suspend: true }, status: activeJobs(finished) })
  const fresh = cronJob({ spec: { suspend: true }, status: activeJobs(running, finished) })
  const { active } = activeJobs(running)
  for (const children of [
    [finished, running],
    [running, finished],
  ])
    assert.deepEqual(sync(stale, { children, live: [fresh] }).status, {
      active,
      lastSuccessfulTime: '2026-01-01T01:10:00Z',
    })
})

test('a Job that is made after the live object took over is active in what is written on to that', () => {
  const stale = cronJob({})
  const known = cronJob(ACTIVE)
  const fresh = { ...known, metadata: { ...known.metadata, labels: { seen: 'live' } } }
  const { writes, status } = sync(stale, { children: [running], live: [fresh] })
  assert.deepEqual(
    status?.active?.map(({ uid }) => uid),
    [running.metadata?.uid, 'made-uid'],
  )
  const last = writes.at(-1)
  assert.ok(last?.verb === 'update')
  assert.deepEqual(last.object.metadata?.labels, { seen: 'live' })
})

test('a deadline beyond 2^53 is never past', () => {
  const startingDeadlineSeconds = 9223372036854775807n as unknown as number
  const { did } = sync(cronJob({ spec: { startingDeadlineSeconds } }))
  assert.deepEqual(did, [`create ${NAME}`, 'status'])
})

test('Given the active Job is deleted by hand, then MissingJob and it leaves active', () => {
  const object = cronJob({ ...ACTIVE, spec: { suspend: true } })
  const missing = sync(object)
  assert.deepEqual(missing.events, [
    { type: 'Normal', reason: 'MissingJob', message: 'Active job went missing: tick-running' },
  ])
  assert.deepEqual([missing.did, missing.status], [['status'], {}])
  assert.deepEqual(sync(object, { live: [running] }).did, [], 'the cache only is late')
  const failed = refused(500, 'x')
  assert.ok(!failed.ok)
  const unknown = sync(object, { onRead: () => failed })
  assert.deepEqual([unknown.did, unknown.result], [[], { error: failed.error }])
})

test('a CronJob that is being deleted or suspended makes no Jobs; its status is kept up', () => {
  const finished = done('a', 1)
  for (const given of [{ deleting: true }, { spec: { suspend: true } }]) {
    const object = cronJob({ ...given, status: activeJobs(finished) })
    const { did, result } = sync(object, { children: [finished] })
    assert.deepEqual([did, result], [['status'], LEFT])
  }
})

const unusable: readonly (readonly [object, string, string])[] = [
  [
    { timeZone: 'Nowhere/City' },
    'UnknownTimeZone',
    'invalid timeZone: "Nowhere/City": unknown time zone Nowhere/City',
  ],
  [
    { schedule: '* *' },
    'UnparseableSchedule',
    'unparseable schedule: "* *" : expected exactly 5 fields, found 2: [* *]',
  ],
  [
    { schedule: '59 23 31 2 *' },
    'InvalidSchedule',
    'invalid schedule: 59 23 31 2 * : time difference between two schedules is less than 1 second',
  ],
]
test('Given `59 23 31 2 *`, then InvalidSchedule, no Job, no requeue', () => {
  for (const [spec, reason, message] of unusable) {
    const { events, did, result } = sync(cronJob({ spec }))
    assert.deepEqual([events, did, result], [[{ type: 'Warning', reason, message }], [], LEFT])
  }
})

test('a zone within the schedule counts, and is warned of each time', () => {
  const { events, did } = sync(cronJob({ spec: { schedule: 'TZ=Asia/Shanghai 0 19 * * *' } }))
  assert.deepEqual(did, [`create ${NAME}`, 'status'])
  assert.deepEqual(events[0], {
    type: 'Warning',
    reason: 'UnsupportedSchedule',
    message:
      'CRON_TZ or TZ used in schedule "TZ=Asia/Shanghai 0 19 * * *" is not officially supported, see https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/ for more details',
  })
})

test('Given more than 100 missed schedules, then it still schedules', () => {
  const object = cronJob({ createdAt: '2025-12-01T00:00:00Z' })
  const { did, events } = sync(object)
  assert.deepEqual(did, [`create ${NAME}`, 'status'])
  assert.deepEqual(events[0], {
    type: 'Warning',
    reason: 'TooManyMissedTimes',
    message:
      'too many missed start times. Set or decrease .spec.startingDeadlineSeconds or check clock skew',
  })
})

test('a status that cannot be written is tried again, also after a sync that failed', () => {
  const conflict = refused(409, 'Conflict')
  assert.ok(!conflict.ok)
  const finished = done('a', 1)
  const object = cronJob({ spec: { suspend: true }, status: activeJobs(finished) })
  const { result } = sync(object, { children: [finished], onWrite: () => conflict })
  assert.deepEqual(result, { error: conflict.error })
  const failing = sync(cronJob({ status: activeJobs(finished, running) }), {
    children: [finished],
    onRead: () => refused(500, 'x'),
  })
  assert.deepEqual(failing.did, ['status'])
  assert.ok(failing.result?.error)
})
