import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Sessions } from './sessions.ts'

const A = { address: '10.1.0.1', port: 80 }
const B = { address: '10.1.0.2', port: 80 }

function visits() {
  const sessions = new Sessions()
  return (
    nowMs: number,
    drawn: typeof A,
    given: { key?: string; destinations?: (typeof A)[] } = {},
  ) =>
    sessions.destination(
      { key: 'k', destinations: [A, B], timeoutMs: 1_000, nowMs, ...given },
      () => drawn,
    )
}

test('a client stays where it was sent, and every visit begins the time anew', () => {
  const visit = visits()
  assert.deepEqual(visit(0, A), A)
  assert.deepEqual(visit(900, B), A)
  assert.deepEqual(visit(1_800, B), A)
  assert.deepEqual(visit(2_800, B), B)
})

test('others are sent on their own, and an endpoint that has gone keeps nobody', () => {
  const visit = visits()
  assert.deepEqual(visit(0, A), A)
  assert.deepEqual(visit(1, B, { key: 'other' }), B)
  assert.deepEqual(visit(2, B, { destinations: [B] }), B)
  assert.deepEqual(visit(3, A), B)
  assert.deepEqual(visit(4, B, { destinations: [{ ...B, port: 81 }, A] }), B)
})

test('those that are over are let go once there are many', () => {
  const visit = visits()
  for (let at = 0; at < 1_000; at++) visit(0, A, { key: `${at}` })
  assert.deepEqual(visit(500, B, { key: '7' }), A)
  visit(1_100, A, { key: 'late' })
  assert.deepEqual(visit(1_200, B, { key: '7' }), A)
  assert.deepEqual(visit(1_200, B, { key: '8' }), B)
})
