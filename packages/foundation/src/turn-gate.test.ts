import assert from 'node:assert/strict'
import { test } from 'node:test'
import { LONG_TURN_MS, TURN_MS } from './clock.ts'
import { TurnGate } from './turn-gate.ts'

/** Turns of the loop that the test takes itself, and time that passes only by its work. */
function turns() {
  let workedMs = 0
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
  const clock = { monotonicMs: (): number => workedMs }
  const gateOf = (perTurn: number, gathers = false): TurnGate =>
    new TurnGate({ clock, nextTurn, perTurn, gathers })
  const work = (forMs: number): void => void (workedMs += forMs)
  return { gateOf, turn, work, pending: () => take.length }
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
  const { gateOf, turn, work: spend } = turns()
  const gate = gateOf(5)
  let passed = 0
  let workMs = LONG_TURN_MS
  const work = (): void => {
    passed++
    spend(workMs)
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

test('a gate that gathers lets those of one turn pass at its end, and step side by side', async () => {
  const { gateOf, turn, pending } = turns()
  const gate = gateOf(3, true)
  const steps: string[] = []
  for (const name of ['a', 'b', 'c', 'd']) {
    const wait = gate.pass()
    assert.ok(wait)
    void (async () => {
      await wait
      steps.push(`${name}1`)
      await Promise.resolve()
      steps.push(`${name}2`)
    })()
  }
  for (let i = 0; i < 10; i++) await Promise.resolve()
  assert.deepEqual(steps, [])
  await turn()
  assert.deepEqual(steps, ['a1', 'b1', 'c1', 'a2', 'b2', 'c2'])
  await turn()
  assert.deepEqual(steps.slice(6), ['d1', 'd2'])
  await turn()
  assert.equal(pending(), 0, 'no turn is asked for while nobody passes')
})
