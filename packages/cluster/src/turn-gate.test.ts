import { LONG_TURN_MS, TURN_MS, VirtualClock } from '@gyropilot/foundation'
import { WorkClock } from '@gyropilot/runtime/testing'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { TurnGate } from './turn-gate.ts'

/** Turns of the loop that the test takes itself. */
function turns() {
  const clock = new WorkClock(new VirtualClock({ settle: () => Promise.resolve() }))
  let take: (() => void)[] = []
  const nextTurn = (): Promise<void> => new Promise((resolve) => take.push(resolve))
  const turn = async (): Promise<void> => {
    const due = take
    take = []
    for (const resolve of due) {
      resolve()
      for (let i = 0; i < 10; i++) await Promise.resolve()
    }
  }
  const gateOf = (perTurn: number): TurnGate => new TurnGate({ clock, nextTurn, perTurn })
  return { clock, gateOf, turn, pending: () => take.length }
}

test('a burst passes a few at a time, in its order', async () => {
  const { gateOf, turn, pending } = turns()
  const gate = gateOf(3)
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
  const { gateOf, turn } = turns()
  const gate = gateOf(1)
  const passed: string[] = []
  assert.equal(gate.pass(), undefined)
  void gate.pass()?.then(() => passed.push('first'))
  await turn()
  void gate.pass()?.then(() => passed.push('second'))
  assert.deepEqual(passed, ['first'])
  await turn()
  assert.deepEqual(passed, ['first', 'second'])
})

test('after a long turn one passes, and twice as many after each that was short', async () => {
  const { clock, gateOf, turn } = turns()
  const gate = gateOf(5)
  let passed = 0
  let workMs = LONG_TURN_MS
  const work = (): void => {
    passed++
    clock.work(workMs)
  }
  for (let i = 0; i < 40; i++) void (gate.pass() ?? Promise.resolve()).then(work)
  const passedInTurn = async (): Promise<number> => {
    const before = passed
    await turn()
    return passed - before
  }
  await Promise.resolve()
  assert.equal(passed, 5)
  assert.equal(await passedInTurn(), 1)
  assert.equal(await passedInTurn(), 1, 'one may take long, too')
  workMs = TURN_MS
  assert.equal(await passedInTurn(), 1)
  assert.equal(await passedInTurn(), 1, 'a turn that was neither says nothing')
  workMs = TURN_MS / 2 - 0.1
  assert.equal(await passedInTurn(), 1)
  assert.equal(await passedInTurn(), 2)
  assert.equal(await passedInTurn(), 4)
  assert.equal(await passedInTurn(), 4, 'four of them took more than 10 ms')
  workMs = 0
  assert.equal(await passedInTurn(), 4)
  assert.equal(await passedInTurn(), 5)
  workMs = LONG_TURN_MS / 5
  assert.equal(await passedInTurn(), 5)
  assert.equal(await passedInTurn(), 1, 'five of them took long')
})
