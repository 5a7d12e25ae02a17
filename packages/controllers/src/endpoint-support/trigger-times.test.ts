import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CREATED, pod, service } from './fixtures.ts'
import { TRIGGER_TIME_ANNOTATION, TriggerTimes, withTriggerTime } from './trigger-times.ts'

const at = (minute: number): string => `2026-01-01T00:${String(minute).padStart(2, '0')}:00Z`

test('the first sync of a Service passes on its creation, whatever its pods say', () => {
  assert.equal(new TriggerTimes().next(service(), [pod({ readySince: at(5) })]), CREATED)
})

test('later the earliest of the times that are new', () => {
  const times = new TriggerTimes()
  const first = pod({ name: 'first', readySince: at(1) })
  times.next(service(), [first])
  assert.equal(times.next(service(), [first]), undefined)
  const changed = [
    first,
    pod({ name: 'second', readySince: at(7) }),
    pod({ name: 'third', readySince: at(6) }),
  ]
  assert.equal(times.next(service(), changed), at(6))
  assert.equal(times.next(service(), changed), undefined)
})

test('a time counts only when it is later than the one known', () => {
  const times = new TriggerTimes()
  times.next(service(), [pod({ readySince: at(5) })])
  assert.equal(times.next(service(), [pod({ readySince: at(4) })]), undefined)
  assert.equal(times.next(service(), [pod({ readySince: at(5) })]), at(5))
})

test('times are known by pod, in whatever order they come', () => {
  const times = new TriggerTimes()
  const [a, b, c] = ['a', 'b', 'c'].map((name, index) => pod({ name, readySince: at(index + 1) }))
  times.next(service(), [a!, b!, c!])
  assert.equal(times.next(service(), [c!, a!]), undefined)
  assert.equal(times.next(service(), [a!, c!]), undefined)
  assert.equal(times.next(service(), [c!, b!, a!]), at(2))
})

test('a pod that went and came back is new; one without a time never is', () => {
  const times = new TriggerTimes()
  times.next(service(), [pod({ readySince: at(5) })])
  assert.equal(times.next(service(), []), undefined)
  assert.equal(times.next(service(), [pod()]), undefined)
  assert.equal(times.next(service(), [pod({ readySince: at(5) })]), at(5))
})

test('a Service made anew is a change; a forgotten one starts over', () => {
  const times = new TriggerTimes()
  times.next(service(), [])
  const anew = service()
  const later = { ...anew, metadata: { ...anew.metadata, creationTimestamp: at(9) } }
  assert.equal(times.next(later, []), at(9))
  assert.equal(times.next(later, []), undefined)
  times.forget('ns/svc')
  assert.equal(times.next(later, []), at(9))
})

test('the annotation is set, replaced or removed; others stay', () => {
  const stale = { other: 'x', [TRIGGER_TIME_ANNOTATION]: CREATED }
  assert.deepEqual(withTriggerTime(undefined, at(1)), { [TRIGGER_TIME_ANNOTATION]: at(1) })
  assert.deepEqual(withTriggerTime(stale, at(2)), { other: 'x', [TRIGGER_TIME_ANNOTATION]: at(2) })
  assert.deepEqual(withTriggerTime(stale, undefined), { other: 'x' })
})
