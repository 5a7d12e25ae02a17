import assert from 'node:assert/strict'
import { test } from 'node:test'
import { resources } from '@gyropilot/api'
import type { PersistentVolume, PersistentVolumeClaim } from '@gyropilot/api'
import { DeletedFinalStateUnknown } from '@gyropilot/runtime'
import type { Patch } from '@gyropilot/client'
import { RecordingMetrics, drive, fakeInformers } from '@gyropilot/runtime/testing'
import type { DriveOptions } from '@gyropilot/runtime/testing'
import { refused } from '../workload-support/fixtures.ts'
import { PRE_RESIZE_CAPACITY, RESIZER } from './config.ts'
import { begunPatch, nodePartPatch } from './claim-patches.ts'
import { volumeExpanderLogic, persistentVolumeExpanderController } from './index.ts'
import { nextStep } from './next-step.ts'
import { claimWatch } from './watches.ts'

type ClaimStatus = NonNullable<PersistentVolumeClaim['status']>
type VolumeSpec = NonNullable<PersistentVolume['spec']>

const NOW = '2026-01-01T00:00:00Z'
const FLEX = { flexVolume: { driver: 'example.com/flex' } }
const CSI = { csi: { driver: 'example.com', volumeHandle: 'h' } }

const DURATION = 'storage_operation_duration_seconds'

const labels = (status: string) => ({
  volume_plugin: 'example.com/flex',
  operation_name: 'expand_volume',
  status,
  migrated: 'false',
})

function claim(status: ClaimStatus = {}, requested = '2Gi'): PersistentVolumeClaim {
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { namespace: 'ns', name: 'data', uid: 'u', resourceVersion: '7' },
    spec: { volumeName: 'pv', resources: { requests: { storage: requested } } },
    status: { phase: 'Bound', capacity: { storage: '1Gi' }, ...status },
  }
}

function volume(source: VolumeSpec, size = '1Gi', mark?: string): PersistentVolume {
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: { name: 'pv', ...(mark && { annotations: { [PRE_RESIZE_CAPACITY]: mark } }) },
    spec: {
      capacity: { storage: size },
      claimRef: { namespace: 'ns', name: 'data', uid: 'u' },
      ...source,
    },
  }
}

function sync(
  observed: PersistentVolumeClaim,
  live: PersistentVolume | 'gone',
  options: DriveOptions = {},
) {
  const metrics = new RecordingMetrics()
  const logic = volumeExpanderLogic({ informers: fakeInformers([observed]), metrics })
  const { result, writes, events } = drive(logic.reconcile(logic.observe('ns/data')!), {
    onRead: ({ verb }) => {
      assert.equal(verb, 'get')
      if (live === 'gone') return refused(404, 'NotFound', 'persistentvolumes "pv" not found')
      return { ok: true, object: live }
    },
    onWrite: (write) => {
      assert.ok(write.verb === 'patch')
      // The version of what a patch has made.
      const object = { ...observed, metadata: { ...observed.metadata, resourceVersion: '8' } }
      return { ok: true, object }
    },
    ...options,
  })
  const patches = writes.map((write) => {
    assert.ok(write.verb === 'patch' && write.patch.type === 'strategic')
    return {
      what: [write.type.resource, write.subresource].filter(Boolean).join('/'),
      value: write.patch.value,
    }
  })
  const told = events.map(({ type, reason, message }) => `${type} ${reason}: ${message}`)
  return { error: result?.error as Error | undefined, patches, told, metrics }
}

test('Given a PVC whose PV does not reference it, then an error.', () => {
  const strangers: readonly VolumeSpec['claimRef'][] = [
    undefined,
    { namespace: 'ns', name: 'data', uid: 'earlier' },
    { namespace: 'other', name: 'data', uid: 'u' },
  ]
  for (const claimRef of strangers) {
    const { error, patches, told } = sync(claim(), volume({ ...CSI, claimRef }))
    assert.equal(error?.message, 'persistent Volume is not bound to PVC being updated : ns/data')
    assert.deepEqual([patches, told], [[], []])
  }
  // The name is not asked for.
  const renamed = volume({ ...CSI, claimRef: { namespace: 'ns', name: 'x', uid: 'u' } })
  assert.equal(sync(claim(), renamed).error, undefined)
})

test('a volume that cannot be read is an error', () => {
  const { error } = sync(claim(), 'gone')
  assert.equal(error?.message, 'failed to get PV "pv": persistentvolumes "pv" not found')
})

test('Given a migrated in-tree volume that grew, then the resizer annotation is set.', () => {
  const sources: readonly (readonly [VolumeSpec, string, string])[] = [
    [{ awsElasticBlockStore: { volumeID: 'v' } }, 'aws-ebs', 'ebs.csi.aws.com'],
    [{ gcePersistentDisk: { pdName: 'v' } }, 'gce-pd', 'pd.csi.storage.gke.io'],
    [{ azureFile: { secretName: 's', shareName: 'v' } }, 'azure-file', 'file.csi.azure.com'],
    [{ azureDisk: { diskName: 'd', diskURI: 'u' } }, 'azure-disk', 'disk.csi.azure.com'],
    [{ cinder: { volumeID: 'v' } }, 'cinder', 'cinder.csi.openstack.org'],
    [{ vsphereVolume: { volumePath: 'v' } }, 'vsphere-volume', 'csi.vsphere.vmware.com'],
    [{ portworxVolume: { volumeID: 'v' } }, 'portworx-volume', 'pxd.portworx.com'],
  ]
  for (const [source, plugin, driver] of sources) {
    const { patches, told, error } = sync(claim(), volume(source))
    assert.equal(error, undefined)
    const value = { metadata: { resourceVersion: '7', annotations: { [RESIZER]: driver } } }
    assert.deepEqual(patches, [{ what: 'persistentvolumeclaims/status', value }])
    const waiting = `CSI migration enabled for kubernetes.io/${plugin}; waiting for external resizer to expand the pvc`
    assert.deepEqual(told, [`Normal ExternalExpanding: ${waiting}`])
  }
})

test('an annotation that cannot be set is told and tried again', () => {
  const onWrite = () => refused(409, 'Conflict', 'changed')
  const migrated = volume({ cinder: { volumeID: 'v' } })
  const { error, told } = sync(claim(), migrated, { onWrite })
  const message = 'error setting resizer annotation to pvc ns/data, with error changed'
  assert.equal(error?.message, message)
  assert.equal(told[1], `Warning ExternalExpanding: ${message}`)
})

test('Given a CSI volume, then neither annotation nor status change.', () => {
  const sources: readonly VolumeSpec[] = [
    CSI,
    { nfs: { server: 's', path: '/' } },
    { hostPath: { path: '/tmp/x' } },
    { local: { path: '/x' } },
  ]
  for (const source of sources) {
    const { patches, told, error } = sync(claim(), volume(source))
    assert.deepEqual([patches, error], [[], undefined])
    const waiting = 'waiting for an external controller to expand this PVC'
    assert.deepEqual(told, [`Normal ExternalExpanding: ${waiting}`])
  }
})

test('Given a CSI driver with a resizer, then expansion completes while the controller only emits events.', () => {
  // Once the driver has raised the capacity there is nothing to say.
  const { patches, told } = sync(claim({ capacity: { storage: '2048Mi' } }), volume(CSI, '2Gi'))
  assert.deepEqual([patches, told], [[], []])
  // A mark that somebody left is looked after still.
  const marked = sync(claim({ capacity: { storage: '2Gi' } }), volume(CSI, '2Gi', '1Gi'))
  assert.equal(marked.told.length, 1)
})

test('Given a finished node expansion with the annotation on the PV, then no expand operation.', () => {
  const done = claim({ capacity: { storage: '2Gi' } })
  const { patches, told } = sync(done, volume(FLEX, '2Gi', '1Gi'))
  const value = { metadata: { annotations: { [PRE_RESIZE_CAPACITY]: null } } }
  assert.deepEqual(patches, [{ what: 'persistentvolumes', value }])
  assert.deepEqual(told, [])
})

test('a flex volume: resizing is said, the volume is larger, the node does the rest', () => {
  const other = { type: 'Strange', status: 'True' }
  const failed = { type: 'ControllerResizeError', status: 'True' }
  const moments = [3_000, 3_500]
  const asked = claim({ conditions: [other, failed] })
  const { patches, told, metrics } = sync(asked, volume(FLEX), {
    elapsedMs: () => moments.shift()!,
  })
  assert.deepEqual(patches, [
    {
      what: 'persistentvolumeclaims/status',
      value: {
        metadata: { resourceVersion: '7', annotations: { [RESIZER]: 'example.com/flex' } },
        status: {
          '$setElementOrder/conditions': [{ type: 'Strange' }, { type: 'Resizing' }],
          conditions: [
            { type: 'Resizing', status: 'True', lastTransitionTime: NOW },
            { $patch: 'delete', type: 'ControllerResizeError' },
          ],
          allocatedResourceStatuses: { storage: 'ControllerResizeInProgress' },
          allocatedResources: { storage: '2Gi' },
        },
      },
    },
    { what: 'persistentvolumes', value: { spec: { capacity: { storage: '2Gi' } } } },
    {
      what: 'persistentvolumeclaims/status',
      value: {
        metadata: { resourceVersion: '8' },
        status: {
          // Of what the answer to the first patch has: here it is as before.
          '$setElementOrder/conditions': [
            { type: 'Strange' },
            { type: 'ControllerResizeError' },
            { type: 'FileSystemResizePending' },
          ],
          conditions: [
            {
              type: 'FileSystemResizePending',
              status: 'True',
              lastTransitionTime: NOW,
              message:
                'Waiting for user to (re-)start a pod to finish file system resize of volume on node.',
            },
          ],
          allocatedResourceStatuses: { storage: 'NodeResizePending' },
        },
      },
    },
    {
      what: 'persistentvolumes',
      value: { metadata: { annotations: { [PRE_RESIZE_CAPACITY]: '1Gi' } } },
    },
  ])
  assert.deepEqual(told, [])
  assert.deepEqual(metrics.observed(DURATION, labels('success')), [0.5])
})

test('a flex volume without a file system is done at once', () => {
  const begun: ClaimStatus = {
    conditions: [{ type: 'Resizing', status: 'True', lastTransitionTime: '2025-01-01T00:00:00Z' }],
    allocatedResourceStatuses: { storage: 'ControllerResizeInProgress' },
    allocatedResources: { storage: '2Gi' },
  }
  const { patches, told } = sync(claim(begun), volume({ ...FLEX, volumeMode: 'Block' }))
  assert.deepEqual(patches.at(-1), {
    what: 'persistentvolumeclaims/status',
    value: {
      metadata: { resourceVersion: '8' },
      status: {
        conditions: [{ $patch: 'delete', type: 'Resizing' }],
        capacity: { storage: '2Gi' },
        allocatedResourceStatuses: null,
      },
    },
  })
  assert.deepEqual(told, [
    'Normal VolumeResizeSuccessful: ExpandVolume succeeded for volume ns/data',
  ])
  // A condition that is true already keeps its time.
  assert.match(JSON.stringify(patches[0]), /"lastTransitionTime":"2025-01-01T00:00:00Z"/)
})

test('a write that is refused ends the expansion, is told, and is tried again', () => {
  for (const refusedAt of [0, 1, 2, 3]) {
    const { error, patches, told, metrics } = sync(claim(), volume(FLEX), {
      onWrite: (_, index) =>
        index === refusedAt ? refused(409, 'Conflict', 'changed') : { ok: true, object: claim() },
    })
    assert.equal(error?.message, 'changed')
    assert.equal(patches.length, refusedAt + 1)
    assert.deepEqual(told, ['Warning VolumeResizeFailed: changed'])
    assert.equal(metrics.observed(DURATION, labels('fail-unknown')).length, 1)
  }
})

const NEXT: readonly (readonly [string, string | undefined, string | undefined, string])[] = [
  // volume, state, allocated, what comes next
  ['1Gi', undefined, undefined, '2Gi'],
  ['1Gi', undefined, '1500Mi', '2Gi'],
  ['1Gi', 'ControllerResizeInProgress', '1500Mi', '1500Mi'],
  ['1Gi', 'ControllerResizeInProgress', undefined, '2Gi'],
  ['1Gi', 'NodeResizePending', '1500Mi', '1500Mi'],
  ['1Gi', 'NodeResizeInProgress', '1500Mi', '1500Mi'],
  ['1Gi', 'NodeResizeInfeasible', '1500Mi', '1500Mi'],
  ['1Gi', 'ControllerResizeInfeasible', '1500Mi', '2Gi'],
  ['1Gi', 'Unheard', '1500Mi', '2Gi'],
  ['2Gi', 'NodeResizeInProgress', '2Gi', 'none'],
  ['2Gi', 'NodeResizePending', '2Gi', 'none'],
  ['2Gi', 'NodeResizeInfeasible', '2Gi', 'node-part'],
  ['2Gi', 'ControllerResizeInProgress', '3Gi', '3Gi'],
  ['2Gi', 'ControllerResizeInfeasible', '3Gi', '3Gi'],
  ['2Gi', undefined, '3Gi', '3Gi'],
  ['2048Mi', undefined, undefined, '2Gi'],
  ['2Gi', 'Unheard', '3Gi', '2Gi'],
]

for (const [size, state, allocated, expected] of NEXT) {
  test(`volume ${size}, ${state ?? 'no state'}, allocated ${allocated ?? 'nothing'}: ${expected}`, () => {
    const status = {
      ...(state && { allocatedResourceStatuses: { storage: state } }),
      ...(allocated && { allocatedResources: { storage: allocated } }),
    } as ClaimStatus
    const step = nextStep(claim(status), volume(FLEX, size))
    assert.equal(step.kind === 'expand' ? step.size : step.kind, expected)
  })
}

test('an infeasible node expansion is left to the node once more, without a larger device', () => {
  const infeasible = claim({
    allocatedResourceStatuses: { storage: 'NodeResizeInfeasible' },
    allocatedResources: { storage: '2Gi' },
  })
  const { patches } = sync(infeasible, volume(FLEX, '2Gi'))
  const touched = patches.map(({ what }) => what)
  assert.deepEqual(touched, ['persistentvolumeclaims/status', 'persistentvolumes'])
})

test('claims are enqueued when they are Bound and something grew', () => {
  const small = claim({}, '1Gi')
  const pending = claim({ phase: 'Pending' })
  assert.deepEqual(claimWatch.onAdd?.(small), ['ns/data'])
  assert.deepEqual(claimWatch.onAdd?.(pending), [])
  assert.deepEqual(claimWatch.onDelete?.(small), ['ns/data'])
  assert.deepEqual(claimWatch.onDelete?.(new DeletedFinalStateUnknown('ns/data', small)), [])
  const grown = claim({ capacity: { storage: '2Gi' } }, '1Gi')
  assert.deepEqual(claimWatch.onUpdate?.(small, claim()), ['ns/data'])
  assert.deepEqual(claimWatch.onUpdate?.(small, grown), ['ns/data'])
  assert.deepEqual(claimWatch.onUpdate?.(small, small), [])
  assert.deepEqual(claimWatch.onUpdate?.(claim(), small), [], 'shrunk')
  assert.deepEqual(claimWatch.onUpdate?.(claim(), claim({}, '2048Mi')), [], 'the same size')
  assert.deepEqual(claimWatch.onUpdate?.(small, pending), [], 'not Bound')
})

test('a claim that is gone needs nothing', () => {
  const logic = volumeExpanderLogic({
    informers: fakeInformers([]),
    metrics: new RecordingMetrics(),
  })
  assert.equal(logic.observe('ns/data'), undefined)
  assert.equal(logic.watches[0]?.type, resources.persistentvolumeclaims)
})

test('conditions keep their places, a new one is the last', () => {
  const conditions = ['FileSystemResizePending', 'Strange', 'Resizing'].map((type) => ({
    type,
    status: 'True',
  }))
  const orderOf = (patch: Patch) =>
    (
      patch as unknown as {
        value: { status: Record<string, readonly { readonly type: string }[]> }
      }
    ).value.status['$setElementOrder/conditions']?.map(({ type }) => type)
  const resized = (...from: readonly number[]) =>
    claim({ conditions: from.map((index) => conditions[index]!) })
  assert.deepEqual(orderOf(nodePartPatch(resized(2, 1), NOW)), [
    'Resizing',
    'Strange',
    'FileSystemResizePending',
  ])
  assert.deepEqual(orderOf(nodePartPatch(resized(0, 2), NOW)), [
    'FileSystemResizePending',
    'Resizing',
  ])
  assert.deepEqual(orderOf(begunPatch(resized(2, 0, 1), 'r', '2Gi', NOW)), ['Resizing', 'Strange'])
})

test('conditions and annotations have the names that drivers and kubelets read', () => {
  assert.deepEqual(
    [RESIZER, PRE_RESIZE_CAPACITY],
    ['volume.kubernetes.io/storage-resizer', 'volume.alpha.kubernetes.io/pre-resize-capacity'],
  )
  const others = ['Strange', 'FileSystemResizePending', 'ControllerResizeError', 'NodeResizeError']
  const known = claim({ conditions: others.map((type) => ({ type, status: 'True' })) })
  const begun = begunPatch(known, 'r', '2Gi', NOW) as unknown as {
    value: { status: { conditions: readonly object[] } }
  }
  assert.deepEqual(begun.value.status.conditions, [
    { type: 'Resizing', status: 'True', lastTransitionTime: NOW },
    ...others.slice(1).map((type) => ({ $patch: 'delete', type })),
  ])
})

test('names are those of the page', () => {
  const { name, aliases, serviceAccount, enabledByDefault } = persistentVolumeExpanderController
  assert.deepEqual(
    [name, aliases, serviceAccount, enabledByDefault],
    [
      'persistentvolume-expander-controller',
      ['persistentvolume-expander'],
      'expand-controller',
      true,
    ],
  )
})
