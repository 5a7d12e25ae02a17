import assert from 'node:assert/strict'
import { test } from 'node:test'
import { UTC } from '@gyropilot/api'
import type { CronJob } from '@gyropilot/api'
import { cronJob } from './fixtures.ts'
import { missedTimes, nextDelayMs } from './missed-time.ts'
import type { MissedTimes } from './missed-time.ts'
import { dueTimesOf } from './schedule-of.ts'

const HOUR_MS = 3_600_000

interface Case {
  readonly what: string
  readonly schedule: string
  readonly created?: string
  readonly last?: string
  readonly deadlineSeconds?: number
  readonly now: string
  readonly latest?: string
  readonly missed: MissedTimes['missed']
  /** From now to the next time, without the padding. */
  readonly nextMs: number
}

const cases: readonly Case[] = [
  {
    what: 'nothing was due yet',
    schedule: '0 * * * *',
    created: '2026-01-01T10:00:00Z',
    now: '2026-01-01T10:59:59Z',
    missed: 'none',
    nextMs: 1_000,
  },
  {
    what: 'one time',
    schedule: '0 * * * *',
    created: '2026-01-01T10:00:00Z',
    now: '2026-01-01T11:01:00Z',
    latest: '2026-01-01T11:00:00Z',
    missed: 'few',
    nextMs: 59 * 60_000,
  },
  {
    what: 'one time, to the second',
    schedule: '0 * * * *',
    created: '2026-01-01T10:00:00Z',
    now: '2026-01-01T11:00:00Z',
    latest: '2026-01-01T11:00:00Z',
    missed: 'few',
    nextMs: HOUR_MS,
  },
  {
    what: 'two times, to the second of the later one',
    schedule: '0 * * * *',
    created: '2026-01-01T10:00:00Z',
    now: '2026-01-01T12:00:00Z',
    latest: '2026-01-01T12:00:00Z',
    missed: 'few',
    nextMs: HOUR_MS,
  },
  {
    what: 'a hundred times are few',
    schedule: '* * * * *',
    created: '2026-01-01T10:00:00Z',
    now: '2026-01-01T11:40:30Z',
    latest: '2026-01-01T11:40:00Z',
    missed: 'few',
    nextMs: 30_000,
  },
  {
    what: 'one more is many',
    schedule: '* * * * *',
    created: '2026-01-01T10:00:00Z',
    now: '2026-01-01T11:41:30Z',
    latest: '2026-01-01T11:41:00Z',
    missed: 'many',
    nextMs: 30_000,
  },
  {
    what: 'within the deadline there are few',
    schedule: '* * * * *',
    created: '2026-01-01T10:00:00Z',
    deadlineSeconds: 600,
    now: '2026-01-01T20:00:30Z',
    latest: '2026-01-01T20:00:00Z',
    missed: 'few',
    nextMs: 30_000,
  },
  {
    what: 'a last run within the deadline counts',
    schedule: '0 * * * *',
    last: '2026-01-01T11:00:00Z',
    deadlineSeconds: 36_000,
    now: '2026-01-01T11:30:00Z',
    missed: 'none',
    nextMs: HOUR_MS / 2,
  },
  {
    what: 'irregular: on weekdays, every four hours',
    schedule: '30 6-16/4 * * 1-5',
    last: '2026-01-01T10:30:00Z',
    now: '2026-01-02T10:31:00Z',
    latest: '2026-01-02T10:30:00Z',
    missed: 'few',
    nextMs: 4 * HOUR_MS - 60_000,
  },
  {
    what: 'irregular, before the first time of the day',
    schedule: '30 10,11,12 * * 1-5',
    last: '2026-01-02T12:30:00Z',
    now: '2026-01-05T10:29:59Z',
    missed: 'none',
    nextMs: 1_000,
  },
  {
    what: 'irregular: where the search begins, at the last but one step, nothing comes any more',
    schedule: '0,1 0 * * *',
    created: '2026-01-01T23:59:00Z',
    now: '2026-01-02T00:02:00Z',
    missed: 'few',
    nextMs: 24 * HOUR_MS - 120_000,
  },
  {
    what: '@every counts from the last run',
    schedule: '@every 1h',
    last: '2026-01-01T10:01:00Z',
    now: '2026-01-08T10:00:00Z',
    latest: '2026-01-08T09:01:00Z',
    missed: 'many',
    nextMs: 60_000,
  },
]

function given({ schedule, created, last, deadlineSeconds }: Case): CronJob {
  return cronJob({
    spec: {
      schedule,
      ...(deadlineSeconds !== undefined && { startingDeadlineSeconds: deadlineSeconds }),
    },
    ...(created && { createdAt: created }),
    ...(last && { status: { lastScheduleTime: last } }),
  })
}

for (const example of cases) {
  test(`the time to run and the next one: ${example.what}`, () => {
    const object = given(example)
    const due = dueTimesOf(object, UTC)
    assert.ok(typeof due !== 'string')
    const nowMs = Date.parse(example.now)
    const times = missedTimes(object, nowMs, due, true)
    assert.ok(typeof times !== 'string')
    const latest = times.latestMs === undefined ? undefined : new Date(times.latestMs)
    assert.equal(latest?.toISOString().replace('.000', ''), example.latest)
    assert.equal(times.missed, example.missed)
    assert.equal(nextDelayMs(object, nowMs, due), example.nextMs + 100)
  })
}

test('Given `0 * * * *`, created at 10:00:00, when now 11:01, then one Job for 11:00', () => {
  const due = dueTimesOf(cronJob(), UTC)
  assert.ok(typeof due !== 'string')
  const times = missedTimes(cronJob(), Date.parse('2026-01-01T11:01:00Z'), due, true)
  assert.ok(typeof times !== 'string')
  assert.equal(times.latestMs, Date.parse('2026-01-01T11:00:00Z'))
})

test('Given `30 6-16/4 * * 1-5`, last Thursday 10:30, now Friday 10:31, then most recent Friday 10:30 and next in 3h59m+100ms', () => {
  const object = cronJob({
    spec: { schedule: '30 6-16/4 * * 1-5' },
    status: { lastScheduleTime: '2026-01-01T10:30:00Z' },
  })
  const due = dueTimesOf(object, UTC)
  assert.ok(typeof due !== 'string')
  const nowMs = Date.parse('2026-01-02T10:31:00Z')
  const times = missedTimes(object, nowMs, due, true)
  assert.ok(typeof times !== 'string')
  assert.equal(times.latestMs, Date.parse('2026-01-02T10:30:00Z'))
  assert.equal(nextDelayMs(object, nowMs, due), 4 * HOUR_MS - 60_000 + 100)
})

test('Given `@every 1h`, last 10:01, now 7 days later 10:00, then most recent 09:01 and many missed', () => {
  const object = cronJob({
    spec: { schedule: '@every 1h' },
    status: { lastScheduleTime: '2026-01-01T10:01:00Z' },
  })
  const due = dueTimesOf(object, UTC)
  assert.ok(typeof due !== 'string')
  const times = missedTimes(object, Date.parse('2026-01-08T10:00:00Z'), due, true)
  assert.ok(typeof times !== 'string')
  assert.deepEqual([times.latestMs, times.missed], [Date.parse('2026-01-08T09:01:00Z'), 'many'])
})

test('a day that never comes has no two times, and the next look is a moment away', () => {
  const object = cronJob({ spec: { schedule: '59 23 31 2 *' } })
  const due = dueTimesOf(object, UTC)
  assert.ok(typeof due !== 'string')
  const nowMs = Date.parse('2026-01-01T11:00:00Z')
  assert.equal(
    missedTimes(object, nowMs, due, true),
    'time difference between two schedules is less than 1 second',
  )
  assert.equal(nextDelayMs(object, nowMs, due), 100)
})

test('a time that no other follows within five years has no two times either: 29 February before 2100', () => {
  const object = cronJob({ spec: { schedule: '0 0 29 2 *' }, createdAt: '2096-01-01T00:00:00Z' })
  const due = dueTimesOf(object, UTC)
  assert.ok(typeof due !== 'string')
  const at = (now: string) => missedTimes(object, Date.parse(now), due, true)
  assert.deepEqual(at('2096-02-28T23:59:59Z'), {
    earliestMs: Date.parse('2096-01-01T00:00:00Z'),
    missed: 'none',
  })
  assert.equal(
    at('2096-03-01T00:00:00Z'),
    'time difference between two schedules is less than 1 second',
  )
})

test('without deadline everything since the last run counts, whatever the deadline says', () => {
  const object = cronJob({ spec: { schedule: '* * * * *', startingDeadlineSeconds: 60 } })
  const due = dueTimesOf(object, UTC)
  assert.ok(typeof due !== 'string')
  const times = missedTimes(object, Date.parse('2026-01-02T10:00:00Z'), due, false)
  assert.ok(typeof times !== 'string')
  assert.deepEqual([times.missed, times.earliestMs], ['many', Date.parse('2026-01-01T10:00:00Z')])
})
