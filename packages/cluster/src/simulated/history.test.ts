import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { StoreEvent } from '@gyropilot/api-server'
import { virtualClock } from '@gyropilot/foundation/testing'
import { History } from './history.ts'

test('integers beyond 2^53 are part of what happened, digit by digit', () => {
  const hashOf = (activeDeadlineSeconds: bigint): string => {
    const history = new History(virtualClock())
    const object = {
      metadata: { name: 'a', deletionGracePeriodSeconds: activeDeadlineSeconds },
      spec: { activeDeadlineSeconds },
    }
    const event = { type: 'ADDED', collection: 'jobs', key: 'ns/a', revision: 1, object }
    history.committed(event as unknown as StoreEvent)
    return history.hash
  }
  assert.notEqual(hashOf(9007199254740993n), hashOf(9007199254740992n))
})
