/** Contract: docs/behaviour/runtime/rest-client.md, Events, core/v1 recorder. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Event } from '@gyropilot/api'
import { testClock } from '../testing/index.ts'
import { EventCorrelator } from './event-correlator.ts'

const event = (change: Partial<Event> = {}): Event => ({
  apiVersion: 'v1',
  kind: 'Event',
  metadata: { name: 'web.1', namespace: 'shop' },
  involvedObject: { kind: 'Pod', namespace: 'shop', name: 'web', uid: 'uid', apiVersion: 'v1' },
  source: { component: 'tester' },
  type: 'Normal',
  reason: 'Started',
  message: 'started',
  count: 1,
  reportingComponent: 'tester',
  reportingInstance: '',
  ...change,
})
const { involvedObject, source } = event()

function correlating() {
  const clock = testClock()
  const correlator = new EventCorrelator(clock)
  return {
    clock,
    of: (change: Partial<Event> = {}) => correlator.correlate(event(change), 'all.1'),
  }
}

/** Distinct messages, so many. */
const distinct = (count: number) =>
  Array.from({ length: count }, (_, number) => ({ message: `message ${number}` }))

const others: readonly [string, Partial<Event>][] = [
  ['field', { involvedObject: { ...involvedObject, fieldPath: 'spec.containers{web}' } }],
  ['object', { involvedObject: { ...involvedObject, uid: 'next' } }],
  ['component', { source: { component: 'other' } }],
  ['host', { source: { ...source, host: 'node-1' } }],
  ['type', { type: 'Warning' }],
  ['reason', { reason: 'Stopped' }],
  ['message', { message: 'started again' }],
]
for (const [what, change] of others) {
  test(`another ${what} is another event, the same one is counted`, () => {
    const { of } = correlating()
    of()
    assert.equal(of(change)!.patch, undefined)
    assert.equal(of(change)!.patch!.count, 2)
  })
}

const unlike: readonly [string, Partial<Event>][] = [
  ['reason', { reason: 'Stopped' }],
  ['type', { type: 'Warning' }],
  ['reporting component', { reportingComponent: 'other' }],
  ['reporting instance', { reportingInstance: 'node-1' }],
]
for (const [what, change] of unlike) {
  test(`events of another ${what} are not combined`, () => {
    const { of } = correlating()
    for (const message of distinct(9)) of(message)
    assert.equal(of({ ...change, message: 'tenth' })!.event.message, 'tenth')
    assert.match(of({ message: 'tenth' })!.event.message!, /^\(combined from similar events\)/)
  })
}

test('a group ends after 600 s without an event, counted from its last one', async () => {
  for (const [waitMs, combined] of [
    [600_000, true],
    [600_001, false],
  ] as const) {
    const { of, clock } = correlating()
    for (const message of distinct(9)) {
      of(message)
      await clock.advance(waitMs)
    }
    assert.equal(of({ message: 'tenth' })!.event.metadata!.name === 'all.1', combined)
  }
})

test('what a group has seen goes its own way again, until the next new message', () => {
  const { of } = correlating()
  for (const message of distinct(10)) of(message)
  const seen = of({ message: 'message 5' })!
  assert.deepEqual([seen.event.message, seen.patch?.count], ['message 5', 2])
  assert.equal(of({ message: 'eleventh' })!.patch?.count, 2)
})

test('a repeated event keeps its name and when it was first seen', async () => {
  const { of } = correlating()
  of({ firstTimestamp: '2026-01-01T00:00:00Z', lastTimestamp: '2026-01-01T00:00:00Z' })
  const { event: repeated } = of({
    metadata: { name: 'web.2', namespace: 'shop' },
    firstTimestamp: '2026-01-01T00:01:00Z',
    lastTimestamp: '2026-01-01T00:01:00Z',
  })!
  assert.deepEqual(repeated.metadata, { name: 'web.1', namespace: 'shop' })
  assert.equal(repeated.firstTimestamp, '2026-01-01T00:00:00Z')
  assert.equal(repeated.lastTimestamp, '2026-01-01T00:01:00Z')
})

test('of 4096 others the oldest is forgotten, and its event is a new one', () => {
  const { of } = correlating()
  const about = (uid: string) => of({ involvedObject: { ...involvedObject, uid } })
  about('first')
  for (let other = 1; other < 4096; other++) about(`other-${other}`)
  assert.equal(about('first')?.event.count, 2)
  for (let other = 0; other < 4096; other++) about(`further-${other}`)
  assert.equal(about('first')?.event.count, 1)
})

test('a quiet day gives no more than the burst', async () => {
  const { of, clock } = correlating()
  of()
  await clock.advance(24 * 3600_000)
  const sent = Array.from({ length: 26 }, () => of() !== undefined)
  assert.deepEqual(sent.indexOf(false), 25)
})
