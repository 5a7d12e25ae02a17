import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { CSINode, PersistentVolume, Pod, VolumeAttachment } from '@gyropilot/api'
import { node } from '@gyropilot/api/testing'
import { boundClaim, claim, listersOf, podWith, provisioning, volume } from './fixtures.ts'
import type { Given } from './fixtures.ts'
import { NodeInfo } from '../node-info.ts'
import { snapshotOf } from '../snapshot.ts'
import { volumeFilters } from './volume-filters.ts'

function nodeWith(pods: readonly Pod[], labels: Record<string, string> = {}): NodeInfo {
  const info = new NodeInfo('n1')
  info.setNode(node({ name: 'n1', labels }))
  for (const pod of pods) info.addPod(pod)
  return info
}

function reasons(name: string, pod: Pod, info: NodeInfo, given: Given): readonly string[] {
  const found = volumeFilters(listersOf(given)).find((each) => each.name === name)!
  return found.filter(pod, snapshotOf([info]))?.(info) ?? []
}

test('filters are asked in the order of kube-scheduler, and two of them can be cured', () => {
  assert.deepEqual(
    volumeFilters(listersOf({})).map(({ name, curable }) => [name, curable]),
    [
      ['VolumeRestrictions', true],
      ['NodeVolumeLimits', true],
      ['VolumeBinding', false],
      ['VolumeZone', false],
    ],
  )
})

const IN_USE = [
  'node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod',
]
const exclusive = { claims: [claim('data', { accessModes: ['ReadWriteOncePod'] })] }
const shared = { claims: [claim('data')] }
const other = (uid: string, namespace = 'default'): Pod => ({
  ...podWith('data'),
  metadata: { name: uid, namespace, uid },
})
for (const [title, present, given, wanted] of [
  ['taken by another pod', [other('uid-2')], exclusive, IN_USE],
  ['the namesake of another namespace', [other('uid-2', 'shop')], exclusive, []],
  ['the pod itself', [podWith('data')], exclusive, []],
  ['a claim for many', [other('uid-2')], shared, []],
  ['nobody', [], exclusive, []],
] as const)
  test(`ReadWriteOncePod: ${title}`, () => {
    const pod = podWith('data')
    assert.deepEqual(reasons('VolumeRestrictions', pod, nodeWith(present), given), wanted)
  })

test('ReadWriteOncePod: one user on one node is enough, whatever else it uses', () => {
  const empty = new NodeInfo('n2')
  empty.setNode(node({ name: 'n2' }))
  const user = { ...podWith('other', 'data'), metadata: { ...other('uid-2').metadata } }
  const [restrictions] = volumeFilters(listersOf({ claims: [...exclusive.claims, claim('other')] }))
  const snapshot = snapshotOf([empty, nodeWith([user])])
  assert.deepEqual(restrictions?.filter(podWith('data'), snapshot)?.(empty), IN_USE)
})

const DRIVER = 'disk.example.com'
const csiVolume = (name: string, driver = DRIVER): PersistentVolume =>
  volume(name, { csi: { driver, volumeHandle: `handle-${name}` } })
const limit = (count?: number, name = DRIVER): readonly CSINode[] => [
  {
    metadata: { name: 'n1' },
    spec: {
      drivers: [{ name, nodeID: 'n1', ...(count === undefined ? {} : { allocatable: { count } }) }],
    },
  },
]
const attached = (volumeName: string, nodeName = 'n1'): VolumeAttachment => ({
  spec: { attacher: DRIVER, nodeName, source: { persistentVolumeName: volumeName } },
})
const world: Given = {
  claims: [boundClaim('a', 'va'), boundClaim('b', 'vb'), claim('c'), claim('d')],
  volumes: [csiVolume('va'), csiVolume('vb'), csiVolume('vx')],
  classes: [provisioning],
}
const neighbour = (...claims: readonly string[]): Pod => ({
  ...podWith(...claims),
  metadata: { name: 'neighbour', namespace: 'default', uid: 'uid-neighbour' },
})
const TOO_MANY = ['node(s) exceed max volume count']
for (const [title, wanted, pod, present, given] of [
  ['room for one more', [], podWith('a'), [neighbour('b')], { csiNodes: limit(2) }],
  ['full', TOO_MANY, podWith('a'), [neighbour('b')], { csiNodes: limit(1) }],
  ['two at once', TOO_MANY, podWith('a', 'b'), [], { csiNodes: limit(1) }],
  ['there already', [], podWith('b'), [neighbour('b')], { csiNodes: limit(1) }],
  [
    'full beyond measure, with nothing new',
    [],
    podWith('b'),
    [neighbour('b')],
    { csiNodes: limit(0) },
  ],
  ['to be made', TOO_MANY, podWith('c'), [neighbour('b')], { csiNodes: limit(1) }],
  ['to be made for another', TOO_MANY, podWith('c'), [neighbour('d')], { csiNodes: limit(1) }],
  ['to be made for both', [], podWith('c'), [neighbour('c')], { csiNodes: limit(1) }],
  [
    'attached without a pod',
    TOO_MANY,
    podWith('a'),
    [],
    { csiNodes: limit(1), attachments: [attached('vx')] },
  ],
  [
    'attached to another node',
    [],
    podWith('a'),
    [],
    { csiNodes: limit(1), attachments: [attached('vx', 'n2')] },
  ],
  [
    'attached and used is one',
    [],
    podWith('a'),
    [neighbour('b')],
    { csiNodes: limit(2), attachments: [attached('vb')] },
  ],
  ['another driver', [], podWith('a'), [neighbour('b')], { csiNodes: limit(1, 'other') }],
  ['no count', [], podWith('a'), [neighbour('b')], { csiNodes: limit() }],
  ['no CSINode', [], podWith('a'), [neighbour('b')], {}],
] as const)
  test(`limits: ${title}`, () => {
    const info = nodeWith(present)
    assert.deepEqual(reasons('NodeVolumeLimits', pod, info, { ...world, ...given }), wanted)
  })

const ZONE = 'topology.kubernetes.io/zone'
const REGION = 'topology.kubernetes.io/region'
const BETA_ZONE = 'failure-domain.beta.kubernetes.io/zone'
const NO_ZONE = ['node(s) had no available volume zone']
for (const [title, ofVolume, ofNode, wanted] of [
  ['the same', { [ZONE]: 'a' }, { [ZONE]: 'a' }, []],
  ['another', { [ZONE]: 'a' }, { [ZONE]: 'b' }, NO_ZONE],
  ['one of several', { [ZONE]: 'a__b' }, { [ZONE]: 'b' }, []],
  ['a node without zones', { [ZONE]: 'a' }, {}, []],
  ['a node with a region only', { [ZONE]: 'a' }, { [REGION]: 'r' }, NO_ZONE],
  ['another region', { [ZONE]: 'a', [REGION]: 'q' }, { [ZONE]: 'a', [REGION]: 'r' }, NO_ZONE],
  ['an old label of the volume', { [BETA_ZONE]: 'a' }, { [ZONE]: 'b' }, NO_ZONE],
  ['an old label of the node', { [ZONE]: 'a' }, { [BETA_ZONE]: 'a' }, []],
  ['a volume of no zone', {}, { [ZONE]: 'a' }, []],
] as const)
  test(`zones: ${title}`, () => {
    const volumes = [volume('disk', {}, { labels: ofVolume })]
    const given = { claims: [boundClaim('data', 'disk')], volumes }
    const info = nodeWith([], ofNode)
    assert.deepEqual(reasons('VolumeZone', podWith('data'), info, given), wanted)
  })
