import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { RequestPlace, ScheduleEntry } from '../faults/schedule.ts'
import { inOnesStead } from './in-ones-stead.ts'

const CREATE: RequestPlace = {
  process: 'operator',
  link: 'client',
  verb: 'create',
  collection: 'configmaps',
  subresource: '',
}
const LIST: RequestPlace = { ...CREATE, verb: 'list' }

const crash = (atMs: number, when: 'before' | 'after', request = CREATE): ScheduleEntry => ({
  atMs,
  ordinal: atMs,
  request,
  fault: { kind: 'crash', when },
})
const operation: ScheduleEntry = { atMs: 3, step: 1, operation: 'create a Service' }

test('the later of two faults of one place takes the place of the earlier', () => {
  const before = crash(1, 'before')
  const found = [...inOnesStead([before, operation, crash(5, 'after')])]
  assert.deepEqual(found, [[crash(1, 'after'), operation]])
})

test('each pair is a schedule of its own', () => {
  const found = [...inOnesStead([crash(1, 'before'), crash(2, 'after'), crash(3, 'before')])]
  assert.deepEqual(found, [
    [crash(1, 'after'), crash(3, 'before')],
    [crash(1, 'before'), crash(2, 'after')],
    [crash(1, 'before'), crash(2, 'before')],
  ])
})

test('faults of different places and operations stay where they are', () => {
  assert.deepEqual([...inOnesStead([crash(1, 'before'), operation, crash(5, 'after', LIST)])], [])
})
