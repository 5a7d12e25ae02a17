import assert from 'node:assert/strict'
import { test } from 'node:test'
import type {
  PersistentVolume,
  PersistentVolumeClaim,
  PersistentVolumeSpec,
  Pod,
  Volume,
} from '@gyropilot/api'
import {
  allowsMultiAttach,
  isAttachable,
  qualifiedPluginName,
  specOfPodVolume,
  specOfVolume,
} from './volume-spec.ts'

const pod: Pod = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { namespace: 'ns', name: 'p', uid: 'pod-uid' },
}
const CLAIMED: Volume = { name: 'v', persistentVolumeClaim: { claimName: 'data' } }
const CSI = { csi: { driver: 'example.com', volumeHandle: 'h' } }
const OWNER = { apiVersion: 'v1', kind: 'Pod', name: 'p', uid: 'pod-uid', controller: true }

function claim(name = 'data', more: Partial<PersistentVolumeClaim> = {}): PersistentVolumeClaim {
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { namespace: 'ns', name, uid: 'claim-uid' },
    spec: { volumeName: 'pv' },
    status: { phase: 'Bound' },
    ...more,
  }
}

function volume(spec: PersistentVolumeSpec = CSI, uid = 'claim-uid'): PersistentVolume {
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: { name: 'pv' },
    spec: {
      accessModes: ['ReadWriteOnce'],
      claimRef: { namespace: 'ns', name: 'data', uid },
      ...spec,
    },
  }
}

function resolve(given: { claim?: PersistentVolumeClaim; volume?: PersistentVolume; of?: Volume }) {
  return specOfPodVolume(pod, given.of ?? CLAIMED, {
    claimNamed: (namespace, name) =>
      namespace === 'ns' && given.claim?.metadata?.name === name ? given.claim : undefined,
    volumeNamed: (name) => (name === 'pv' ? given.volume : undefined),
  })
}

test('a claim that is bound is the volume behind it', () => {
  assert.deepEqual(resolve({ claim: claim(), volume: volume() }), {
    name: 'pv',
    plugin: 'kubernetes.io/csi',
    uniqueName: 'kubernetes.io/csi/example.com^h',
    csi: { driver: 'example.com', handle: 'h' },
    source: { persistentVolumeName: 'pv' },
    accessModes: ['ReadWriteOnce'],
    isMigrated: false,
  })
})

const UNRESOLVED: readonly (readonly [string, Parameters<typeof resolve>[0], RegExp])[] = [
  ['no claim', { volume: volume() }, /claim "data" not found/],
  ['a claim that waits', { claim: claim('data', { status: { phase: 'Pending' } }) }, /not bound/],
  ['a claim without a volume', { claim: claim('data', { spec: {} }) }, /not bound/],
  ['no volume', { claim: claim() }, /volume "pv" not found/],
  [
    'a volume of another claim',
    { claim: claim(), volume: volume(CSI, 'x') },
    /not bound to PVC ns\/data/,
  ],
  [
    'an ephemeral claim of somebody else',
    { claim: claim('p-v'), volume: volume(), of: { name: 'v', ephemeral: {} } },
    /PVC ns\/p-v was not created for pod ns\/p/,
  ],
]

for (const [what, given, expected] of UNRESOLVED)
  test(`${what} is waited for`, () => void assert.throws(() => resolve(given), expected))

test('an ephemeral volume is that of its own claim', () => {
  const metadata = { namespace: 'ns', name: 'p-v', uid: 'claim-uid', ownerReferences: [OWNER] }
  const own = claim('p-v', { metadata })
  const found = resolve({ claim: own, volume: volume(), of: { name: 'v', ephemeral: {} } })
  assert.equal(found?.name, 'pv')
})

const UNIQUE: readonly (readonly [PersistentVolumeSpec, string, string])[] = [
  [CSI, 'kubernetes.io/csi/example.com^h', 'kubernetes.io/csi:example.com'],
  [
    { iscsi: { targetPortal: '192.0.2.1:3260', iqn: 'iqn.x', lun: 0 } },
    'kubernetes.io/iscsi/192.0.2.1:3260:iqn.x:0',
    'kubernetes.io/iscsi',
  ],
  [{ fc: { targetWWNs: ['w1', 'w2'], lun: 2 } }, 'kubernetes.io/fc/[w1 w2]:2', 'kubernetes.io/fc'],
  [{ fc: { wwids: ['i1'] } }, 'kubernetes.io/fc/[i1]', 'kubernetes.io/fc'],
  [
    { cinder: { volumeID: 'cv' } },
    'kubernetes.io/csi/cinder.csi.openstack.org^cv',
    'kubernetes.io/csi:cinder.csi.openstack.org',
  ],
]

for (const [source, uniqueName, plugin] of UNIQUE) {
  test(`${JSON.stringify(source)} is ${uniqueName}`, () => {
    const spec = specOfVolume(volume(source))!
    assert.equal(spec.uniqueName, uniqueName)
    assert.equal(qualifiedPluginName(spec), plugin)
    assert.equal(spec.isMigrated, 'cinder' in source)
  })
}

test('volumes of other plugins are nobody’s', () => {
  assert.equal(specOfVolume(volume({ nfs: { server: 's', path: '/' } })), undefined)
  for (const of of [
    { name: 'v', emptyDir: {} },
    { name: 'v', csi: { driver: 'example.com' } },
  ])
    assert.equal(resolve({ of }), undefined)
})

test('inline volumes of plugins in the tree are their pods’ own, or a driver’s', () => {
  const iscsi = { targetPortal: 't', iqn: 'i', lun: 1 }
  assert.deepEqual(resolve({ of: { name: 'v', iscsi } }), {
    name: 'v',
    plugin: 'kubernetes.io/iscsi',
    uniqueName: 'kubernetes.io/iscsi/t:i:1',
    source: {},
    isMigrated: false,
  })
  const moved = resolve({ of: { name: 'v', cinder: { volumeID: 'cv' } } })
  assert.equal(moved?.name, 'cinder.csi.openstack.org-cv')
  assert.equal(moved.isMigrated, true)
  assert.deepEqual(moved.accessModes, ['ReadWriteOnce'])
  assert.equal(moved.source.inlineVolumeSpec?.csi?.volumeHandle, 'cv')
})

test('only a driver that says so needs no attaching', () => {
  const spec = specOfVolume(volume())!
  const driver = (attachRequired?: boolean) => () => ({ spec: { attachRequired } })
  assert.equal(
    isAttachable(spec, () => undefined),
    true,
  )
  assert.equal(isAttachable(spec, driver()), true)
  assert.equal(isAttachable(spec, driver(true)), true)
  assert.equal(isAttachable(spec, driver(false)), false)
  const tree = specOfVolume(volume({ fc: { wwids: ['i'] } }))!
  assert.equal(isAttachable(tree, driver(false)), true)
})

const MODES: readonly (readonly [string, readonly string[] | undefined, boolean])[] = [
  ['for one node', ['ReadWriteOnce'], false],
  ['for one pod', ['ReadWriteOncePod'], false],
  ['for many writers', ['ReadWriteMany'], true],
  ['for many readers', ['ReadWriteOnce', 'ReadOnlyMany'], true],
  ['without modes', [], true],
]

for (const [what, modes, expected] of MODES) {
  test(`a volume ${what}: ${expected ? 'several nodes' : 'one node'}`, () => {
    const accessModes = modes as NonNullable<PersistentVolumeSpec['accessModes']>
    assert.equal(allowsMultiAttach(specOfVolume(volume({ ...CSI, accessModes }))), expected)
  })
}

test('several nodes may have what nobody knows, and inline volumes of plugins in the tree', () => {
  assert.equal(allowsMultiAttach(undefined), true)
  assert.equal(allowsMultiAttach(resolve({ of: { name: 'v', fc: { wwids: ['i'] } } })), true)
})
