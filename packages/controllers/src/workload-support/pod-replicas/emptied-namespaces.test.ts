import assert from 'node:assert/strict'
import { test } from 'node:test'
import { virtualClock } from '@gyropilot/foundation/testing'
import { EmptiedNamespaces, REST_MS } from './emptied-namespaces.ts'

test('an owner rests from when its namespace was found to end, looks once when that is over, and rests again', async () => {
  const clock = virtualClock()
  const emptied = new EmptiedNamespaces(clock)
  assert.equal(emptied.restMs('ns/a', '1'), 0)
  emptied.found('ns/a', '1')
  assert.equal(emptied.restMs('ns/a', '1'), REST_MS)
  await clock.advance(REST_MS - 1)
  assert.equal(emptied.restMs('ns/a', '1'), 1)
  await clock.advance(1)
  assert.equal(emptied.restMs('ns/a', '1'), 0)
  assert.equal(emptied.restMs('ns/a', '1'), REST_MS)
})

test('others do not rest: of other names, of the same name with another uid, or forgotten', () => {
  const emptied = new EmptiedNamespaces(virtualClock())
  emptied.found('ns/a', '1')
  assert.equal(emptied.restMs('ns/b', '1'), 0)
  assert.equal(emptied.restMs('ns/a', '2'), 0)
  assert.equal(emptied.restMs('ns/a', '1'), REST_MS)
  emptied.forget('ns/a')
  assert.equal(emptied.restMs('ns/a', '1'), 0)
})
