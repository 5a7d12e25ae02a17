import assert from 'node:assert/strict'
import { test } from 'node:test'
import { resources } from '@gyropilot/api'
import type { PersistentVolume } from '@gyropilot/api'
import { refused } from '../../workload-support/fixtures.ts'
import {
  CHOSEN,
  boundPair,
  checkVolumes,
  claim,
  found,
  held,
  storageClass,
  volume,
  world,
} from '../fixtures.ts'
import type { SyncOptions, VolumeOptions } from '../fixtures.ts'

type Policy = NonNullable<PersistentVolume['spec']>['persistentVolumeReclaimPolicy']
const PROVISIONED = { 'pv.kubernetes.io/provisioned-by': 'example.com/disk' }
const ELSEWHERE = claim('c', { volumeName: 'w' })
const [boundVolume, boundClaim] = boundPair()
const HOST_PLUGIN = 'kubernetes.io/host-path'
const RENEWED = claim('c', { uid: 'new-uid' })

checkVolumes(
  'Given PVs pending, pre-bound, bound to missing, renewed, or misbound claims, then phases as defined.',
  [
    {
      title: 'pending',
      objects: [volume('v', { phase: 'Pending' })],
      done: ['volume v is Available'],
    },
    { title: 'Available already', objects: [volume()], done: [] },
    {
      title: 'Released, and the reference was removed',
      objects: [volume('v', { phase: 'Released' })],
      done: ['volume v is Available'],
    },
    {
      title: 'pre-bound by name',
      objects: [volume('v', { phase: 'Pending', claimUid: '' })],
      done: ['volume v is Available'],
    },
    {
      title: 'bound',
      objects: [volume('v', { phase: 'Available', claimUid: 'c-uid' }), boundClaim],
      done: ['volume v is Bound'],
    },
    { title: 'bound already', objects: [boundVolume, boundClaim], done: [] },
    { title: 'claim is missing', objects: [boundVolume], done: ['volume v is Released'] },
    {
      title: 'claim is missing, known for long',
      objects: [held('Retain', {}, { phase: 'Released' })],
      done: [],
    },
    { title: 'claim is renewed', objects: [boundVolume, RENEWED], done: ['volume v is Released'] },
    {
      title: 'claim is not in the cache, but on the server',
      objects: [boundVolume],
      done: [],
      options: { onRead: () => ({ ok: true, object: boundClaim }) },
    },
    {
      title: 'the server has the claim of the cache again with the old uid',
      objects: [boundVolume, RENEWED],
      done: [],
      options: { onRead: () => ({ ok: true, object: boundClaim }) },
    },
    {
      title: 'the server does not say',
      objects: [boundVolume],
      done: [],
      error: 'InternalError',
      options: { onRead: () => refused(500, 'InternalError') },
    },
    {
      title: 'claim has another volume; the controller had chosen',
      objects: [boundVolume, ELSEWHERE],
      done: ['volume v: claim -', 'volume v is Available'],
    },
    {
      title: 'claim has another volume; the user had reserved',
      objects: [held('Delete'), ELSEWHERE],
      done: ['volume v: claim -', 'volume v is Available'],
    },
    {
      title: 'the status cannot be saved',
      objects: [boundVolume],
      done: ['volume v is Released'],
      error: 'Conflict',
      options: { onWrite: () => refused(409, 'Conflict') },
    },
  ],
)

test('a live look is for claims whose volume still counts as theirs', () => {
  const onRead = () => assert.fail('asked')
  assert.deepEqual(
    world([held('Retain', {}, { phase: 'Released' })], { onRead }).syncVolume()?.done,
    [],
  )
  assert.deepEqual(
    world([held('Retain', {}, { phase: 'Failed' })], { onRead }).syncVolume()?.done,
    [],
  )
})

test('nobody is asked about a claim that the cache has', () => {
  const onRead = () => assert.fail('asked')
  assert.deepEqual(world([boundVolume, boundClaim], { onRead }).syncVolume()?.done, [])
})

test('what was released gets its claim again when the server has it, though the cache has a namesake', () => {
  const volumes = [held('Retain', {}, { phase: 'Released' }), RENEWED]
  const here = world(volumes, { onRead: () => ({ ok: true, object: boundClaim }) })
  assert.deepEqual(here.syncVolume()?.done, ['volume v is Bound'])
})

test('a phase is written with its message, or without the one before', () => {
  const statuses = [
    released({ fc: {} }),
    { ...volume('v', { phase: 'Failed' }), status: { phase: 'Failed', message: 'broken' } },
  ].map((one) => {
    const [write] = world([one as PersistentVolume]).syncVolume()!.writes
    return (write as unknown as { object: PersistentVolume }).object.status
  })
  assert.deepEqual(statuses, [
    {
      phase: 'Failed',
      message: 'error getting deleter volume plugin for volume "v": no volume plugin matched',
    },
    { phase: 'Available' },
  ])
})

test('a volume that could not be written is tried again', () => {
  const annotations = { 'pv.kubernetes.io/provisioned-by': HOST_PLUGIN }
  const finalizers = ['kubernetes.io/pv-controller']
  for (const object of [
    volume('v', { annotations, spec: { persistentVolumeReclaimPolicy: 'Delete' } }),
    released({ fc: {} }),
    released(TMP, { finalizers }),
  ]) {
    const here = world([object], { onWrite: () => refused(500, 'InternalError') })
    const { error, told, done } = here.syncVolume()!
    assert.deepEqual([error, told, done.length], ['InternalError', [], 1])
  }
})

test('unbinding removes what the controller chose, and keeps the name that a user reserved', () => {
  const specs = [boundVolume, held('Retain')].map((one) => {
    const [write] = world([one, ELSEWHERE]).syncVolume()?.writes ?? []
    assert.ok(write?.verb === 'update')
    return [(write.object as PersistentVolume).spec?.claimRef, write.object.metadata?.annotations]
  })
  const reserved = { kind: 'PersistentVolumeClaim', namespace: 'ns', name: 'c' }
  assert.deepEqual(specs, [
    [undefined, {}],
    [reserved, undefined],
  ])
})

test('an unbinding that fails is tried again, whichever of its writes it was', () => {
  for (const index of [0, 1]) {
    const onWrite: SyncOptions['onWrite'] = (_, at) =>
      at === index ? refused(409, 'Conflict') : undefined
    const synced = world([held('Retain'), ELSEWHERE], { onWrite }).syncVolume()
    assert.deepEqual([synced?.done.length, synced?.error], [index + 1, 'Conflict'])
  }
})

test('a claim without a volume name is looked at, once', () => {
  const here = world([boundVolume, claim()])
  assert.deepEqual([here.syncVolume()?.done, here.enqueued], [[], ['ns/c']])
})

test('a claim of another mode is not: both are told', () => {
  const here = world([boundVolume, claim('c', { spec: { volumeMode: 'Block' } })])
  assert.deepEqual(here.syncVolume()?.told, [
    'VolumeMismatch: Cannot bind PersistentVolume to requested PersistentVolumeClaim "c" due to incompatible volumeMode.',
    'VolumeMismatch: Cannot bind PersistentVolume "v" to requested PersistentVolumeClaim due to incompatible volumeMode.',
  ])
  assert.deepEqual(here.enqueued, [])
})

const released = (source: object, more: VolumeOptions = {}) =>
  held('Delete', source, { phase: 'Released', ...more })
const TMP = { hostPath: { path: '/tmp/x' } }
const NO_DELETER =
  'error getting deleter volume plugin for volume "v": no deletable volume plugin matched'
const HOST_PATH_REFUSED = 'host_path deleter only supports /tmp/.+ but received provided /tmp/'

checkVolumes(
  'Given Delete with success, plugin errors, vanished or rebound PVs, external and migrated, two PVs for one claim, then as defined.',
  [
    {
      title: 'success',
      objects: [held('Delete', TMP)],
      done: ['volume v is Released', 'delete PersistentVolume v'],
    },
    {
      title: 'with the finalizer',
      objects: [released(TMP, { finalizers: ['kubernetes.io/pv-controller'] })],
      done: ['volume v: claim c-uid', 'delete PersistentVolume v'],
    },
    {
      title: 'provisioned by the plugin',
      objects: [
        released(TMP, {
          annotations: { 'pv.kubernetes.io/provisioned-by': HOST_PLUGIN },
          finalizers: ['kubernetes.io/pv-controller'],
        }),
      ],
      done: ['volume v: claim c-uid', 'delete PersistentVolume v'],
    },
    {
      title: 'a folder of this name elsewhere',
      objects: [released({ hostPath: { path: '/data/tmp/x' } })],
      done: ['volume v is Failed'],
      told: [
        'VolumeFailedDelete: host_path deleter only supports /tmp/.+ but received provided /data/tmp/x',
      ],
    },
    {
      title: 'being deleted: only the finalizer',
      objects: [released(TMP, { deleting: true, finalizers: ['kubernetes.io/pv-controller'] })],
      done: ['volume v: claim c-uid'],
    },
    {
      title: 'the deletion fails',
      objects: [released(TMP)],
      done: ['delete PersistentVolume v'],
      error: 'InternalError',
      options: { onWrite: () => refused(500, 'InternalError') },
    },
    {
      title: 'somebody was quicker',
      objects: [released(TMP)],
      done: ['delete PersistentVolume v'],
      options: { onWrite: () => refused(404, 'NotFound') },
    },
    {
      title: 'vanished',
      objects: [released(TMP)],
      done: [],
      options: { onRead: () => refused(404, 'NotFound') },
    },
    {
      title: 'the server does not say',
      objects: [released(TMP)],
      done: [],
      error: 'InternalError',
      options: { onRead: () => refused(500, 'InternalError') },
    },
    {
      title: 'renewed',
      objects: [released(TMP)],
      done: [],
      options: found(volume('v', { uid: 'new-uid', claimUid: 'c-uid' })),
    },
    { title: 'let go', objects: [released(TMP)], done: [], options: found(volume()) },
    {
      title: 'no such folder can be',
      objects: [released({ hostPath: { path: '/tmp/' } })],
      done: ['volume v is Failed'],
      told: [`VolumeFailedDelete: ${HOST_PATH_REFUSED}`],
    },
    {
      title: 'no deletable plugin',
      objects: [released({ nfs: { server: 's', path: '/p' } })],
      done: ['volume v is Failed'],
      told: [`VolumeFailedDelete: ${NO_DELETER}`],
    },
    {
      title: 'provisioned by a plugin whose kind of volume it is not',
      objects: [
        released(
          { nfs: { server: 's', path: '/p' } },
          { annotations: { 'pv.kubernetes.io/provisioned-by': 'kubernetes.io/host-path' } },
        ),
      ],
      done: ['volume v: claim c-uid', 'volume v is Failed'],
      told: [
        'VolumeFailedDelete: failed to create deleter for volume "v": spec.PersistentVolumeSource.HostPath is nil',
      ],
    },
    {
      title: 'no plugin at all',
      objects: [released({ fc: {} })],
      done: ['volume v is Failed'],
      told: [
        'VolumeFailedDelete: error getting deleter volume plugin for volume "v": no volume plugin matched',
      ],
    },
    {
      title: 'no plugin of the name',
      objects: [
        released(TMP, {
          annotations: { 'pv.kubernetes.io/provisioned-by': 'kubernetes.io/foo' },
          finalizers: ['kubernetes.io/pv-controller'],
        }),
      ],
      done: ['volume v is Failed'],
      told: ['VolumeFailedDelete: no volume plugin matched name: kubernetes.io/foo'],
    },
    {
      title: 'Failed already: said once',
      objects: [held('Delete', { nfs: { server: 's', path: '/p' } }, { phase: 'Failed' })],
      done: [],
    },
    { title: 'CSI', objects: [released({ csi: { driver: 'd', volumeHandle: 'h' } })], done: [] },
    { title: 'external', objects: [released(TMP, { annotations: PROVISIONED })], done: [] },
    {
      title: 'marks that say nothing',
      objects: [
        released(
          { nfs: { server: 's', path: '/p' } },
          {
            annotations: {
              'pv.kubernetes.io/migrated-to': '',
              'pv.kubernetes.io/provisioned-by': '',
            },
          },
        ),
      ],
      done: ['volume v is Failed'],
      told: [
        'VolumeFailedDelete: error getting deleter volume plugin for volume "v": no deletable volume plugin matched',
      ],
    },
    {
      title: 'migrated',
      objects: [released(TMP, { annotations: { 'pv.kubernetes.io/migrated-to': 'd' } })],
      done: [],
    },
    { title: 'Retain', objects: [held('Retain', TMP)], done: ['volume v is Released'] },
    {
      title: 'two for one claim: the loser of ours is released',
      objects: [held('Delete', {}, { annotations: PROVISIONED }), ELSEWHERE],
      done: ['volume v is Released'],
    },
    {
      title: 'two for one claim: a loser that is kept is freed',
      objects: [held('Retain', {}, { annotations: { ...PROVISIONED, ...CHOSEN } }), ELSEWHERE],
      done: ['volume v: claim -', 'volume v is Available'],
    },
    {
      title: 'a policy nobody knows',
      objects: [held('Shred' as Policy)],
      done: ['volume v is Released', 'volume v is Failed'],
      told: ['VolumeUnknownReclaimPolicy: Volume has unrecognized PersistentVolumeReclaimPolicy'],
    },
  ],
)

/** How many deletions by the plugin succeeded, and how many failed. */
function deletionsRan({ metrics }: ReturnType<typeof world>): readonly number[] {
  const labels = { volume_plugin: HOST_PLUGIN, operation_name: 'volume_delete', migrated: 'false' }
  return ['success', 'fail-unknown'].map(
    (status) =>
      metrics.observed('storage_operation_duration_seconds', { ...labels, status }).length,
  )
}

test('what cannot be deleted is tried again later and later', async () => {
  const here = world([held('Delete', { hostPath: { path: '/data' } }, { phase: 'Failed' })])
  const reads = () => here.syncVolume()?.effects.length
  assert.deepEqual([reads(), reads()], [1, 0])
  await here.clock.advance(500)
  assert.deepEqual([reads(), reads()], [1, 0])
  await here.clock.advance(500)
  assert.equal(reads(), 0)
  await here.clock.advance(500)
  assert.equal(reads(), 1)
  const labels = { plugin_name: 'kubernetes.io/host-path', operation_name: 'delete' }
  assert.equal(here.metrics.value('volume_operation_errors_total', labels), 3)
  assert.deepEqual(deletionsRan(here), [0, 3])
})

test('deletions are timed from the first try until the object is gone', async () => {
  const spec = { csi: { driver: 'd', volumeHandle: 'h' } }
  const outside = held('Delete', spec, { phase: 'Released' })
  const classed = { ...outside, spec: { ...outside.spec, storageClassName: 'fast' } }
  for (const [objects, plugin_name] of [
    [[classed, storageClass('fast', 'disk.example.com')], 'disk.example.com'],
    [[outside], 'N/A'],
    [[held('Delete', { hostPath: { path: '/tmp/d' } }, { phase: 'Released' })], HOST_PLUGIN],
  ] as const) {
    const here = world(objects)
    await here.clock.advance(3_000)
    here.syncVolume()
    await here.clock.advance(1_500)
    here.syncVolume()
    here.informers.remove(resources.persistentvolumes, objects[0])
    here.logic.volume.forget?.('v')
    here.logic.volume.forget?.('v')
    const labels = { plugin_name, operation_name: 'delete' }
    assert.deepEqual(here.metrics.observed('volume_operation_total_seconds', labels), [1.5])
  }
})

const folderOf = (path: string) => held('Delete', { hostPath: { path } }, { phase: 'Released' })
const folders = { hostFolders: { make: async () => {}, remove: async () => {} } }

test('a host path goes with its folder, where folders may be removed', () => {
  const calls: unknown[] = []
  const here = world([folderOf('/tmp/d')], {
    settings: folders,
    onOutside: (call) => {
      calls.push(call)
      return { ok: true, object: undefined }
    },
  })
  assert.deepEqual(here.syncVolume()?.done, ['delete PersistentVolume v'])
  assert.deepEqual(calls, [{ name: 'removeFolder', arguments: ['/tmp/d'] }])
  assert.deepEqual(deletionsRan(here), [1, 0])
})

test('a folder that cannot be removed keeps its volume, and one that leads out is left alone', () => {
  const refuses = world([folderOf('/tmp/d')], {
    settings: folders,
    onOutside: () => ({ ok: false, error: new Error('EACCES'), attempted: true }),
  })
  const { told, done } = refuses.syncVolume()!
  assert.deepEqual([told, done], [['VolumeFailedDelete: EACCES'], ['volume v is Failed']])
  const labels = { plugin_name: HOST_PLUGIN, operation_name: 'delete' }
  assert.equal(refuses.metrics.value('volume_operation_errors_total', labels), 1)
  assert.deepEqual(deletionsRan(refuses), [0, 1])
  assert.equal(refuses.syncVolume(), undefined, 'not before its own write is seen')
  const seen = volume('v', { resourceVersion: '200', phase: 'Failed' })
  refuses.informers.apply(resources.persistentvolumes, { ...seen, spec: folderOf('/tmp/d').spec })
  assert.deepEqual(refuses.syncVolume()?.effects, [], 'nor at once')
  const out = world([folderOf('/tmp/a/../../etc')], { settings: folders })
  assert.deepEqual(out.syncVolume()?.done, ['volume v is Failed'])
})

const FINALIZERS = [
  'kubernetes.io/pv-controller',
  'external-provisioner.volume.kubernetes.io/finalizer',
]

test('Given migration on and off, then annotations and finalizers.', () => {
  const MIGRATED = 'pv.kubernetes.io/migrated-to'
  const BY = 'pv.kubernetes.io/provisioned-by'
  const cases: readonly (readonly [
    string | undefined,
    Policy,
    string | undefined,
    readonly string[],
  ])[] = [
    ['kubernetes.io/aws-ebs', 'Delete', 'ebs.csi.aws.com', [FINALIZERS[1]!]],
    ['kubernetes.io/host-path', 'Delete', undefined, [FINALIZERS[0]!]],
    ['kubernetes.io/host-path', 'Retain', undefined, []],
    ['example.com/disk', 'Delete', undefined, FINALIZERS],
    [undefined, 'Delete', 'stray', FINALIZERS],
  ]
  for (const [by, policy, driver, finalizers] of cases) {
    const annotations = { [MIGRATED]: 'stray', ...(by && { [BY]: by }) }
    const [write] =
      world([
        volume('v', {
          annotations,
          finalizers: FINALIZERS,
          spec: { persistentVolumeReclaimPolicy: policy },
        }),
      ]).syncVolume()?.writes ?? []
    const metadata =
      write === undefined
        ? { annotations, finalizers: FINALIZERS }
        : 'object' in write
          ? write.object.metadata
          : {}
    assert.deepEqual(
      [metadata?.annotations?.[MIGRATED], metadata?.finalizers ?? []],
      [driver, finalizers],
    )
  }
  const fresh = volume('v', {
    annotations: { [BY]: 'kubernetes.io/host-path' },
    spec: { persistentVolumeReclaimPolicy: 'Delete' },
  })
  const [added] = world([fresh]).syncVolume()?.writes ?? []
  assert.ok(added?.verb === 'update')
  assert.deepEqual(added.object.metadata?.finalizers, [FINALIZERS[0]])
})

test('a claim has the driver of the plugin that was asked, and nothing stale', () => {
  const cases: readonly (readonly [Record<string, string>, string | undefined])[] = [
    [
      { 'volume.kubernetes.io/storage-provisioner': 'kubernetes.io/cinder' },
      'cinder.csi.openstack.org',
    ],
    [
      { 'volume.beta.kubernetes.io/storage-provisioner': 'kubernetes.io/azure-file' },
      'file.csi.azure.com',
    ],
    [{ 'volume.kubernetes.io/storage-provisioner': 'example.com/disk' }, undefined],
  ]
  for (const [annotations, driver] of cases) {
    const [write] =
      world([
        claim('c', { annotations: { ...annotations, 'pv.kubernetes.io/migrated-to': 'stale' } }),
      ]).syncClaim()?.writes ?? []
    assert.ok(write?.verb === 'update')
    assert.equal(write.object.metadata?.annotations?.['pv.kubernetes.io/migrated-to'], driver)
  }
  assert.deepEqual(
    world([claim('c', { annotations: { 'pv.kubernetes.io/migrated-to': 'others' } })]).syncClaim()
      ?.done,
    [],
  )
  // An empty mark says nothing: neither object is written for its sake.
  const empty = { 'pv.kubernetes.io/migrated-to': '' }
  const asked = { ...empty, 'volume.kubernetes.io/storage-provisioner': 'example.com/disk' }
  assert.deepEqual(world([claim('c', { annotations: asked })]).syncClaim()?.done, [])
  const provisioned = { ...empty, 'pv.kubernetes.io/provisioned-by': 'example.com/disk' }
  assert.deepEqual(world([volume('v', { annotations: provisioned })]).syncVolume()?.done, [])
})
