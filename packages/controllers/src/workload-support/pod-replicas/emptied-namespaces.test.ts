import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KubernetesObject } from '@gyropilot/api'
import { virtualClock } from '@gyropilot/foundation/testing'
import { EmptiedNamespaces, REST_MS } from './emptied-namespaces.ts'

const owner = (name: string, uid: string): KubernetesObject => ({
  apiVersion: 'apps/v1',
  kind: 'ReplicaSet',
  metadata: { namespace: 'ns', name, uid },
})

test('an owner rests from when its namespace was found to end, looks once when that is over, and rests again', async () => {
  const clock = virtualClock()
  const emptied = new EmptiedNamespaces(clock)
  assert.equal(emptied.restMs('ns/a', '1'), 0)
  emptied.found(owner('a', '1'), () => [owner('a', '1')])
  assert.equal(emptied.restMs('ns/a', '1'), REST_MS)
  await clock.advance(REST_MS - 1)
  assert.equal(emptied.restMs('ns/a', '1'), 1)
  await clock.advance(1)
  assert.equal(emptied.restMs('ns/a', '1'), 0)
  assert.equal(emptied.restMs('ns/a', '1'), REST_MS)
})

test('all that are there rest from then on, and a rest that has begun is not made longer', async () => {
  const clock = virtualClock()
  const emptied = new EmptiedNamespaces(clock)
  emptied.found(owner('a', '1'), () => [owner('a', '1'), owner('b', '2')])
  await clock.advance(1_000)
  emptied.found(owner('c', '3'), () => [owner('b', '2'), owner('c', '3')])
  emptied.found(owner('b', '2'), () => assert.fail('its namespace is known to end'))
  assert.deepEqual(
    [emptied.restMs('ns/a', '1'), emptied.restMs('ns/b', '2'), emptied.restMs('ns/c', '3')],
    [4_000, 4_000, 5_000],
  )
})

test('others do not rest: of other names, of the same name with another uid, or forgotten', () => {
  const emptied = new EmptiedNamespaces(virtualClock())
  emptied.found(owner('a', '1'), () => [owner('a', '1')])
  assert.equal(emptied.restMs('ns/b', '1'), 0)
  assert.equal(emptied.restMs('ns/a', '2'), 0)
  assert.equal(emptied.restMs('ns/a', '1'), REST_MS)
  emptied.forget('ns/a')
  assert.equal(emptied.restMs('ns/a', '1'), 0)
})
