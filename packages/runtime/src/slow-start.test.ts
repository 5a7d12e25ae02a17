import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { inSlowStart } from './slow-start.ts'

const ITEMS = Array.from({ length: 10 }, (_, index) => index)

/** Items that end when they are told to, batch by batch: `outcomeOf` says how. */
function starting(items: readonly number[], outcomeOf: (item: number) => string = String) {
  let waiting: (() => void)[] = []
  const batches: number[] = []
  const stop = new AbortController()
  const results = inSlowStart(
    items,
    (item) => new Promise<string>((resolve) => void waiting.push(() => resolve(outcomeOf(item)))),
    {
      ends: (outcome) => outcome.startsWith('broken'),
      skip: (ended) => `skipped for ${ended}`,
      signal: stop.signal,
    },
  )
  const endBatches = async (): Promise<void> => {
    while (waiting.length > 0) {
      batches.push(waiting.length)
      const ending = waiting
      waiting = []
      // Results are in the order of the items, whichever ends first.
      for (const end of ending.toReversed()) end()
      await turn()
    }
  }
  return { results, batches, stop, endBatches }
}

test('each batch is twice as large as the one before it, and the last one what is left', async () => {
  const { results, batches, endBatches } = starting(ITEMS)
  await endBatches()
  assert.deepEqual(batches, [1, 2, 4, 3])
  assert.deepEqual(await results, ITEMS.map(String))
})

test('a batch in which one ends the run is finished, and is the last', async () => {
  const { results, batches, endBatches } = starting(ITEMS, (item) =>
    item === 1 || item === 2 ? `broken ${item}` : String(item),
  )
  await endBatches()
  assert.deepEqual(batches, [1, 2])
  assert.deepEqual(await results, [
    '0',
    'broken 1',
    'broken 2',
    ...Array.from({ length: 7 }, () => 'skipped for broken 1'),
  ])
})

test('after a stop nothing more is started', async () => {
  const { results, batches, stop, endBatches } = starting(ITEMS.slice(0, 3))
  stop.abort()
  await endBatches()
  assert.deepEqual(batches, [1])
  assert.deepEqual(await results, ['0', 'skipped for undefined', 'skipped for undefined'])
})

test('of nothing nothing is started', async () => {
  const { results, batches, stop, endBatches } = starting([])
  stop.abort()
  await endBatches()
  assert.deepEqual([batches, await results], [[], []])
})

test('without a signal nothing stops a run', async () => {
  const options = { ends: () => false, skip: () => 'skipped' }
  assert.deepEqual(await inSlowStart([1, 2], async (item) => `${item}`, options), ['1', '2'])
})
