import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { StoreEvent } from '@gyropilot/api-server'
import { VirtualClock, settle } from '@gyropilot/foundation'
import { hotLoop } from './hot-loop.ts'

/** What is reported when a key is reconciled after each of these. */
function reportsAfter(type: StoreEvent['type'], collection: string): readonly string[] {
  const reports: string[] = []
  const clock = new VirtualClock({ settle })
  const observer = hotLoop((_, message) => void reports.push(message), clock)
  for (let revision = 1; revision <= 60; revision++) {
    observer.committed?.({ type, collection, revision } as StoreEvent)
    observer.reconciled?.('controller', 'key', undefined)
  }
  return reports
}

test('Given nodes that come and go, then it is no hot loop to work after each; given heartbeats, then it is', () => {
  assert.deepEqual(reportsAfter('created', 'nodes'), [])
  assert.deepEqual(reportsAfter('deleted', 'nodes'), [])
  assert.deepEqual(reportsAfter('updated', 'pods'), [])
  assert.equal(reportsAfter('updated', 'nodes').length, 1)
  assert.equal(reportsAfter('updated', 'leases.coordination.k8s.io').length, 1)
})
