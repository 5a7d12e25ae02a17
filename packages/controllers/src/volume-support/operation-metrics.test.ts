import assert from 'node:assert/strict'
import { test } from 'node:test'
import { RecordingMetrics } from '@gyropilot/runtime/testing'
import { storageOperationMetrics } from './operation-metrics.ts'

test('an operation is measured in seconds, by plugin, name, success and migration', () => {
  const metrics = new RecordingMetrics()
  const ended = storageOperationMetrics(metrics)
  const plugin = 'kubernetes.io/csi:a'
  ended({ plugin, name: 'volume_attach', isMigrated: false }, true, 1_500)
  ended({ plugin, name: 'volume_detach', isMigrated: true }, false, 200)
  const name = 'storage_operation_duration_seconds'
  const of = (operation: string, status: string, migrated: string) =>
    metrics.observed(name, {
      volume_plugin: plugin,
      operation_name: operation,
      status,
      migrated,
    })
  assert.deepEqual(of('volume_attach', 'success', 'false'), [1.5])
  assert.deepEqual(of('volume_detach', 'fail-unknown', 'true'), [0.2])
  const family = metrics.families.get(name)
  assert.ok(family !== undefined && 'buckets' in family)
  assert.deepEqual(family.buckets, [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15, 25, 50, 120, 300, 600])
})
