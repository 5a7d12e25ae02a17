import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Service } from '@gyropilot/api'
import { DeletedFinalStateUnknown } from '@gyropilot/runtime'
import { service } from './fixtures.ts'
import { serviceWatch } from './service-watch.ts'

test('a Service is queued for every add, update and delete', () => {
  assert.deepEqual([...serviceWatch.onAdd!(service())], ['ns/svc'])
  assert.deepEqual([...serviceWatch.onUpdate!(service(), service())], ['ns/svc'])
  assert.deepEqual([...serviceWatch.onDelete!(service())], ['ns/svc'])
  const tombstone = new DeletedFinalStateUnknown<Service>('ns/svc', undefined)
  assert.deepEqual([...serviceWatch.onDelete!(tombstone)], ['ns/svc'])
})
