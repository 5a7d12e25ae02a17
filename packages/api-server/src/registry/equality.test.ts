import assert from 'node:assert/strict'
import { test } from 'node:test'
import { deepFreeze } from '@gyropilot/foundation'
import { shareUnchanged } from './equality.ts'

test('a state shares with the one before what did not change', () => {
  const before = { spec: { containers: [{ name: 'web' }] }, status: { phase: 'Pending' } }
  const after = { spec: { containers: [{ name: 'web' }] }, status: { phase: 'Running' } }
  const shared = shareUnchanged(after, before) as typeof after
  assert.deepEqual(shared, after)
  assert.equal(shared.spec, before.spec)
  assert.equal(shareUnchanged({ ...before, spec: { ...before.spec } }, before), before)
})

test('a frozen part that changed is the very part that was given', () => {
  const entry = deepFreeze({ manager: 'kubelet', fieldsV1: { 'f:status': {} } })
  const list = deepFreeze(['b'])
  const before = { entries: [{ manager: 'kubectl', fieldsV1: {} }], list: ['a'] }
  const shared = shareUnchanged({ entries: [entry], list }, before) as Record<string, unknown[]>
  assert.equal(shared['entries']![0], entry)
  assert.equal(shared['list'], list)
})
