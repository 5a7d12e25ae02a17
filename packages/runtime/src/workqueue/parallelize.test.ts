import assert from 'node:assert/strict'
import { test } from 'node:test'
import { settle } from '@gyropilot/foundation'
import { parallelize } from './parallelize.ts'

test('Given 1000 pieces and 10 workers, then each piece runs once.', async () => {
  for (const chunkSize of [1, 7, 2_000]) {
    const runs = Array.from({ length: 1_000 }, () => 0)
    let running = 0
    let most = 0
    await parallelize(
      10,
      1_000,
      async (piece) => {
        most = Math.max(most, ++running)
        runs[piece]!++
        await Promise.resolve()
        running--
      },
      { chunkSize },
    )
    assert.ok(runs.every((count) => count === 1))
    assert.ok(most <= 10)
  }
})

test('when the signal aborts no further piece is started', async () => {
  const stop = new AbortController()
  let started = 0
  await parallelize(
    2,
    100,
    async () => {
      if (++started === 10) stop.abort()
      await settle()
    },
    { signal: stop.signal },
  )
  assert.equal(started, 10)
})

test('a failing piece does not keep the others from running', async () => {
  let runs = 0
  const all = parallelize(3, 10, async (piece) => {
    runs++
    if (piece === 2) throw new Error('piece 2')
  })
  await assert.rejects(all, /piece 2/)
  assert.equal(runs, 10)
})
