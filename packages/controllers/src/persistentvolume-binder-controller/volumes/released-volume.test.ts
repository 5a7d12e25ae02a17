import assert from 'node:assert/strict'
import { test } from 'node:test'
import { drive } from '@gyropilot/runtime/testing'
import { claim, volume, world } from '../fixtures.ts'
import { liveReleased } from './released-volume.ts'

test('a volume is released as long as no claim of its reference may still have it', () => {
  const object = volume('v', { phase: 'Released', claimUid: 'c-uid' })
  const cases = [
    [undefined, true],
    [claim('c', { uid: 'new-uid' }), true],
    [claim('c', { volumeName: 'w' }), true],
    [claim('c', { volumeName: 'v' }), false],
    [claim('c'), false],
    [claim('c', { spec: { volumeName: '' } }), false],
  ] as const
  for (const [partner, isReleased] of cases) {
    const { binder } = world(partner === undefined ? [] : [partner])
    const rules = liveReleased(binder, object)
    const { result } = drive(rules, { onRead: () => ({ ok: true, object }) })
    assert.deepEqual(result, isReleased ? { volume: object } : {})
  }
})
