import assert from 'node:assert/strict'
import { test } from 'node:test'
import { promiseSettler } from './settle.ts'

test('promises run dry, however many follow from each other, without a turn of the event loop', async () => {
  const settle = promiseSettler()
  let [followed, turned] = [0, false]
  setImmediate(() => (turned = true))
  void (async () => {
    while (followed < 1_000) followed = await Promise.resolve(followed + 1)
  })()
  await settle()
  assert.deepEqual([followed, turned], [1_000, false])
})

test('of 256 times one is a turn', async () => {
  const settle = promiseSettler()
  let turned = false
  setImmediate(() => (turned = true))
  for (let i = 0; i < 255; i++) await settle()
  assert.equal(turned, false)
  await settle()
  assert.equal(turned, true)
})
