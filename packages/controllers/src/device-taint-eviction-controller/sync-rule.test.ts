import assert from 'node:assert/strict'
import { test } from 'node:test'
import { drive } from '@gyropilot/runtime/testing'
import { refused } from '../workload-support/fixtures.ts'
import { DEVICE_TAINT_RULES } from './device-taint-rule.ts'
import { rule } from './fixtures.ts'
import { Evictions } from './evictions.ts'
import { syncRule } from './sync-rule.ts'

const around = {
  evictions: new Evictions({
    pods: { get: () => undefined } as never,
    sharesClaims: false,
    nowMs: () => 0,
    record() {},
  }),
  podNamed: () => undefined,
}

test('Different from the stored one: server-side apply on status with the rule UID, field manager, force, lastTransitionTime = now; what is refused is retried', () => {
  const applied = drive(syncRule(rule('r', {}), around))
  const condition = {
    type: 'EvictionInProgress',
    status: 'False',
    reason: 'NotStarted',
    message: '',
    observedGeneration: 1,
    lastTransitionTime: '2026-01-01T00:00:00Z',
  }
  assert.deepEqual(applied.writes, [
    {
      verb: 'apply',
      type: DEVICE_TAINT_RULES,
      namespace: undefined,
      name: 'r',
      object: {
        apiVersion: 'resource.k8s.io/v1beta2',
        kind: 'DeviceTaintRule',
        metadata: { name: 'r', uid: 'r-uid' },
        status: { conditions: [condition] },
      },
      fieldManager: 'device-taint-eviction-controller',
      force: true,
      subresource: 'status',
    },
  ])
  assert.equal(applied.result, undefined)
  const refusal = refused(500, 'InternalError')
  const failed = drive(syncRule(rule('r', {}), around), { onWrite: () => refusal })
  assert.deepEqual(failed.result, { error: !refusal.ok && refusal.error })
})
