import assert from 'node:assert/strict'
import { test } from 'node:test'
import { resources } from '@gyropilot/api'
import type { PersistentVolume } from '@gyropilot/api'
import { drive, fakeInformers } from '@gyropilot/runtime/testing'
import type { DriveOptions } from '@gyropilot/runtime/testing'
import { refused } from '../workload-support/fixtures.ts'
import { persistentVolumeProtectionLogic, persistentVolumeProtectionController } from './index.ts'

const OURS = 'kubernetes.io/pv-protection'

interface VolumeOptions {
  readonly finalizers?: readonly string[]
  readonly deleting?: boolean
  readonly phase?: NonNullable<PersistentVolume['status']>['phase']
}

function volume({ finalizers, deleting, phase }: VolumeOptions = {}): PersistentVolume {
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: {
      name: 'v',
      resourceVersion: '3',
      ...(finalizers && { finalizers }),
      ...(deleting && { deletionTimestamp: '2026-01-01T00:00:00Z' }),
    },
    spec: { claimRef: { namespace: 'ns', name: 'c' } },
    ...(phase && { status: { phase } }),
  }
}

function sync(given: VolumeOptions, options: DriveOptions = {}) {
  const logic = persistentVolumeProtectionLogic({ informers: fakeInformers([volume(given)]) })
  const { writes, result } = drive(logic.reconcile(logic.observe('v')!), options)
  const finalizers = writes.map((write) => {
    assert.ok(write.verb === 'update' && write.subresource === undefined)
    assert.equal(write.object.metadata?.resourceVersion, '3')
    return write.object.metadata?.finalizers
  })
  return { finalizers, result }
}

test('Given a PV without the finalizer, then it is added; with it, no action.', () => {
  assert.deepEqual(sync({}).finalizers, [[OURS]])
  assert.deepEqual(sync({ finalizers: ['b/y', 'a/x'] }).finalizers, [['b/y', 'a/x', OURS]])
  assert.deepEqual(sync({ finalizers: [OURS] }).finalizers, [])
})

test('Given a failing save or removal, then retries.', () => {
  for (const given of [{}, { deleting: true, finalizers: [OURS] }]) {
    const conflict = refused(409, 'Conflict')
    assert.ok(!conflict.ok)
    assert.deepEqual(sync(given, { onWrite: () => conflict }).result, { error: conflict.error })
  }
})

test('Given a deleted PV that is not bound, then the finalizer is removed.', () => {
  for (const phase of ['Available', 'Released', 'Failed', 'Pending', undefined] as const) {
    const finalizers = ['a/x', OURS, 'b/y', OURS]
    const given = { deleting: true, finalizers, ...(phase && { phase }) }
    assert.deepEqual(sync(given).finalizers, [['a/x', 'b/y']], phase ?? 'none')
  }
})

test('Given a deleted PV that is bound, then it is kept.', () => {
  assert.deepEqual(sync({ deleting: true, finalizers: [OURS], phase: 'Bound' }).finalizers, [])
})

test('The finalizer is never added to a deleting PV.', () => {
  assert.deepEqual(sync({ deleting: true, finalizers: ['a/x'] }).finalizers, [])
})

test('adds and updates are queued where there is something to decide; deletes are not', () => {
  const [watch] = persistentVolumeProtectionLogic({ informers: fakeInformers() }).watches
  const live = volume({ finalizers: [OURS] })
  const deleting = volume({ deleting: true, finalizers: [OURS], phase: 'Bound' })
  assert.deepEqual([...watch!.onAdd!(volume())], ['v'])
  assert.deepEqual([...watch!.onUpdate!(live, deleting)], ['v'])
  assert.deepEqual([...watch!.onUpdate!(deleting, deleting)], ['v'])
  assert.deepEqual([...watch!.onAdd!(live), ...watch!.onUpdate!(volume(), live)], [])
  assert.deepEqual([...watch!.onAdd!(volume({ deleting: true }))], [])
  assert.equal(watch!.onDelete, undefined)
  assert.equal(watch!.type, resources.persistentvolumes)
})

test('names are those of the page', () => {
  const { name, aliases, serviceAccount, enabledByDefault } = persistentVolumeProtectionController
  assert.deepEqual(
    [name, aliases, serviceAccount, enabledByDefault],
    ['persistentvolume-protection-controller', ['pv-protection'], 'pv-protection-controller', true],
  )
})
