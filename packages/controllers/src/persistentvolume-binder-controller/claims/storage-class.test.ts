import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { PersistentVolumeClaim } from '@gyropilot/api'
import { refused } from '../../workload-support/fixtures.ts'
import {
  BOUND_ALL,
  WAITS,
  WITH_CLASS,
  checkClaims,
  claim,
  storageClass,
  volume,
  world,
} from '../fixtures.ts'

const inClass = (className: string | null, more = {}) => claim('c', { className, ...more })
const missing = 'ProvisioningFailed: storageclass.storage.k8s.io "fast" not found'

checkClaims('Given classes "", null, named, then class matching.', [
  { title: 'empty and none', objects: [volume(), inClass('')], done: BOUND_ALL },
  { title: 'null and none', objects: [volume(), inClass(null)], done: BOUND_ALL },
  {
    title: 'empty and named',
    objects: [volume('v', WITH_CLASS), inClass('')],
    done: [],
    told: [WAITS],
  },
  {
    title: 'named and the same',
    objects: [volume('v', WITH_CLASS), inClass('fast')],
    done: BOUND_ALL,
  },
  {
    title: 'named and another: provisioned',
    objects: [volume(), inClass('fast')],
    done: [],
    told: [missing],
  },
  {
    title: 'the annotation wins',
    objects: [
      volume('v', {
        annotations: { 'volume.beta.kubernetes.io/storage-class': '' },
        ...WITH_CLASS,
      }),
      inClass(''),
    ],
    done: BOUND_ALL,
  },
])

const MODE = { spec: { volumeMode: 'Block' } } as const
checkClaims('Given Block and Filesystem mixes, then no cross binding and events.', [
  { title: 'Block and Block', objects: [volume('v', MODE), claim('c', MODE)], done: BOUND_ALL },
  {
    title: 'unset is Filesystem',
    objects: [volume('v', { spec: { volumeMode: 'Filesystem' } }), claim()],
    done: BOUND_ALL,
  },
  { title: 'Block volume', objects: [volume('v', MODE), claim()], done: [], told: [WAITS] },
  { title: 'Block claim', objects: [volume(), claim('c', MODE)], done: [], told: [WAITS] },
  {
    title: 'Block claim and a volume that is pre-bound to it',
    objects: [volume('v', { claimUid: '' }), claim('c', MODE)],
    done: [],
    told: [WAITS],
  },
])

const marked = (name: string, created: string, value = 'true') =>
  storageClass(name, 'example.com/disk', {
    metadata: {
      name,
      creationTimestamp: created,
      annotations: { 'storageclass.kubernetes.io/is-default-class': value },
    },
  })

test('Given unset class and a default class, then it is assigned.', () => {
  const classes = [
    marked('b', '2026-01-02T00:00:00Z'),
    marked('a', '2026-01-02T00:00:00Z'),
    marked('old', '2026-01-01T00:00:00Z'),
    marked('no', '2026-01-03T00:00:00Z', 'false'),
  ]
  const here = world([...classes, inClass(null)])
  const synced = here.syncClaim()
  const [write] = synced?.writes ?? []
  assert.ok(write?.verb === 'update' && write.subresource === undefined)
  assert.equal((write.object as PersistentVolumeClaim).spec?.storageClassName, 'a')
  assert.deepEqual([synced?.writes.length, synced?.told], [1, []])
  assert.equal(here.metrics.value('retroactive_storageclass_total'), 1)
  const nothing = { storageClassName: null } as unknown as PersistentVolumeClaim['spec']
  const said = world([...classes, inClass(null, { spec: nothing })])
  assert.equal(said.syncClaim()?.writes.length, 1)
  assert.deepEqual(world([...classes, inClass('')]).syncClaim()?.told, [WAITS])
  assert.deepEqual(world([...classes, volume(), inClass(null)]).syncClaim()?.done, BOUND_ALL)
  const failing = world([...classes, inClass(null)], { onWrite: () => refused(409, 'Conflict') })
  assert.equal(failing.syncClaim()?.error, 'Conflict')
  assert.equal(failing.metrics.value('retroactive_storageclass_errors_total'), 1)
})
