import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pod } from '../testing/index.ts'
import { unschedulableMessage } from './message.ts'

const verdict = (reasons: readonly string[], curable: boolean) => ({ node: 'n', reasons, curable })

test('reasons are counted and sorted as text, with the preemption part and final periods', () => {
  const verdicts = [
    ...Array.from({ length: 2 }, () => verdict(['Insufficient cpu'], true)),
    verdict(['Insufficient cpu', 'Insufficient memory'], true),
    verdict(['node(s) had untolerated taint(s)'], false),
  ]
  assert.equal(
    unschedulableMessage(pod(), verdicts),
    '0/4 nodes are available: 1 Insufficient memory, 1 node(s) had untolerated taint(s), 3 Insufficient cpu. ' +
      'preemption: 0/4 nodes are available: 1 Preemption is not helpful for scheduling, 3 No preemption victims found for incoming pod.',
  )
})

test('no nodes at all', () => {
  assert.equal(unschedulableMessage(pod(), []), 'no nodes available to schedule pods')
})

test('preemptionPolicy Never', () => {
  const never = pod({ spec: { preemptionPolicy: 'Never' } })
  assert.equal(
    unschedulableMessage(never, [verdict(['Insufficient cpu'], true)]),
    '0/1 nodes are available: 1 Insufficient cpu. preemption: not eligible due to preemptionPolicy=Never.',
  )
})
