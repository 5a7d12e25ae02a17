import assert from 'node:assert/strict'
import { test } from 'node:test'
import { anySignal, untilAborted, withDeadline } from './abort.ts'
import { virtualClock } from './testing/index.ts'

test('aborts with the reason of the first signal', () => {
  const [a, b] = [new AbortController(), new AbortController()]
  const scope = anySignal([a.signal, undefined, b.signal])
  b.abort('second')
  a.abort('first')
  assert.equal(scope.signal.reason, 'second')
})

test('is aborted at once when a signal already is', () => {
  assert.equal(anySignal([AbortSignal.abort('x')]).signal.reason, 'x')
})

test('a disposed scope hears nothing more', async () => {
  const controller = new AbortController()
  const clock = virtualClock()
  const scope = withDeadline(clock, 100, controller.signal)
  scope.dispose()
  controller.abort()
  await clock.advance(1000)
  assert.equal(scope.signal.aborted, false)
})

test('the deadline aborts on the clock with a TimeoutError', async () => {
  const clock = virtualClock()
  using scope = withDeadline(clock, 100)
  await clock.advance(99)
  assert.equal(scope.signal.aborted, false)
  await clock.advance(1)
  assert.equal(scope.signal.reason.name, 'TimeoutError')
  assert.equal(scope.signal.reason.message, 'context deadline exceeded')
})

test('what never ends is given up when the signal aborts, and with one that has aborted at once', async () => {
  const stop = new AbortController()
  const never = new Promise<never>(() => {})
  const given = untilAborted(never, stop.signal)
  stop.abort('enough')
  await assert.rejects(given, (reason) => reason === 'enough')
  await assert.rejects(untilAborted(never, stop.signal), (reason) => reason === 'enough')
  await assert.rejects(
    untilAborted(Promise.reject(new Error('nobody hears this')), stop.signal),
    (reason) => reason === 'enough',
  )
})

test('until then it is the work that answers', async () => {
  const { signal } = new AbortController()
  assert.equal(await untilAborted(Promise.resolve(1), signal), 1)
  assert.equal(await untilAborted(Promise.resolve(2), undefined), 2)
  await assert.rejects(untilAborted(Promise.reject(new Error('broken')), signal), /broken/)
})
