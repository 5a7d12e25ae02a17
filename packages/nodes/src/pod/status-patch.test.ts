import assert from 'node:assert/strict'
import { test } from 'node:test'
import { applyStrategicMergePatch } from '@gyropilot/api'
import { schemaOf } from '@gyropilot/api/schema'
import type { PodStatus } from '@gyropilot/api'
import { statusPatch } from './status-patch.ts'

const podKind = schemaOf('', 'v1', 'Pod')!
const at = '2026-01-01T00:00:00Z'
const ready = (status: 'True' | 'False', more: object = {}) => ({
  type: 'Ready',
  status,
  lastTransitionTime: at,
  ...more,
})
const unready = ready('False', { reason: 'ContainersNotReady', message: 'no [c]' })
const foreign = { type: 'example.com/gate', status: 'True', reason: 'Theirs' } as const
const scheduled = { type: 'PodScheduled', status: 'True', lastTransitionTime: at } as const

/** The status that the server makes of it. */
function written(before: PodStatus, wanted: PodStatus): unknown {
  const status = statusPatch(before, wanted)
  if (status === undefined) return before
  return applyStrategicMergePatch({ status: before }, { status }, podKind)['status']
}

test('a condition that becomes True leaves nothing of why it was False', () => {
  const before = { conditions: [foreign, unready, scheduled] }
  const wanted = { conditions: [foreign, ready('True'), scheduled] }
  assert.deepEqual(written(before, wanted), wanted)
  assert.deepEqual(statusPatch(before, wanted), {
    '$setElementOrder/conditions': [
      { type: 'example.com/gate' },
      { type: 'Ready' },
      { type: 'PodScheduled' },
    ],
    conditions: [{ ...ready('True'), reason: null, message: null }],
  })
})

test('a pod that has another address after a reboot has that one only', () => {
  const before = { podIP: '10.0.0.1', podIPs: [{ ip: '10.0.0.1' }] }
  const wanted = { podIP: '10.0.0.2', podIPs: [{ ip: '10.0.0.2' }] }
  assert.deepEqual(written(before, wanted), wanted)
  assert.deepEqual(written(wanted, {}), {})
})

test('what was there comes first where it is to be, and what is equal is not sent', () => {
  const before = { phase: 'Pending', conditions: [scheduled] } as const
  const wanted = { phase: 'Running', conditions: [unready, scheduled] } as const
  assert.deepEqual(written(before, wanted), wanted)
  assert.equal(statusPatch(wanted, structuredClone(wanted)), undefined)
})
