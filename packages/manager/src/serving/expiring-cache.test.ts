import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testClock } from '@gyropilot/runtime/testing'
import { ExpiringCache } from './expiring-cache.ts'

test('of more than 4096 answers the oldest go', async () => {
  const cache = new ExpiringCache<string>(testClock())
  let asked = 0
  const get = (key: string) =>
    cache.get(key, async () => {
      asked++
      return { value: key, forMs: 10_000 }
    })
  for (let key = 0; key < 4096; key++) await get(String(key))
  assert.equal(await get('0'), '0')
  assert.equal(asked, 4096)
  await get('one more')
  await get('1')
  assert.equal(asked, 4097)
  await get('0')
  assert.equal(asked, 4098)
})

test('an answer is kept for its time, and not a moment longer', async () => {
  const clock = testClock()
  const cache = new ExpiringCache<number>(clock)
  let asked = 0
  const get = () => cache.get('key', async () => ({ value: ++asked, forMs: 10_000 }))
  assert.equal(await get(), 1)
  await clock.advance(9_999)
  assert.equal(await get(), 1)
  await clock.advance(1)
  assert.equal(await get(), 2)
})
