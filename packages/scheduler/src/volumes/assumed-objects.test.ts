import assert from 'node:assert/strict'
import { test } from 'node:test'
import { keyOf } from '@gyropilot/api'
import type { PersistentVolume } from '@gyropilot/api'
import { AssumedObjects } from './assumed-objects.ts'

const volume = (resourceVersion: string, uid = 'u'): PersistentVolume => ({
  metadata: { name: 'v', uid, resourceVersion },
})

test('what is assumed counts until the cache has something newer', () => {
  const assumed = new AssumedObjects<PersistentVolume>(keyOf)
  const ours = volume('10')
  assumed.assume(ours)
  assert.equal(assumed.over(volume('10')), ours)
  assert.equal(assumed.over(volume('9')), ours)
  const newer = volume('11')
  assert.equal(assumed.over(newer), newer)
  const again = volume('10')
  assert.equal(assumed.over(again), again, 'and then no more')
})

test('a namesake is not what was assumed, and what is gone stays gone', () => {
  const assumed = new AssumedObjects<PersistentVolume>(keyOf)
  assumed.assume(volume('10'))
  const other = volume('9', 'other')
  assert.equal(assumed.over(other), other)
  assert.equal(assumed.over(undefined), undefined)
})

test('what was forgotten counts no more', () => {
  const assumed = new AssumedObjects<PersistentVolume>(keyOf)
  assumed.assume(volume('10'))
  assumed.forget(volume('10'))
  const cached = volume('10')
  assert.equal(assumed.over(cached), cached)
})
