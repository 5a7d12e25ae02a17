import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Pod } from '@gyropilot/api'
import { pod } from '@gyropilot/api/testing'
import { SharedLoads } from './shared-loads.ts'

interface Given {
  readonly set?: string
  readonly hash?: string
  readonly load?: string
  readonly startedS?: number
  readonly phase?: NonNullable<Pod['status']>['phase']
  readonly deleted?: boolean
  readonly namespace?: string
}

function running(uid: string, given: Given = {}): Pod {
  const { set = 'web-1', hash = '1', load = '1', startedS = 0, phase = 'Running' } = given
  const owner = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: set, uid: set, controller: true }
  const base = pod({ name: uid })
  return {
    ...base,
    metadata: {
      ...base.metadata,
      namespace: given.namespace ?? 'default',
      uid,
      labels: { 'pod-template-hash': hash },
      annotations: { 'sim.kubelet/shared-cpu': load },
      ownerReferences: set === '' ? [] : [owner],
      ...(given.deleted === true ? { deletionTimestamp: '2026-01-01T00:00:00Z' } : {}),
    },
    status: { phase, startTime: new Date(startedS * 1_000).toISOString() },
  }
}

function loadsOf(...pods: readonly Pod[]): SharedLoads {
  const loads = new SharedLoads()
  for (const each of pods) loads.seen(each)
  return loads
}

test('pods of one controller that run have a load together; others have no part in it', () => {
  const first = running('a', { startedS: 5 })
  const table: readonly [string, Pod, number][] = [
    ['of the same', running('b'), 2],
    ['of the same, not yet running', running('b', { phase: 'Pending' }), 1],
    ['of the same, over', running('b', { phase: 'Succeeded' }), 1],
    ['of the same, on its way out', running('b', { deleted: true }), 1],
    ['of another ReplicaSet of the Deployment', running('b', { set: 'web-2', hash: '2' }), 2],
    ['of another name', running('b', { set: 'other-1' }), 1],
    ['of another namespace', running('b', { namespace: 'shop' }), 1],
    ['of a load that is of no use', running('b', { load: 'much' }), 1],
    ['of none', running('b', { set: '' }), 1],
  ]
  for (const [name, other, pods] of table)
    assert.equal(loadsOf(first, other).of(first)?.pods, pods, name)
  assert.equal(loadsOf(first).of(running('b')), undefined)
})

test('its time counts from the start of the first, also when that one has gone, until none is left', () => {
  const [first, second] = [running('a', { startedS: 5 }), running('b', { startedS: 60 })]
  const loads = loadsOf(second, first)
  assert.equal(loads.of(second)?.sinceMs, 5_000)
  loads.gone(first)
  assert.deepEqual(loads.of(second), { pods: 1, sinceMs: 5_000 })
  loads.seen(running('b', { startedS: 60, deleted: true }))
  assert.equal(loads.of(second), undefined)
  const third = running('c', { startedS: 100 })
  loads.seen(third)
  assert.equal(loads.of(third)?.sinceMs, 100_000)
})

test('another load on the template has a time of its own, and the pods before it have their part', () => {
  const [before, after] = [running('a', { load: '1' }), running('b', { load: '2', startedS: 60 })]
  const loads = loadsOf(before, after)
  assert.deepEqual(loads.of(before), { pods: 2, sinceMs: 0 })
  assert.deepEqual(loads.of(after), { pods: 2, sinceMs: 60_000 })
  loads.gone(before)
  assert.deepEqual(loads.of(after), { pods: 1, sinceMs: 60_000 })
})
