import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { PersistentVolumeClaim, StorageClass } from '@gyropilot/api'
import { node } from '@gyropilot/api/testing'
import { csiNode, standardClass } from './driver-objects.ts'
import { provisionedVolume, segmentFor } from './provisioned-volume.ts'

const ZONE = 'topology.kubernetes.io/zone'
const HOSTNAME = 'kubernetes.io/hostname'
const claim = (name = 'data', annotations?: Record<string, string>): PersistentVolumeClaim => ({
  metadata: {
    name,
    namespace: 'default',
    uid: 'u',
    resourceVersion: '7',
    ...(annotations && { annotations }),
  },
  spec: {
    accessModes: ['ReadWriteOnce'],
    volumeMode: 'Filesystem',
    storageClassName: 'standard',
    resources: { requests: { storage: '2Gi' } },
  },
})

test('the volume is as its claim and its class say', () => {
  const parameters = { 'sim.storage/attach': '1s', 'sim.storage/mount': '1s', type: 'ssd' }
  const storageClass: StorageClass = { ...standardClass, parameters, mountOptions: ['ro'] }
  const own = claim('data', { 'sim.storage/mount': '2s', other: 'x' })
  assert.deepEqual(provisionedVolume(own, storageClass, { key: ZONE, value: 'a' }), {
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: {
      name: 'pvc-u',
      annotations: { 'pv.kubernetes.io/provisioned-by': 'sim.storage' },
      finalizers: ['external-provisioner.volume.kubernetes.io/finalizer'],
    },
    spec: {
      accessModes: ['ReadWriteOnce'],
      capacity: { storage: '2Gi' },
      volumeMode: 'Filesystem',
      claimRef: {
        apiVersion: 'v1',
        kind: 'PersistentVolumeClaim',
        namespace: 'default',
        name: 'data',
        uid: 'u',
        resourceVersion: '7',
      },
      csi: {
        driver: 'sim.storage',
        volumeHandle: 'pvc-u',
        volumeAttributes: { 'sim.storage/attach': '1s', 'sim.storage/mount': '2s' },
      },
      persistentVolumeReclaimPolicy: 'Delete',
      storageClassName: 'standard',
      mountOptions: ['ro'],
      nodeAffinity: {
        required: {
          nodeSelectorTerms: [{ matchExpressions: [{ key: ZONE, operator: 'In', values: ['a'] }] }],
        },
      },
    },
  })
})

test('a volume that is to be kept has no finalizer, and one of no place no affinity', () => {
  const volume = provisionedVolume(
    claim(),
    { ...standardClass, reclaimPolicy: 'Retain' },
    undefined,
  )
  assert.equal(volume.metadata?.finalizers, undefined)
  assert.equal(volume.spec?.nodeAffinity, undefined)
  assert.equal(volume.spec?.persistentVolumeReclaimPolicy, 'Retain')
})

const inZone = (name: string, zone: string) => node({ name, labels: { [ZONE]: zone } })
const nodes = [inZone('n1', 'b'), inZone('n2', 'a'), inZone('n3', 'a'), node({ name: 'n4' })]
const kind = (text: string) => claim('data', { 'sim.storage/topology': text })
const allowing = (...zones: readonly string[]): StorageClass => ({
  ...standardClass,
  allowedTopologies: [{ matchLabelExpressions: [{ key: ZONE, values: zones }] }],
})

test('a volume is made beside the node that was chosen', () => {
  const place = (own: PersistentVolumeClaim, at: number) =>
    segmentFor(own, standardClass, nodes[at], nodes)
  assert.deepEqual(place(claim(), 0), { key: ZONE, value: 'b' })
  assert.equal(place(claim(), 3), undefined, 'no zone')
  assert.deepEqual(place(kind('node'), 3), { key: HOSTNAME, value: 'n4' })
  assert.equal(place(kind('anywhere'), 0), undefined)
})

test('without a chosen node, claims of one set are spread over the allowed places', () => {
  const place = (name: string, storageClass = standardClass) =>
    segmentFor(claim(name), storageClass, undefined, nodes)?.value
  assert.deepEqual(
    ['data', 'data-0', 'data-1', 'data-2'].map((name) => place(name)),
    ['a', 'a', 'b', 'a'],
  )
  assert.equal(place('data-0', allowing('b', 'c')), 'b')
  assert.equal(place('data-0', allowing('c')), undefined)
  assert.equal(segmentFor(claim(), standardClass, undefined, [nodes[3]!]), undefined)
})

test('one of the terms of a class is enough, all that a term says must hold', () => {
  const place = (...terms: readonly (readonly (readonly [string, string])[])[]) =>
    segmentFor(
      claim(),
      {
        ...standardClass,
        allowedTopologies: terms.map((term) => ({
          matchLabelExpressions: term.map(([key, value]) => ({ key, values: [value] })),
        })),
      },
      undefined,
      nodes,
    )?.value
  assert.equal(place([[ZONE, 'c']], [[ZONE, 'b']]), 'b')
  assert.equal(
    place([
      [ZONE, 'b'],
      ['rack', '1'],
    ]),
    undefined,
  )
})

test('a node tells what it has of the driver', () => {
  const plain = node({ name: 'n' })
  const drivers = (labels: Record<string, string>) =>
    csiNode({ ...plain, metadata: { ...plain.metadata, uid: 'un', labels } }).spec?.drivers
  assert.deepEqual(drivers({}), [
    { name: 'sim.storage', nodeID: 'n', topologyKeys: [HOSTNAME], allocatable: { count: 128 } },
  ])
  assert.deepEqual(drivers({ [ZONE]: 'a' })?.[0]?.topologyKeys, [HOSTNAME, ZONE])
  assert.equal(csiNode(plain, 3).spec?.drivers[0]?.allocatable?.count, 3)
})
