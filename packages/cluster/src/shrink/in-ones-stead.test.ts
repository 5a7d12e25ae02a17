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

const crash = (
  atMs: number,
  when: 'before' | 'after',
  { request = CREATE, ordinal = 0 } = {},
): ScheduleEntry => ({ atMs, ordinal, request, fault: { kind: 'crash', when } })
const operation: ScheduleEntry = { atMs: 3, step: 1, operation: 'create a Service' }

test('the later of two faults of one place takes the place of the earlier', () => {
  const before = crash(1, 'before')
  const found = [...inOnesStead([before, operation, crash(5, 'after')])]
  assert.deepEqual(found, [[crash(1, 'after'), operation]])
})

test('a later request of a burst is struck there too, or the one that the earlier fault struck', () => {
  const before = crash(1, 'before')
  assert.deepEqual(
    [...inOnesStead([before, operation, crash(5, 'after', { ordinal: 1 })])],
    [
      [crash(1, 'after', { ordinal: 1 }), operation],
      [crash(1, 'after'), operation],
    ],
  )
})

test('what is the earlier fault again is not tried: it is the later one left out', () => {
  const before = crash(1, 'before')
  assert.deepEqual([...inOnesStead([before, crash(5, 'before')])], [])
  assert.deepEqual(
    [...inOnesStead([before, crash(5, 'before', { ordinal: 1 })])],
    [[crash(1, 'before', { ordinal: 1 })]],
  )
})

test('each pair is a schedule of its own', () => {
  const found = [...inOnesStead([crash(1, 'before'), crash(2, 'after'), crash(3, 'before')])]
  assert.deepEqual(found, [
    [crash(1, 'after'), crash(3, 'before')],
    [crash(1, 'before'), crash(2, 'before')],
  ])
})

test('faults of different places and operations stay where they are', () => {
  const elsewhere = crash(5, 'after', { request: LIST })
  assert.deepEqual([...inOnesStead([crash(1, 'before'), operation, elsewhere])], [])
})
