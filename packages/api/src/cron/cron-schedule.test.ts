import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { CronSchedule } from './cron-schedule.ts'
import {
  UTC,
  formatZonedTime,
  instantOf,
  isKnownTimeZone,
  localTimeOf,
  timeZoneNamed,
} from './time-zone.ts'
import type { TimeZone } from './time-zone.ts'

const zoneOf = (name: string): TimeZone => {
  const zone = timeZoneNamed(name)
  assert.ok(zone, name)
  return zone
}

const textOf = (timeMs: number | undefined): string =>
  timeMs === undefined ? '-' : new Date(timeMs).toISOString().replace('.000', '')

/** Four times in a row, or as many as there are; or what is wrong with the schedule. */
function timesOf(schedule: string, after: string, zone: string): string {
  const parsed = CronSchedule.parse(schedule)
  if (typeof parsed === 'string') return `!${parsed}`
  const texts: string[] = []
  let timeMs: number | undefined = Date.parse(after)
  while (texts.length < 4 && timeMs !== undefined) {
    timeMs = parsed.nextMs(timeMs, zoneOf(zone))
    texts.push(textOf(timeMs))
  }
  return texts.join(' ')
}

/**
 * A line each: from when, in which zone, the schedule, and the times that the parser of Kubernetes 1.36 (robfig/cron 3.0.1) gave for it,
 * or `!` and what it said.
 */
const recorded = readFileSync(join(import.meta.dirname, 'recorded-times.tsv'), 'utf8')
  .split('\n')
  .filter((line) => line !== '')
  .map((line) => line.split('\t') as [string, string, string, string])

test('schedules are due when they are for Kubernetes, over all changes of clocks, and refused with its words', () => {
  assert.ok(recorded.length > 300)
  for (const [after, zone, schedule, wanted] of recorded)
    assert.equal(timesOf(schedule, after, zone), wanted, `${schedule} after ${after} in ${zone}`)
})

test('a local time that is skipped does not run that day, one that comes twice runs twice', () => {
  const after = '2026-03-28T12:00:00Z'
  assert.match(timesOf('30 2 * * *', after, 'Europe/Berlin'), /^2026-03-30T00:30:00Z /)
  const back = '2026-10-24T12:00:00Z'
  assert.match(
    timesOf('30 2 * * *', back, 'Europe/Berlin'),
    /^2026-10-25T00:30:00Z 2026-10-25T01:30:00Z 2026-10-26T01:30:00Z /,
  )
})

test('a day without a midnight is found, and one that a zone left out does not hang', () => {
  // Clocks in Havana go from 23:59 to 01:00.
  assert.match(timesOf('0 5 8 3 *', '2026-03-01T00:00:00Z', 'America/Havana'), /^2026-03-08T09:00/)
  // Samoa went from the 29th to the 31st of December 2011.
  assert.match(
    timesOf('0 12 30,31 * *', '2011-12-29T00:00:00Z', 'Pacific/Apia'),
    /^2011-12-30T22:00/,
  )
})

test('a day that never comes is given up', () => {
  assert.equal(timesOf('59 23 31 2 *', '2026-01-01T00:00:00Z', 'UTC'), '-')
  assert.match(timesOf('0 0 29 2 *', '2026-01-01T00:00:00Z', 'UTC'), /^2028-02-29/)
})

test('@every counts from the given time in whole seconds, and ignores zones', () => {
  for (const zone of ['UTC', 'Asia/Kolkata'])
    assert.match(timesOf('@every 90s', '2026-01-01T00:00:00.700Z', zone), /^2026-01-01T00:01:30Z /)
})

test('an empty text and the zone of the process', () => {
  assert.equal(CronSchedule.parse(''), 'empty spec string')
  assert.equal(
    timesOf('TZ=Local 0 5 * * *', '2026-01-01T00:00:00Z', 'Asia/Tokyo').split(' ')[0],
    '2026-01-01T20:00:00Z',
  )
  assert.equal(CronSchedule.parse('TZ=0'), 'provided bad location 0: unknown time zone 0')
})

test('what Next gives is after what it was given, whatever the schedule and the zone', () => {
  for (const [after, zone, schedule] of recorded) {
    const parsed = CronSchedule.parse(schedule)
    if (typeof parsed === 'string') continue
    for (const offsetMs of [0, 1, 999]) {
      const fromMs = Date.parse(after) + offsetMs
      const nextMs = parsed.nextMs(fromMs, zoneOf(zone))
      assert.ok(nextMs === undefined || (nextMs > fromMs && nextMs % 1_000 === 0), schedule)
    }
  }
})

test('zones are those of the database, by their very names', () => {
  for (const name of ['', 'UTC', 'Europe/Berlin', 'Etc/GMT+5'])
    assert.ok(isKnownTimeZone(name), name)
  for (const name of ['Nowhere/City', '+05:00', 'europe/berlin', 'Europe/berlin'])
    assert.equal(timeZoneNamed(name), undefined, name)
  assert.ok(isKnownTimeZone('Local'))
  assert.equal(timeZoneNamed('Local'), undefined)
  assert.equal(timeZoneNamed(''), UTC)
  assert.equal(timeZoneNamed('Asia/Tokyo'), timeZoneNamed('Asia/Tokyo'))
})

test('local times and back', () => {
  const berlin = zoneOf('Europe/Berlin')
  const summerMs = Date.UTC(2026, 6, 1, 22, 30, 15)
  const local = { year: 2026, month: 7, day: 2, hour: 0, minute: 30, second: 15, weekday: 4 }
  assert.deepEqual(localTimeOf(summerMs, berlin), local)
  assert.equal(instantOf(local, berlin), summerMs)
  // There is no 02:30 on that day; Go's answer is what would be 03:30.
  const skipped = { year: 2026, month: 3, day: 29, hour: 2, minute: 30, second: 0 }
  assert.equal(textOf(instantOf(skipped, berlin)), '2026-03-29T01:30:00Z')
  assert.equal(
    textOf(instantOf({ ...skipped, month: 1, day: 32, hour: 0 }, UTC)),
    '2026-02-01T00:30:00Z',
  )
})

test('times are printed with the offset of their zone', () => {
  const timeMs = Date.UTC(2026, 0, 1)
  const forms = [
    ['UTC', '2026-01-01T00:00:00Z'],
    ['Europe/London', '2026-01-01T00:00:00Z'],
    ['Asia/Kolkata', '2026-01-01T05:30:00+05:30'],
    ['America/St_Johns', '2025-12-31T20:30:00-03:30'],
  ] as const
  for (const [zone, text] of forms) assert.equal(formatZonedTime(timeMs, zoneOf(zone)), text)
})
