import assert from 'node:assert/strict'
import { test } from 'node:test'
import { LruCache } from './lru-cache.ts'

test('what was used least recently goes when there is no room', () => {
  const cache = new LruCache<number>(2)
  cache.set('a', 1)
  cache.set('b', 2)
  assert.equal(cache.get('a'), 1)
  cache.set('c', 3)
  assert.deepEqual(
    ['a', 'b', 'c'].map((key) => cache.get(key)),
    [1, undefined, 3],
  )
})

test('what is over goes with the next entry, the oldest first', () => {
  let nowMs = 0
  const cache = new LruCache<number>(10, (atMs) => nowMs - atMs > 5)
  for (const key of ['a', 'b', 'c']) cache.set(key, nowMs++)
  nowMs = 7
  cache.set('d', nowMs)
  assert.equal(cache.size, 2)
  assert.equal(cache.get('b'), undefined)
  assert.equal(cache.get('c'), 2)
})

test('what is set anew is the newest', () => {
  const cache = new LruCache<number>(2)
  for (const key of ['a', 'b', 'a', 'c']) cache.set(key, 1)
  assert.deepEqual(
    ['a', 'b', 'c'].map((key) => cache.get(key)),
    [1, undefined, 1],
  )
})
