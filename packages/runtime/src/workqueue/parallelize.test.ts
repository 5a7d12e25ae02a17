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

test('when the signal aborts the rest of a chunk is left too', async () => {
  const stop = new AbortController()
  let started = 0
  const run = async () => {
    if (++started === 2) stop.abort()
  }
  await parallelize(1, 10, run, { chunkSize: 5, signal: stop.signal })
  assert.equal(started, 2)
})

test('a chunk has a piece at least', async () => {
  let runs = 0
  await parallelize(2, 3, async () => void runs++, { chunkSize: 0 })
  assert.equal(runs, 3)
})

test('of several failures the first is told', async () => {
  const all = parallelize(1, 3, async (piece) => {
    throw new Error(`piece ${piece}`)
  })
  await assert.rejects(all, /piece 0/)
})
