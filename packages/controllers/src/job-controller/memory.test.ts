import assert from 'node:assert/strict'
import { test } from 'node:test'
import { JobMemory } from './memory.ts'
import { NO_BACKOFF } from './pods/pod-backoff.ts'

const record = { failures: 2, lastFailureMs: 1 }

test('what is known of a Job is known under its uid only: a recreated Job starts with a clean back-off', () => {
  const memory = new JobMemory()
  memory.setBackoff('ns/work', 'a', record)
  memory.markFinished('ns/work', 'a')
  memory.expectRemovals('ns/work', 'a', ['p'])
  assert.equal(memory.backoff('ns/work', 'a'), record)
  assert.ok(memory.isFinished('ns/work', 'a'))
  assert.deepEqual([...memory.awaitedRemovals('ns/work', 'a')], ['p'])
  assert.equal(memory.backoff('ns/work', 'b'), NO_BACKOFF)
  assert.ok(!memory.isFinished('ns/work', 'b'))
  assert.equal(memory.awaitedRemovals('ns/work', 'b').size, 0)
  memory.markFinished('ns/work', 'b')
  assert.equal(memory.backoff('ns/work', 'b'), NO_BACKOFF)
})

test('a removal is awaited until it is observed, without expiry', () => {
  const memory = new JobMemory()
  memory.expectRemovals('ns/work', 'a', ['p', 'q'])
  memory.removalObserved('ns/work', 'p')
  memory.removalObserved('ns/other', 'q')
  assert.deepEqual([...memory.awaitedRemovals('ns/work', 'a')], ['q'])
  memory.expectRemovals('ns/work', 'a', ['r'])
  assert.deepEqual([...memory.awaitedRemovals('ns/work', 'a')], ['q', 'r'])
})

test('what is awaited is a snapshot: pods that were listed with it stay released in its eyes', () => {
  const memory = new JobMemory()
  memory.expectRemovals('ns/work', 'a', ['p'])
  const awaited = memory.awaitedRemovals('ns/work', 'a')
  memory.removalObserved('ns/work', 'p')
  assert.deepEqual([...awaited], ['p'])
  assert.equal(memory.awaitedRemovals('ns/work', 'a').size, 0)
})

test('nothing is kept of a Job that is forgotten, or of which there is nothing to keep', () => {
  const memory = new JobMemory()
  memory.setBackoff('ns/work', 'a', record)
  memory.forget('ns/work')
  assert.equal(memory.backoff('ns/work', 'a'), NO_BACKOFF)
  memory.setBackoff('ns/work', 'a', NO_BACKOFF)
  memory.expectRemovals('ns/work', 'a', [])
  memory.removalObserved('ns/work', 'p')
  assert.equal(memory.size, 0)
})

test('a release has been seen when an event says so of a pod that was awaited, and not when it failed', () => {
  const memory = new JobMemory()
  memory.expectRemovals('ns/work', 'a', ['p', 'q'])
  memory.removalObserved('ns/work', 'other')
  memory.removalObserved('ns/other', 'p')
  memory.removalFailed('ns/work', 'p')
  assert.deepEqual(
    [memory.hasSeenRelease, [...memory.awaitedRemovals('ns/work', 'a')]],
    [false, ['q']],
  )
  memory.removalObserved('ns/work', 'q')
  memory.forget('ns/work')
  assert.ok(memory.hasSeenRelease)
})
