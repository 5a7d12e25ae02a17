/** Volumes that are emptied by a pod and given back. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { resources } from '@gyropilot/api'
import type { Event, Pod } from '@gyropilot/api'
import { refused } from '../../workload-support/fixtures.ts'
import { checkVolumes, claim, deleted, found, held, podUsing, volume, world } from '../fixtures.ts'
import { defaultPersistentVolumeBinderConfiguration } from '../config.ts'
import { recycledVolume, recyclerPod } from './recycle.ts'

const RENEWED = claim('c', { uid: 'new-uid' })

const NFS = { nfs: { server: 's', path: '/p' } }
/** The recycler of the fixtures is this process'. */
const BEGUN = { recycler: 'pod-uid' }
const recycled = (source: object = NFS) => held('Recycle', source, { phase: 'Released' })
function recycler(
  phase: string,
  more: Partial<NonNullable<Pod['metadata']>> = {},
  message?: string,
): Pod {
  const plain = recyclerPod(recycled(), defaultPersistentVolumeBinderConfiguration)
  return {
    ...plain,
    metadata: { ...plain.metadata, uid: 'pod-uid', ...more },
    status: { phase, ...(message && { message }) },
  } as Pod
}

checkVolumes('Given Recycle with used, unused, failing PVs, then as defined.', [
  {
    title: 'unused',
    objects: [held('Recycle', NFS)],
    done: ['volume v is Released', 'create Pod recycler-for-v'],
  },
  {
    title: 'used by pods',
    objects: [
      recycled(),
      podUsing('q', 'n', 'Running'),
      podUsing('p'),
      podUsing('over', 'n', 'Failed'),
      deleted(podUsing('gone', 'n', 'Running')),
    ],
    done: [],
    told: ['VolumeFailedRecycle: Volume is used by pods: ns/p,ns/q'],
  },
  {
    title: 'used by pods of the next claim of the name',
    objects: [recycled(), RENEWED, podUsing('p')],
    done: ['create Pod recycler-for-v'],
  },
  { title: 'at work', objects: [recycled(), recycler('Running')], done: [], options: BEGUN },
  {
    title: 'begun, and not in the cache yet',
    objects: [recycled()],
    done: ['create Pod recycler-for-v'],
    options: { ...BEGUN, onWrite: () => refused(409, 'AlreadyExists') },
  },
  {
    title: 'on its way out before it has ended',
    objects: [recycled(), recycler('Running', { deletionTimestamp: '2026-01-01T00:00:00Z' })],
    done: [],
    options: BEGUN,
  },
  {
    title: 'ended, and being deleted by somebody',
    objects: [recycled(), recycler('Succeeded', { deletionTimestamp: '2026-01-01T00:00:00Z' })],
    done: ['create Pod recycler-for-v'],
    options: { ...BEGUN, onWrite: () => refused(409, 'AlreadyExists') },
  },
  {
    title: 'a pod that this process has not begun',
    objects: [recycled(), recycler('Succeeded')],
    done: ['create Pod recycler-for-v', 'delete Pod recycler-for-v', 'volume v is Failed'],
    told: ['VolumeFailedRecycle: Recycle failed: old recycler pod found, will retry later'],
    options: {
      onWrite: ({ verb }) => (verb === 'create' ? refused(409, 'AlreadyExists') : undefined),
    },
  },
  {
    title: 'no pod can be made',
    objects: [recycled()],
    done: ['create Pod recycler-for-v', 'volume v is Failed'],
    told: [
      'VolumeFailedRecycle: Recycle failed: unexpected error creating recycler pod:  Forbidden',
    ],
    options: {
      onWrite: ({ verb }) => (verb === 'create' ? refused(403, 'Forbidden') : undefined),
    },
  },
  {
    title: 'succeeded',
    objects: [recycled(), recycler('Succeeded')],
    done: ['delete Pod recycler-for-v', 'volume v: claim -', 'volume v is Available'],
    told: ['VolumeRecycled: Volume recycled'],
    options: BEGUN,
  },
  {
    title: 'succeeded, and counted already',
    objects: [recycled(), recycler('Succeeded')],
    done: ['delete Pod recycler-for-v'],
    options: { ...BEGUN, onWrite: () => refused(404, 'NotFound') },
  },
  {
    title: 'failed',
    objects: [recycled(), recycler('Failed', {}, 'no space')],
    done: ['delete Pod recycler-for-v', 'volume v is Failed'],
    told: ['VolumeFailedRecycle: Recycle failed: failed to recycle volume: no space'],
    options: BEGUN,
  },
  {
    title: 'bound again meanwhile',
    objects: [recycled(), recycler('Succeeded')],
    done: [],
    options: { ...BEGUN, ...found(volume()) },
  },
  {
    title: 'no plugin',
    objects: [recycled({ fc: {} })],
    done: ['volume v is Failed'],
    told: ['VolumeFailedRecycle: No recycler plugin found for the volume!'],
  },
])

test('the recycler has time by the size of the volume', () => {
  const settings = defaultPersistentVolumeBinderConfiguration
  const sized = (size: string, source: object) =>
    volume('v', { size, spec: { capacity: { storage: size }, ...source } })
  const seconds = (size: string, source: object) =>
    recyclerPod(sized(size, source), settings).spec?.activeDeadlineSeconds
  const HOST = { hostPath: { path: '/d' } }
  assert.deepEqual(
    [seconds('1Gi', NFS), seconds('11Gi', NFS), seconds('500Mi', HOST), seconds('5Gi', HOST)],
    [300, 330, 60, 150],
  )
  const asTold = { minimumSeconds: 7, secondsPerGibibyte: 2 }
  const { hostPath } = settings.recyclers
  const told = { ...settings, recyclers: { nfs: asTold, hostPath } }
  assert.equal(recyclerPod(sized('5Gi', NFS), told).spec?.activeDeadlineSeconds, 10)
  assert.equal(recyclerPod(sized('5Gi', HOST), told).spec?.activeDeadlineSeconds, 150)
  const quick = { minimumSeconds: 1, secondsPerGibibyte: 20 }
  const exactly = { ...settings, recyclers: { nfs: quick, hostPath } }
  assert.equal(recyclerPod(sized('1Gi', NFS), exactly).spec?.activeDeadlineSeconds, 20)
})

test('a template is the recycler, with the volume in the place of its first', () => {
  const settings = defaultPersistentVolumeBinderConfiguration
  const podTemplate: Pod = {
    kind: 'Pod',
    metadata: { name: 'mine', namespace: 'other', labels: { a: 'b' } },
    spec: {
      containers: [{ name: 'c', image: 'scrub:1' }],
      volumes: [
        { name: 'first', emptyDir: {} },
        { name: 'second', emptyDir: {} },
      ],
    },
  }
  const nfs = { ...settings.recyclers.nfs, podTemplate }
  const pod = recyclerPod(recycled(), { ...settings, recyclers: { ...settings.recyclers, nfs } })
  assert.deepEqual(pod, {
    kind: 'Pod',
    metadata: { name: 'recycler-for-v', namespace: 'default', labels: { a: 'b' } },
    spec: {
      activeDeadlineSeconds: 300,
      containers: [{ name: 'c', image: 'scrub:1' }],
      volumes: [
        { name: 'first', ...NFS },
        { name: 'second', emptyDir: {} },
      ],
    },
  })
})

test('what happens to the recycler is told of the volume, once each', () => {
  const event = (name: string, type: string, message: string, time: string, count = 1): Event => ({
    apiVersion: 'v1',
    kind: 'Event',
    metadata: { name, namespace: 'default', uid: name },
    involvedObject: { kind: 'Pod', name: 'recycler-for-v' },
    type,
    message,
    lastTimestamp: time,
    count,
  })
  const late = event('a', 'Warning', 'no image', '2026-01-01T00:00:02Z')
  const sooner = event('b', 'Normal', 'pulling', '2026-01-01T00:00:01Z')
  const here = world([recycled(), recycler('Pending'), late, sooner], BEGUN)
  const told = () => here.syncVolume()?.events.map(({ type, message }) => `${type} ${message}`)
  assert.deepEqual(told(), ['Normal Recycler pod: pulling', 'Warning Recycler pod: no image'])
  assert.deepEqual(told(), [])
  here.informers.apply(
    resources.events,
    event('a', 'Warning', 'no image', '2026-01-01T00:00:09Z', 2),
  )
  assert.deepEqual(told(), ['Warning Recycler pod: no image'])
})

test('the recycler of a folder has the folder, and a shell that empties it', () => {
  const { spec } = recyclerPod(
    recycled({ hostPath: { path: '/data' } }),
    defaultPersistentVolumeBinderConfiguration,
  )
  const [container] = spec!.containers
  assert.deepEqual(
    [container!.command, container!.volumeMounts, spec!.volumes],
    [
      ['/bin/sh'],
      [{ name: 'vol', mountPath: '/scrub' }],
      [{ name: 'vol', hostPath: { path: '/data' } }],
    ],
  )
})

test('a pod is a recycler by its name in its namespace', () => {
  const named = (name: string, namespace: string): Pod => ({ metadata: { name, namespace } })
  assert.equal(recycledVolume(named('recycler-for-v', 'default')), 'v')
  assert.equal(recycledVolume(named('recycler-for-v', 'other')), undefined)
  assert.equal(recycledVolume(named('web', 'default')), undefined)
})

test('a recycler that could not be deleted is concluded another time', () => {
  const onWrite = () => refused(500, 'InternalError')
  const { error, told } = world([recycled(), recycler('Succeeded')], {
    ...BEGUN,
    onWrite,
  }).syncVolume()!
  assert.deepEqual([error, told], ['InternalError', []])
})

test('after a failure each sync tries again, however many have failed', () => {
  const begun = recycler('Pending')
  const here = world([recycled()], {
    onWrite: ({ verb }) => (verb === 'create' ? { ok: true, object: begun } : undefined),
  })
  const sync = () => here.syncVolume()!.done
  assert.deepEqual(sync(), ['create Pod recycler-for-v'])
  here.informers.apply(resources.pods, recycler('Failed'))
  assert.deepEqual(sync(), ['delete Pod recycler-for-v', 'volume v is Failed'])
  const failed = { ...recycled(), status: { phase: 'Failed' as const } }
  const metadata = { ...failed.metadata, resourceVersion: '200' }
  here.informers.apply(resources.persistentvolumes, { ...failed, metadata })
  for (let round = 0; round < 3; round++) {
    here.informers.remove(resources.pods, recycler('Failed'))
    assert.deepEqual(sync(), ['create Pod recycler-for-v'])
    here.informers.apply(resources.pods, recycler('Failed'))
    assert.deepEqual(sync(), ['delete Pod recycler-for-v'])
  }
})

test('a recycler that is deleted before it has ended has failed', () => {
  const here = world([recycled()])
  here.binder.lostRecyclers.add('v')
  const { done, told } = here.syncVolume()!
  assert.deepEqual(
    [done, told],
    [
      ['volume v is Failed'],
      ['VolumeFailedRecycle: Recycle failed: failed to recycle volume: recycler pod was deleted'],
    ],
  )
  const failed = { ...recycled(), status: { phase: 'Failed' as const } }
  const metadata = { ...failed.metadata, resourceVersion: '200' }
  here.informers.apply(resources.persistentvolumes, { ...failed, metadata })
  assert.deepEqual(here.syncVolume()!.done, ['create Pod recycler-for-v'])
  // Another one has its name: that one counts.
  here.binder.lostRecyclers.add('v')
  const data = { claimUid: 'c-uid', volumeUid: 'v-uid' }
  here.binder.recyclers.set('v', { podUid: 'pod-uid', ...data })
  here.informers.apply(resources.pods, recycler('Running'))
  assert.deepEqual(here.syncVolume()!.done, [])
  here.informers.remove(resources.pods, recycler('Running'))
  assert.deepEqual(here.syncVolume()!.done, ['create Pod recycler-for-v'])
})

test('a recycler says nothing of what came into the volume since, nor of another volume of the name', () => {
  const before = recycled()
  const claimRef = { ...before.spec?.claimRef, uid: 'next-uid' }
  for (const now of [
    { ...before, spec: { ...before.spec, claimRef } },
    { ...before, metadata: { ...before.metadata, uid: 'another' } },
  ]) {
    const here = world([now, recycler('Succeeded')], {
      ...BEGUN,
      onWrite: ({ verb }) => (verb === 'create' ? refused(409, 'AlreadyExists') : undefined),
    })
    assert.deepEqual(here.syncVolume()?.done, [
      'create Pod recycler-for-v',
      'delete Pod recycler-for-v',
      'volume v is Failed',
    ])
  }
})

test('nothing is remembered of the recycler of a volume that is gone', () => {
  const { binder, logic } = world([], BEGUN)
  binder.lostRecyclers.add('v')
  logic.volume.forget?.('v')
  assert.deepEqual([binder.recyclers.size, binder.lostRecyclers.size], [0, 0])
})
