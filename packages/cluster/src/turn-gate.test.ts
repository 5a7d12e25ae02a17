import assert from 'node:assert/strict'
import { test } from 'node:test'
import { TurnGate } from './turn-gate.ts'

/** Turns of the loop that the test takes itself. */
function turns() {
  let take: (() => void)[] = []
  const nextTurn = (): Promise<void> => new Promise((resolve) => take.push(resolve))
  const turn = async (): Promise<void> => {
    const due = take
    take = []
    for (const resolve of due) resolve()
    for (let i = 0; i < 10; i++) await Promise.resolve()
  }
  return { nextTurn, turn, pending: () => take.length }
}

test('a burst passes a few at a time, in its order', async () => {
  const { nextTurn, turn, pending } = turns()
  const gate = new TurnGate(nextTurn, 3)
  const passed: number[] = []
  for (let i = 0; i < 8; i++) {
    const wait = gate.pass()
    if (wait === undefined) passed.push(i)
    else void wait.then(() => passed.push(i))
  }
  assert.deepEqual(passed, [0, 1, 2])
  await turn()
  assert.deepEqual(passed, [0, 1, 2, 3, 4, 5])
  // Who comes now stands behind those that wait.
  void gate.pass()?.then(() => passed.push(99))
  await turn()
  assert.deepEqual(passed, [0, 1, 2, 3, 4, 5, 6, 7, 99])
  await turn()
  await turn()
  assert.equal(pending(), 0, 'no turn is asked for while nobody passes')
  assert.equal(gate.pass(), undefined)
})

test('who comes while others wait does not pass them', async () => {
  const { nextTurn, turn } = turns()
  const gate = new TurnGate(nextTurn, 1)
  const passed: string[] = []
  assert.equal(gate.pass(), undefined)
  void gate.pass()?.then(() => passed.push('first'))
  await turn()
  void gate.pass()?.then(() => passed.push('second'))
  assert.deepEqual(passed, ['first'])
  await turn()
  assert.deepEqual(passed, ['first', 'second'])
})
