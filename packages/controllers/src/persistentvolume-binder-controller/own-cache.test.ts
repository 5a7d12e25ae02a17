import assert from 'node:assert/strict'
import { test } from 'node:test'
import { resources } from '@gyropilot/api'
import type { PersistentVolume, Pod } from '@gyropilot/api'
import { DeletedFinalStateUnknown } from '@gyropilot/runtime'
import { CHOSEN, boundPair, claim, podUsing, volume, world } from './fixtures.ts'
import { defaultPersistentVolumeBinderConfiguration } from './config.ts'
import { recyclerPod } from './volumes/recycle.ts'
import { claimWatches, volumeWatches } from './watches.ts'

test('Given old and new resource versions, then stale objects are ignored.', () => {
  const here = world([volume('v', { resourceVersion: '9' })])
  const { volumes } = here.binder
  assert.equal(volumes.current('v')?.metadata?.resourceVersion, '9')
  const written = volume('v', { resourceVersion: '10', phase: 'Bound' })
  volumes.written(written)
  volumes.written(volume('v', { resourceVersion: '8' }))
  assert.deepEqual([volumes.current('v'), volumes.get(undefined, 'v')], [undefined, written])
  assert.deepEqual(volumes.byIndex('accessModes', 'ReadWriteOnce'), [written])
  here.informers.apply(resources.persistentvolumes, volume('v', { resourceVersion: '10' }))
  assert.equal(volumes.current('v')?.metadata?.resourceVersion, '10')
  here.informers.apply(resources.persistentvolumes, volume('v', { resourceVersion: '11' }))
  assert.equal(volumes.get(undefined, 'v')?.metadata?.resourceVersion, '11')
})

test('what the informer has seen go is gone, whatever was written', () => {
  const here = world([volume('v', { resourceVersion: '9' })])
  const { volumes } = here.binder
  volumes.written(volume('v', { resourceVersion: '12' }))
  volumes.forget('v')
  assert.equal(volumes.get(undefined, 'v')?.metadata?.resourceVersion, '12')
  here.informers.remove(resources.persistentvolumes, volume('v'))
  assert.deepEqual([volumes.get(undefined, 'v'), volumes.current('v')], [undefined, undefined])
  assert.equal(here.logic.volume.observe('v'), undefined)
  here.logic.volume.forget?.('v')
  // Another one of the name, in a cluster that was restored: nothing of the old one is remembered.
  here.informers.apply(resources.persistentvolumes, volume('v', { resourceVersion: '3' }))
  assert.equal(volumes.current('v')?.metadata?.resourceVersion, '3')
})

test('of a claim that is gone nothing is remembered for its namesake', () => {
  const here = world([claim('c', { resourceVersion: '9' })])
  here.binder.claims.written(claim('c', { resourceVersion: '12' }))
  here.informers.remove(resources.persistentvolumeclaims, claim())
  here.logic.claim.forget?.('ns/c')
  here.informers.apply(resources.persistentvolumeclaims, claim('c', { resourceVersion: '3' }))
  assert.equal(here.binder.claims.current('ns/c')?.metadata?.resourceVersion, '3')
})

test('a claim and a volume are looked at for every event, and when their partner is deleted', () => {
  const [bound, kept] = boundPair()
  const [ofClaim, ofVolume] = claimWatches
  assert.deepEqual(
    [
      [...ofClaim!.onAdd!(kept)],
      [...ofClaim!.onUpdate!(kept, kept)],
      [...ofClaim!.onDelete!(kept)],
    ],
    [['ns/c'], ['ns/c'], ['ns/c']],
  )
  assert.deepEqual([...ofVolume!.onDelete!(bound)], ['ns/c'])
  for (const claimRef of [undefined, { name: 'c' }, { namespace: 'ns' }])
    assert.deepEqual([...ofVolume!.onDelete!(volume('v', { claimRef }))], [])
  const lostRecyclers = new Set<string>()
  const recyclers = new Map([['v', { podUid: 'pod-uid', claimUid: 'c-uid', volumeUid: 'v-uid' }]])
  const watchesOfVolumes = volumeWatches({ recyclers, lostRecyclers })
  const [ofOwn, ofGone, ofPod] = watchesOfVolumes
  assert.deepEqual(
    [[...ofOwn!.onAdd!(bound)], [...ofOwn!.onUpdate!(bound, bound)], [...ofOwn!.onDelete!(bound)]],
    [['v'], ['v'], ['v']],
  )
  assert.deepEqual([[...ofGone!.onDelete!(kept)], [...ofGone!.onDelete!(claim())]], [['v'], []])
  const plain = recyclerPod(volume(), defaultPersistentVolumeBinderConfiguration)
  const pod = { ...plain, metadata: { ...plain.metadata, uid: 'pod-uid' } }
  assert.deepEqual(
    [
      [...ofPod!.onUpdate!(pod, pod)],
      [...ofPod!.onDelete!(pod)],
      [...ofPod!.onUpdate!(podUsing('p'), podUsing('p'))],
    ],
    [['v'], ['v'], []],
  )
  assert.deepEqual([[...lostRecyclers], recyclers.size], [['v'], 0])
  lostRecyclers.clear()
  // Of nobody, or of an earlier process: it is looked at, and none of ours is lost.
  assert.deepEqual([...ofPod!.onDelete!(pod)], ['v'])
  // It had come to its end, which was seen then: what its own deletion changes starts no other.
  for (const phase of ['Succeeded', 'Failed'] as const) {
    const ended = { ...pod, status: { phase } } as Pod
    const another = { ...ended, metadata: { ...pod.metadata, uid: 'another' } }
    assert.deepEqual(
      [
        [...ofPod!.onUpdate!(pod, ended)],
        [...ofPod!.onUpdate!(ended, ended)],
        [...ofPod!.onDelete!(ended)],
        [...ofPod!.onUpdate!(ended, another)],
      ],
      [['v'], [], [], ['v']],
    )
  }
  assert.equal(lostRecyclers.size, 0)
  const tombstone = new DeletedFinalStateUnknown('k', undefined)
  const keys = [...claimWatches, ...watchesOfVolumes].map((watch) => [
    ...(watch.onDelete?.(tombstone) ?? []),
  ])
  assert.deepEqual(keys, [['k'], [], ['k'], [], []])
})

test('volumes and claims are counted by state, class and plugin', () => {
  const [bound, kept] = boundPair()
  const spec = {
    csi: { driver: 'd', volumeHandle: 'h' },
    volumeMode: 'Block',
    storageClassName: 'fast',
  } as const
  const hosted = volume('h', { spec: { hostPath: { path: '/d' } } })
  const waiting = claim('w', {
    className: 'fast',
    spec: { storageClassName: 'fast', volumeAttributesClassName: 'gold' },
  })
  const here = world([bound, kept, volume('w', { spec }), hosted, waiting])
  const value = (name: string, labels: Record<string, string>) =>
    here.metrics.value(`pv_collector_${name}`, labels)
  const kind = (plugin_name: string, volume_mode = 'Filesystem') =>
    value('total_pv_count', { plugin_name, volume_mode })
  assert.deepEqual([kind('N/A'), kind('N/A', 'Block'), kind('kubernetes.io/host-path')], [1, 1, 1])
  assert.equal(value('bound_pv_count', { storage_class: '' }), 1)
  assert.equal(value('unbound_pv_count', { storage_class: 'fast' }), 1)
  assert.equal(value('unbound_pv_count', { storage_class: '' }), 1)
  const none = { namespace: 'ns', storage_class: '', volume_attributes_class: '' }
  assert.equal(value('bound_pvc_count', none), 1)
  assert.equal(
    value('unbound_pvc_count', { ...none, storage_class: 'fast', volume_attributes_class: 'gold' }),
    1,
  )
  here.informers.remove(resources.persistentvolumes, bound)
  assert.equal(value('bound_pv_count', { storage_class: '' }), undefined, 'as if it never was')
})

test('an own write is what the next claim sees', () => {
  const here = world([volume(), claim()])
  here.syncClaim()
  const { spec, metadata } = here.binder.volumes.get(undefined, 'v') as PersistentVolume
  assert.deepEqual([spec?.claimRef?.uid, metadata?.annotations], ['c-uid', CHOSEN])
})
