import assert from 'node:assert/strict'
import { test } from 'node:test'
import { resources } from '@gyropilot/api'
import type {
  KubernetesObject,
  PersistentVolumeClaim,
  PersistentVolumeClaimSpec,
  Pod,
} from '@gyropilot/api'
import { DeletedFinalStateUnknown } from '@gyropilot/runtime'
import { RecordingMetrics, drive, fakeInformers } from '@gyropilot/runtime/testing'
import type { DriveOptions } from '@gyropilot/runtime/testing'
import { defaultControllersConfiguration } from '../configuration.ts'
import { refused } from '../workload-support/fixtures.ts'
import { ephemeralVolumeLogic, ephemeralVolumeController } from './index.ts'
import { claimWatch, podWatch } from './watches.ts'

const SPEC: PersistentVolumeClaimSpec = {
  accessModes: ['ReadWriteOnce'],
  resources: { requests: { storage: '1Gi' } },
}

function pod(volumes: readonly string[] = ['scratch'], deleting = false): Pod {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      namespace: 'ns',
      name: 'p',
      uid: 'pod-uid',
      ...(deleting && { deletionTimestamp: '2026-01-01T00:00:00Z' }),
    },
    spec: {
      containers: [],
      volumes: [
        { name: 'plain', emptyDir: {} },
        ...volumes.map((name) => ({
          name,
          ephemeral: {
            volumeClaimTemplate: {
              metadata: { labels: { l: 'x' }, annotations: { a: 'y' } },
              spec: SPEC,
            },
          },
        })),
      ],
    },
  }
}

function claim(name: string, ownerUid?: string): PersistentVolumeClaim {
  const owner = { apiVersion: 'v1', kind: 'Pod', name: 'p', uid: ownerUid ?? '', controller: true }
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { namespace: 'ns', name, ...(ownerUid && { ownerReferences: [owner] }) },
  }
}

function sync(objects: readonly KubernetesObject[], options: DriveOptions = {}) {
  const metrics = new RecordingMetrics()
  const logic = ephemeralVolumeLogic({
    informers: fakeInformers(objects),
    configuration: defaultControllersConfiguration,
    metrics,
  })
  const observed = logic.observe('ns/p')
  if (observed === undefined) return undefined
  const driven = drive(logic.reconcile(observed), options)
  const created = driven.writes.map((write) => {
    assert.ok(write.verb === 'create')
    return write.object.metadata?.name
  })
  return { ...driven, created, metrics }
}

test('Given a pod with an ephemeral volume, then the PVC with owner.', () => {
  assert.deepEqual(sync([pod()])?.writes, [
    {
      verb: 'create',
      type: resources.persistentvolumeclaims,
      namespace: 'ns',
      object: {
        apiVersion: 'v1',
        kind: 'PersistentVolumeClaim',
        metadata: {
          name: 'p-scratch',
          namespace: 'ns',
          labels: { l: 'x' },
          annotations: { a: 'y' },
          ownerReferences: [
            {
              apiVersion: 'v1',
              kind: 'Pod',
              name: 'p',
              uid: 'pod-uid',
              controller: true,
              blockOwnerDeletion: true,
            },
          ],
        },
        spec: SPEC,
      },
    },
  ])
})

test('Given no pod, a deleting pod, a pod without volumes, then nothing.', () => {
  assert.equal(sync([]), undefined)
  assert.deepEqual(sync([pod(['scratch'], true)])?.effects, [])
  assert.deepEqual(sync([pod([])])?.effects, [])
  assert.deepEqual(sync([{ ...pod(), spec: { containers: [] } } as Pod])?.effects, [])
})

test('Given an unrelated PVC, then creation proceeds.', () => {
  assert.deepEqual(sync([pod(), claim('other')])?.created, ['p-scratch'])
})

test('a claim that the pod controls is right, by uid', () => {
  assert.deepEqual(sync([pod(), claim('p-scratch', 'pod-uid')])?.effects, [])
})

test('Given a PVC with the right name and another owner, then an error.', () => {
  for (const other of [claim('p-scratch'), claim('p-scratch', 'earlier-uid')]) {
    const driven = sync([pod(['first', 'scratch', 'last']), other])
    assert.deepEqual(driven?.created, ['p-first'])
    const text = 'PVC ns/p-scratch was not created for pod ns/p (pod is not owner)'
    assert.equal((driven?.result?.error as Error | undefined)?.message, text)
    assert.deepEqual(driven?.events, [
      { type: 'Warning', reason: 'FailedBinding', message: `ephemeral volume scratch: ${text}` },
    ])
  }
})

test('Given the create call conflicts, then error and failure metric.', () => {
  const driven = sync([pod(['a', 'b'])], {
    onWrite: (_, index) => (index === 1 ? refused(409, 'AlreadyExists', 'it is there') : undefined),
  })
  assert.equal((driven?.result?.error as Error | undefined)?.message, 'create PVC p-b: it is there')
  assert.deepEqual(
    driven?.events.map(({ message }) => message),
    ['ephemeral volume b: create PVC p-b: it is there'],
  )
  const counted = (name: string) =>
    driven?.metrics.value(`ephemeral_volume_controller_${name}_total`)
  assert.deepEqual([counted('create'), counted('create_failures')], [2, 1])
})

test('a pod is queued when it is added, also in the place of another, and when one of its claims is deleted', () => {
  assert.deepEqual([...podWatch.onAdd!(pod())], ['ns/p'])
  assert.deepEqual([...podWatch.onAdd!(pod([])), ...podWatch.onAdd!(pod(['x'], true))], [])
  const former = { ...pod(), metadata: { ...pod().metadata, uid: 'former' } }
  assert.deepEqual(
    [[...podWatch.onUpdate!(pod(), pod())], [...podWatch.onUpdate!(former, pod())]],
    [[], ['ns/p']],
  )
  assert.equal(podWatch.onDelete, undefined)
  const informers = fakeInformers([pod()])
  ephemeralVolumeLogic({
    informers,
    configuration: defaultControllersConfiguration,
    metrics: new RecordingMetrics(),
  })
  const watch = claimWatch(informers.informer(resources.pods).lister)
  assert.deepEqual([...watch.onDelete!(claim('p-scratch'))], ['ns/p'])
  assert.deepEqual([...watch.onDelete!(claim('other'))], [])
  const tombstone = new DeletedFinalStateUnknown<PersistentVolumeClaim>('ns/p-scratch', undefined)
  assert.deepEqual([...watch.onDelete!(tombstone)], [])
  assert.deepEqual([watch.onAdd, watch.onUpdate], [undefined, undefined])
})

test('names are those of the page', () => {
  const { name, aliases, serviceAccount, enabledByDefault } = ephemeralVolumeController
  assert.deepEqual(
    [name, aliases, serviceAccount, enabledByDefault],
    ['ephemeral-volume-controller', ['ephemeral-volume'], 'ephemeral-volume-controller', true],
  )
})
