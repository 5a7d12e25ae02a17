import assert from 'node:assert/strict'
import { test } from 'node:test'
import { GyropilotError } from '@gyropilot/foundation'
import { readSchedule } from './schedule-argument.ts'

const REFUSED: readonly (readonly [string, RegExp])[] = [
  ['{}', /^--schedule: it must be a JSON array of entries$/],
  ['[{]', /^--schedule: .*JSON/],
  ['[1]', /^--schedule: entry 0 is no object$/],
  ['[{"atMs":1}]', /^--schedule: entry 0 has none of operation, world, request, event$/],
  ['[{"world":{}}]', /^--schedule: entry 0 has no number atMs$/],
  ['[{"atMs":1,"world":{}},{"atMs":1,"world":null}]', /^--schedule: entry 1 has no object world$/],
  ['[{"atMs":1,"event":{},"ordinal":0}]', /^--schedule: entry 0 has no object fault$/],
]
for (const [schedule, wanted] of REFUSED) {
  test(`--schedule ${schedule} is refused with exit code 2`, () => {
    assert.throws(
      () => readSchedule(schedule),
      (error) =>
        error instanceof GyropilotError && error.exitCode === 2 && wanted.test(error.message),
    )
  })
}
