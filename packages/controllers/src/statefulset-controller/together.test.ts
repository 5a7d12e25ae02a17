import assert from 'node:assert/strict'
import { test } from 'node:test'
import { resources } from '@gyropilot/api'
import { create, currentTimeMs, recordEvent, write } from '@gyropilot/runtime'
import type { Effect, Reconcile } from '@gyropilot/runtime'
import { drive } from '@gyropilot/runtime/testing'
import { NOW_MS, refused } from '../workload-support/fixtures.ts'
import { inGrowingBatches, together } from './together.ts'

/** Writes so many objects one after the other, then tells its name and the time. */
function* writes(name: string, count: number): Reconcile<string> {
  for (let step = 0; step < count; step += 1) {
    const object = { metadata: { name: `${name}${step}` } }
    const created = yield* write(create(resources.configmaps, object))
    assert.equal(created.ok && created.object.metadata?.name, `${name}${step}`)
    yield* recordEvent(object, 'Normal', 'Made', `${name}${step}`)
  }
  return `${name} ${yield* currentTimeMs()}`
}

const batches = (effects: readonly Effect[]) =>
  effects.flatMap((effect) =>
    effect.effect === 'writes'
      ? [effect.writes.map((each) => ('object' in each ? each.object.metadata?.name : ''))]
      : [],
  )

test('what several rules want to write is sent together, and each gets its own outcome', () => {
  const { result, effects, events } = drive(
    together([writes('a', 2), writes('b', 0), writes('c', 1)]),
  )
  assert.deepEqual(batches(effects), [['a0', 'c0'], ['a1']])
  assert.deepEqual(result, [`a ${NOW_MS}`, `b ${NOW_MS}`, `c ${NOW_MS}`])
  assert.deepEqual(
    events.map(({ message }) => message),
    ['a0', 'c0', 'a1'],
  )
})

test('rules that write nothing send nothing', () => {
  assert.deepEqual(drive(together([])).result, [])
  assert.equal(drive(together([writes('a', 0)])).effects.length, 0)
})

function* creates(index: number): Reconcile<{ readonly error?: unknown }> {
  const created = yield* write(create(resources.configmaps, { metadata: { name: `${index}` } }))
  return created.ok ? {} : { error: created.error }
}

const many = (count: number) => Array.from({ length: count }, (_, index) => () => creates(index))

test('batches grow from 1 to the limit', () => {
  const { effects, result } = drive(inGrowingBatches(many(20), 8))
  assert.deepEqual(
    batches(effects).map(({ length }) => length),
    [1, 2, 4, 8, 5],
  )
  assert.deepEqual(result, {})
})

test('where there is nothing to do the batch is smaller, and the next begins where it would', () => {
  const some = many(20).map((start, index) => (index % 3 === 0 ? () => undefined : start))
  const { effects } = drive(inGrowingBatches(some, 8))
  assert.deepEqual(batches(effects), [
    ['1', '2'],
    ['4', '5'],
    ['7', '8', '10', '11', '13', '14'],
    ['16', '17', '19'],
  ])
})

test('a batch with an error is finished and is the last, and its first error is the result', () => {
  const { result, writes: sent } = drive(inGrowingBatches(many(20), 8), {
    onWrite: (_, index) => (index === 4 || index === 5 ? refused(500, `E${index}`) : undefined),
  })
  assert.equal(sent.length, 7)
  assert.match(String(result.error), /E4/)
})
