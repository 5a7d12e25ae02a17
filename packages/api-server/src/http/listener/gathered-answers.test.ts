import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import { beforeEach, test } from 'node:test'
import { GatheredAnswers } from './gathered-answers.ts'

let nowMs: number
let sent: string[]
let turnEnds: (() => void)[]
let answers: GatheredAnswers

beforeEach(() => {
  nowMs = 0
  sent = []
  turnEnds = []
  answers = new GatheredAnswers({
    nowMs: () => nowMs,
    whenTurnEnds: (then) => void turnEnds.push(then),
  })
})

function answer(...texts: string[]): void {
  for (const text of texts) {
    const end = (body: string): number => sent.push(body)
    answers.end({ end } as unknown as ServerResponse, text)
  }
}

function endTurn(): void {
  assert.equal(turnEnds.length, 1)
  turnEnds.shift()!()
}

test('a lone request is answered at once, turn after turn, and every ninth turn is looked at', () => {
  for (let turn = 0; turn < 30; turn++) {
    answer(`${turn}`)
    assert.equal(sent.at(-1), `${turn}`)
    if (turn % 9 === 0) endTurn()
    assert.equal(turnEnds.length, 0)
  }
})

test('after a turn of several answers those of the next go out at its end, in their order', () => {
  answer('a', 'b')
  assert.deepEqual(sent, ['a', 'b'])
  endTurn()
  answer('c', 'd')
  assert.deepEqual(sent, ['a', 'b'])
  endTurn()
  assert.deepEqual(sent, ['a', 'b', 'c', 'd'])
})

test('after a turn of one answer nothing is held, until several are seen again', () => {
  answer('a', 'b')
  endTurn()
  answer('c')
  endTurn()
  answer('d', 'e', 'f', 'g', 'h', 'i', 'j', 'k')
  assert.equal(turnEnds.length, 0)
  answer('l', 'm')
  assert.equal(sent.length, 13)
  endTurn()
  answer('n')
  assert.equal(sent.length, 13)
  endTurn()
  assert.equal(sent.join(''), 'abcdefghijklmn')
})

test('nobody waits longer than a millisecond for the answers of others, nor for the work on the next request', () => {
  answer('a', 'b')
  endTurn()
  answer('c')
  nowMs = 0.9
  answers.sendLate()
  answer('d')
  assert.deepEqual(sent, ['a', 'b'])
  nowMs = 1
  answer('e')
  assert.deepEqual(sent, ['a', 'b', 'c', 'd', 'e'])
  answer('f')
  nowMs = 2
  answers.sendLate()
  assert.deepEqual(sent, ['a', 'b', 'c', 'd', 'e', 'f'])
  endTurn()
  assert.equal(sent.length, 6)
})

test('what waits can be sent before the turn ends, once', () => {
  answer('a', 'b')
  endTurn()
  answer('c')
  answers.sendAll()
  assert.deepEqual(sent, ['a', 'b', 'c'])
  endTurn()
  assert.deepEqual(sent, ['a', 'b', 'c'])
})
