import assert from 'node:assert/strict'
import { test } from 'node:test'
import { resources } from '@gyropilot/api'
import type {
  KubernetesObject,
  PersistentVolume,
  PersistentVolumeClaim,
  VolumeAttributesClass,
} from '@gyropilot/api'
import { RecordingLogger } from '@gyropilot/foundation/testing'
import { DeletedFinalStateUnknown } from '@gyropilot/runtime'
import type { Watch } from '@gyropilot/runtime'
import { drive, fakeInformers } from '@gyropilot/runtime/testing'
import type { DriveOptions } from '@gyropilot/runtime/testing'
import { refused } from '../workload-support/fixtures.ts'
import {
  volumeAttributesClassProtectionLogic,
  volumeAttributesClassProtectionController,
} from './index.ts'

const OURS = 'kubernetes.io/vac-protection'

function gold(
  given: { finalizers?: readonly string[]; deleting?: boolean } = {},
): VolumeAttributesClass {
  return {
    apiVersion: 'storage.k8s.io/v1',
    kind: 'VolumeAttributesClass',
    metadata: {
      name: 'gold',
      resourceVersion: '3',
      ...(given.finalizers && { finalizers: given.finalizers }),
      ...(given.deleting && { deletionTimestamp: '2026-01-01T00:00:00Z' }),
    },
    driverName: 'disk.example.com',
  }
}

const DELETED = gold({ deleting: true, finalizers: ['a/x', OURS] })

function volume(volumeAttributesClassName?: string): PersistentVolume {
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: { name: 'v' },
    spec: { ...(volumeAttributesClassName !== undefined && { volumeAttributesClassName }) },
  }
}

function claim(spec?: string, current?: string, target?: string): PersistentVolumeClaim {
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { namespace: 'ns', name: 'c' },
    spec: { ...(spec !== undefined && { volumeAttributesClassName: spec }) },
    status: {
      ...(current !== undefined && { currentVolumeAttributesClassName: current }),
      ...(target !== undefined && {
        modifyVolumeStatus: { status: 'InProgress', targetVolumeAttributesClassName: target },
      }),
    },
  }
}

function logicOf(objects: readonly KubernetesObject[], logger = new RecordingLogger()) {
  return volumeAttributesClassProtectionLogic({ informers: fakeInformers(objects), logger })
}

function sync(objects: readonly KubernetesObject[], options: DriveOptions = {}) {
  const logic = logicOf(objects)
  const { writes, result } = drive(logic.reconcile(logic.observe('gold')!), options)
  const finalizers = writes.map((write) => {
    assert.ok(write.verb === 'update' && write.object.metadata?.resourceVersion === '3')
    return write.object.metadata.finalizers
  })
  return { finalizers, result }
}

test('Given a class without or with the finalizer, then it is added or nothing.', () => {
  assert.deepEqual(sync([gold()]).finalizers, [[OURS]])
  assert.deepEqual(sync([gold({ finalizers: ['a/x'] })]).finalizers, [['a/x', OURS]])
  assert.deepEqual(sync([gold({ finalizers: [OURS] })]).finalizers, [])
  assert.deepEqual(sync([gold({ deleting: true, finalizers: ['a/x'] })]).finalizers, [])
})

test('Given failing saves, then retries.', () => {
  for (const object of [gold(), DELETED]) {
    const conflict = refused(409, 'Conflict')
    assert.ok(!conflict.ok)
    assert.deepEqual(sync([object], { onWrite: () => conflict }).result, { error: conflict.error })
  }
})

test('Given a deleted class without references, then removal.', () => {
  assert.deepEqual(sync([DELETED]).finalizers, [['a/x']])
  const others = [volume('silver'), volume(''), volume(), claim('silver', 'silver', 'silver')]
  for (const other of others) assert.deepEqual(sync([DELETED, other]).finalizers, [['a/x']])
})

const referring: readonly (readonly [string, KubernetesObject])[] = [
  ['a volume', volume('gold')],
  ['the spec of a claim', claim('gold')],
  ['what a claim has', claim('silver', 'gold')],
  ['what a claim is to have', claim('silver', 'silver', 'gold')],
]
for (const [what, referrer] of referring) {
  test(`Given a PV or PVC referencing it, then kept: ${what}`, () => {
    assert.deepEqual(sync([DELETED, referrer]).finalizers, [])
  })
}

test('a class that is gone is nothing', () => assert.equal(logicOf([]).observe('gold'), undefined))

function watchesOf(logger?: RecordingLogger) {
  const [classes, volumes, claims] = logicOf([], logger).watches
  return {
    classes: classes as Watch<VolumeAttributesClass>,
    volumes: volumes as Watch<PersistentVolume>,
    claims: claims as Watch<PersistentVolumeClaim>,
  }
}

test('Given the last PV or PVC changes class or is deleted, then removal.', () => {
  const { volumes, claims } = watchesOf()
  assert.deepEqual([...volumes.onUpdate!(volume('gold'), volume('silver'))], ['gold'])
  assert.deepEqual([...volumes.onDelete!(volume('gold'))], ['gold'])
  assert.deepEqual(
    [...claims.onUpdate!(claim('gold', 'gold'), claim('silver', 'silver'))],
    ['gold'],
  )
  assert.deepEqual(
    [...claims.onDelete!(claim('gold', 'silver', 'iron'))],
    ['gold', 'silver', 'iron'],
  )
  assert.deepEqual([...claims.onDelete!(claim('gold', 'gold', 'gold'))], ['gold'])
})

test('Given other PVs, PVCs, or PVC status fields still referencing it, then kept.', () => {
  const { volumes, claims } = watchesOf()
  assert.deepEqual([...claims.onUpdate!(claim('gold', 'gold'), claim('silver', 'gold'))], [])
  assert.deepEqual([...claims.onUpdate!(claim('gold'), claim('silver', 'silver', 'gold'))], [])
  assert.deepEqual([...volumes.onUpdate!(volume(), volume('gold'))], [])
  assert.deepEqual([volumes.onAdd, claims.onAdd], [undefined, undefined])
  assert.deepEqual(sync([DELETED, volume('gold'), claim('silver')]).finalizers, [])
})

test('a tombstone does not say what it referred to: it is logged and queues nothing', () => {
  const logger = new RecordingLogger()
  const { volumes, claims } = watchesOf(logger)
  assert.deepEqual([...volumes.onDelete!(new DeletedFinalStateUnknown('v', undefined))], [])
  assert.deepEqual([...claims.onDelete!(new DeletedFinalStateUnknown('ns/c', undefined))], [])
  assert.deepEqual(
    logger.lines.map(({ severity, fields }) => [severity, fields['key']]),
    [
      ['error', 'v'],
      ['error', 'ns/c'],
    ],
  )
})

test('a class is queued where there is something to decide, never when it is gone', () => {
  const { classes } = watchesOf()
  assert.equal(classes.type, resources.volumeattributesclasses)
  assert.deepEqual([...classes.onAdd!(gold())], ['gold'])
  assert.deepEqual([...classes.onUpdate!(gold(), DELETED)], ['gold'])
  assert.deepEqual([...classes.onAdd!(gold({ finalizers: [OURS] }))], [])
  assert.deepEqual([...classes.onUpdate!(DELETED, gold({ deleting: true }))], [])
  assert.equal(classes.onDelete, undefined)
})

test('names are those of the page', () => {
  const { name, aliases, serviceAccount, enabledByDefault, featureGates } =
    volumeAttributesClassProtectionController
  assert.deepEqual(
    [name, aliases, serviceAccount, enabledByDefault, featureGates],
    [
      'volumeattributesclass-protection-controller',
      [],
      'volumeattributesclass-protection-controller',
      true,
      ['VolumeAttributesClass'],
    ],
  )
})
