import assert from 'node:assert/strict'
import { test } from 'node:test'
import { NOT_HELPFUL, NO_VICTIMS, preFilterMessage, unschedulableMessage } from './message.ts'

const verdict = (reasons: readonly string[], curable: boolean) => ({ node: 'n', reasons, curable })

test('reasons are counted and sorted as text, with the preemption part and final periods', () => {
  const verdicts = [
    ...Array.from({ length: 2 }, () => verdict(['Insufficient cpu'], true)),
    verdict(['Insufficient cpu', 'Insufficient memory'], true),
    verdict(['node(s) had untolerated taint(s)'], false),
  ]
  const reasons = [NO_VICTIMS, NO_VICTIMS, NO_VICTIMS, NOT_HELPFUL]
  assert.equal(
    unschedulableMessage(verdicts, { kind: 'none', reasons }),
    '0/4 nodes are available: 1 Insufficient memory, 1 node(s) had untolerated taint(s), 3 Insufficient cpu. ' +
      'no new claims to deallocate, preemption: 0/4 nodes are available: 1 Preemption is not helpful for scheduling, 3 No preemption victims found for incoming pod.',
  )
})

test('no nodes at all', () => {
  const message = unschedulableMessage([], { kind: 'none', reasons: [] })
  assert.equal(message, 'no nodes available to schedule pods')
})

test('who may not preempt is told so', () => {
  const text = 'not eligible due to preemptionPolicy=Never.'
  assert.equal(
    unschedulableMessage([verdict(['Insufficient cpu'], true)], { kind: 'not eligible', text }),
    '0/1 nodes are available: 1 Insufficient cpu. no new claims to deallocate, preemption: not eligible due to preemptionPolicy=Never.',
  )
})

test('when others make room, there is no preemption part', () => {
  assert.equal(
    unschedulableMessage([verdict(['Insufficient cpu'], true)], { kind: 'victims' }),
    '0/1 nodes are available: 1 Insufficient cpu.',
  )
})

test('pre-filter failure: its text instead', () => {
  assert.equal(
    preFilterMessage('pod has unbound immediate PersistentVolumeClaims', 3),
    '0/3 nodes are available: pod has unbound immediate PersistentVolumeClaims. not found',
  )
})
