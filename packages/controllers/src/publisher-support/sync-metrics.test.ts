import assert from 'node:assert/strict'
import { test } from 'node:test'
import { StatusError } from '@gyropilot/client'
import { RecordingMetrics } from '@gyropilot/runtime/testing'
import { refusal } from '../workload-support/fixtures.ts'
import { syncCode, syncMetrics } from './sync-metrics.ts'

test('a sync is counted and timed by its code', () => {
  const metrics = new RecordingMetrics()
  const { synced } = syncMetrics(metrics, {
    prefix: 'p',
    totalHelp: 'total',
    durationHelp: 'duration',
    codeOf: (error) => (error === undefined ? 'fine' : 'bad'),
  })
  synced(1_500, undefined)
  synced(250, new Error('no'))
  synced(500, new Error('no'))
  const of = (code: string) => [
    metrics.value('p_sync_total', { code }),
    metrics.observed('p_sync_duration_seconds', { code }),
  ]
  assert.deepEqual(
    [of('fine'), of('bad')],
    [
      [1, [1.5]],
      [2, [0.25, 0.5]],
    ],
  )
})

test('its buckets go from a millisecond to 16 s, each twice the one before', () => {
  const metrics = new RecordingMetrics()
  syncMetrics(metrics, { prefix: 'p', totalHelp: '', durationHelp: '', codeOf: syncCode })
  const family = metrics.families.get('p_sync_duration_seconds')
  assert.ok(family !== undefined && 'buckets' in family)
  const buckets = family.buckets ?? []
  assert.deepEqual(
    [buckets.length, buckets[0], buckets[1], buckets.at(-1)],
    [15, 0.001, 0.002, 16.384],
  )
})

test('the code is that of the refusal, 500 for any other error, 200 without one', () => {
  const { code: _, ...codeless } = refusal(409, 'Conflict').status
  const wrapped = new Error('no', { cause: refusal(409, 'Conflict') })
  assert.deepEqual(
    [undefined, refusal(409, 'Conflict'), new StatusError(codeless), wrapped].map(syncCode),
    ['200', '409', '500', '500'],
  )
})
