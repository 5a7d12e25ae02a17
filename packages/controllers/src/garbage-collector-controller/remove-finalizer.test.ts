import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Outcome } from '@gyropilot/runtime'
import { drive } from '@gyropilot/runtime/testing'
import {
  CONFLICT,
  NOT_FOUND,
  TestGraph,
  UNSUPPORTED_MEDIA_TYPE,
  found,
  identity,
  owner,
  refused,
  testCollector,
} from './fixtures.ts'
import { removeFinalizer } from './remove-finalizer.ts'
import type { RemovalOptions } from './remove-finalizer.ts'

function attempt(live: Outcome, written?: Outcome, options?: RemovalOptions) {
  const collector = testCollector(new TestGraph())
  const rules = removeFinalizer(identity(owner('rc')), 'orphan', collector, options)
  return drive(rules, { onRead: () => live, onWrite: () => written })
}

test('the finalizer alone is taken away, from this object and from where it was read', () => {
  const live = owner('rc', { resourceVersion: '8', finalizers: ['a/b', 'orphan', 'c/d'] })
  const { result, writes } = attempt(found(live))
  assert.equal(result.ok, true)
  const [write] = writes
  assert.ok(write?.verb === 'patch' && write.name === 'rc' && write.namespace === 'ns1')
  const path = '/metadata/finalizers/1'
  const operations = [
    { op: 'test', path: '/metadata/uid', value: 'rc-uid' },
    { op: 'test', path, value: 'orphan' },
    { op: 'remove', path },
  ]
  assert.deepEqual(write.patch, { type: 'json', operations })
})

test('a server without JSON patch is sent the whole list and the version it was made from', () => {
  const live = owner('rc', { resourceVersion: '8', finalizers: ['a/b', 'orphan', 'c/d'] })
  const { writes } = attempt(found(live), UNSUPPORTED_MEDIA_TYPE)
  assert.equal(writes.length, 2)
  const value = { metadata: { resourceVersion: '8', finalizers: ['a/b', 'c/d'] } }
  assert.ok(writes[1]?.verb === 'patch')
  assert.deepEqual(writes[1].patch, { type: 'merge', value })
})

test('nothing is written when the object or the finalizer is gone, or a namesake is in its place', () => {
  const namesake = owner('rc', { uid: 'other', finalizers: ['orphan'] })
  for (const live of [NOT_FOUND, found(owner('rc')), found(namesake)]) {
    const { result, writes } = attempt(live)
    assert.deepEqual([result.ok, writes], [true, []])
  }
})

test('what was read just now is not read again, and is released only once the caller knows', () => {
  const live = owner('rc', { finalizers: ['orphan'] })
  const told: unknown[] = []
  const beforeRelease = (released: object): unknown => told.push(released)
  const { result, effects } = attempt(NOT_FOUND, undefined, { live, beforeRelease })
  assert.deepEqual([result.ok, effects.length, told], [true, 1, [live]])
})

test('an object that goes before the patch comes is released', () => {
  assert.equal(attempt(found(owner('rc', { finalizers: ['orphan'] })), NOT_FOUND).result.ok, true)
})

test('failures are handed to the caller', () => {
  const unread = refused(500, 'InternalError')
  assert.deepEqual(attempt(unread).result, unread)
  assert.deepEqual(
    attempt(found(owner('rc', { finalizers: ['orphan'] })), CONFLICT).result,
    CONFLICT,
  )
})
