/** Syncs one after the other, each when the one before asked for it, over ten years: every time once and none besides. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { UTC, timeZoneNamed } from '@gyropilot/api'
import type { CronJob, Job } from '@gyropilot/api'
import { drive } from '@gyropilot/runtime/testing'
import { cronJob } from './fixtures.ts'
import { reconcile } from './reconcile.ts'
import { dueTimesOf } from './schedule-of.ts'

const CREATED_MS = Date.UTC(2026, 0, 1, 10)
const END_MS = Date.UTC(2036, 0, 1, 10)

/** The times of the Jobs that were made. Each one ends before the next sync. */
function run(schedule: string, timeZone: string): readonly number[] {
  let object = cronJob({ spec: { schedule, timeZone, successfulJobsHistoryLimit: 0 } })
  let children: readonly Job[] = []
  const made: number[] = []
  for (let nowMs = CREATED_MS; nowMs < END_MS;) {
    const { writes, result } = drive(
      reconcile({ cronJob: object, children }, { localTimeZone: UTC, onJobCreated() {} }),
      { nowMs },
    )
    children = []
    for (const write of writes) {
      if (write.verb === 'update') object = write.object as CronJob
      if (write.verb !== 'create') continue
      made.push(Date.parse(write.object.metadata?.creationTimestamp ?? ''))
      const conditions = [{ type: 'Complete', status: 'True' as const }]
      children = [{ ...(write.object as Job), status: { conditions } } as Job]
    }
    assert.ok(result && 'requeueAfterMs' in result && (result.requeueAfterMs ?? 0) > 0)
    nowMs += result.requeueAfterMs ?? 0
  }
  return made
}

const schedules = [
  ['0 3 * * *', 'UTC'],
  ['30 2 * * *', 'Europe/Berlin'],
  ['30 1 * * 0', 'America/New_York'],
  ['0 0 29 2 *', 'Asia/Tokyo'],
  ['15,45 */6 1,15 * *', 'Australia/Lord_Howe'],
  ['@monthly', 'Pacific/Chatham'],
] as const
for (const [schedule, timeZone] of schedules) {
  test(`${schedule} in ${timeZone} runs at each of its times`, () => {
    const due = dueTimesOf(cronJob({ spec: { schedule, timeZone } }), timeZoneNamed(timeZone)!)
    assert.ok(typeof due !== 'string')
    const wanted: number[] = []
    for (
      let at = due.after(CREATED_MS);
      at !== undefined && at < END_MS - 1_000;
      at = due.after(at)
    )
      wanted.push(at)
    assert.ok(wanted.length > 1)
    assert.deepEqual(run(schedule, timeZone), wanted)
  })
}
