import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { CSIStorageCapacity, PersistentVolume } from '@gyropilot/api'
import { node } from '@gyropilot/api/testing'
import {
  boundClaim,
  claim,
  later,
  listersOf,
  onZone,
  podWith,
  provisioning,
  volume,
} from './fixtures.ts'
import type { Given } from './fixtures.ts'
import { NodeInfo } from '../node-info.ts'
import { planFor, podVolumes, volumeBindingFilter } from './volume-plan.ts'

const here = node({ name: 'n1', labels: { zone: 'a' } })
const ELSEWHERE = "node(s) didn't match PersistentVolume's node affinity"
const GONE = 'node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)'
const NONE_TO_BIND = "node(s) didn't find available persistent volumes to bind"
const NO_ROOM = 'node(s) did not have enough free storage'

function plan(given: Given, ...claims: readonly string[]) {
  const listers = listersOf(given)
  const { reasons, plan: found } = planFor(podVolumes(podWith(...claims), listers), here, listers)
  return {
    reasons,
    bindings: found.bindings.map(
      (each) => `${each.claim.metadata?.name} ${each.volume.metadata?.name}`,
    ),
    provisions: found.provisions.map(({ metadata }) => metadata?.name),
  }
}

test('bound: PV node affinity must match, and the PV must exist', () => {
  const claims = [boundClaim('data', 'disk')]
  const reasons = (...volumes: readonly PersistentVolume[]) =>
    plan({ claims, volumes }, 'data').reasons
  assert.deepEqual(reasons(volume('disk', onZone('a'))), [])
  assert.deepEqual(reasons(volume('disk')), [])
  assert.deepEqual(reasons(volume('disk', onZone('b'))), [ELSEWHERE])
  assert.deepEqual(reasons(), [GONE])
})

test('each node is judged by its own labels, and a pod without claims goes anywhere', () => {
  const listers = listersOf({
    claims: [boundClaim('data', 'disk')],
    volumes: [volume('disk', onZone('a'))],
  })
  const filter = volumeBindingFilter(podWith('data'), listers)!
  const info = (zone: string): NodeInfo => {
    const found = new NodeInfo('n')
    found.setNode(node({ name: 'n', labels: { zone } }))
    return found
  }
  assert.deepEqual(filter(info('a')), [])
  assert.deepEqual(filter(info('b')), [ELSEWHERE])
  assert.equal(volumeBindingFilter(podWith(), listers), undefined)
})

test('one term of the affinity is enough', () => {
  const terms = ['b', 'a'].map((zone) => ({
    matchExpressions: [{ key: 'zone', operator: 'In', values: [zone] }] as const,
  }))
  const both = { nodeAffinity: { required: { nodeSelectorTerms: terms } } }
  const given = { claims: [boundClaim('data', 'disk')], volumes: [volume('disk', both)] }
  assert.deepEqual(plan(given, 'data').reasons, [])
})

test('a volume has all modes that are asked for', () => {
  const accessModes = ['ReadWriteOnce', 'ReadOnlyMany'] as const
  const given = { claims: [claim('data', { accessModes })], classes: [later()] }
  const bindings = (modes: typeof accessModes | readonly ['ReadWriteOnce']) =>
    plan({ ...given, volumes: [volume('v', { accessModes: modes })] }, 'data').bindings
  assert.deepEqual(bindings(['ReadWriteOnce']), [])
  assert.deepEqual(bindings(accessModes), ['data v'])
})

const STATIC: readonly (readonly [string, readonly PersistentVolume[], string | undefined])[] = [
  [
    'the smallest that fits',
    [
      volume('big', { capacity: { storage: '3Gi' } }),
      volume('small', { capacity: { storage: '500Mi' } }),
      volume('right', { capacity: { storage: '2Gi' } }),
    ],
    'right',
  ],
  ['the first by name among equals', [volume('b'), volume('a')], 'a'],
  ['not one of another class', [volume('v', { storageClassName: 'other' })], undefined],
  ['not one with fewer modes', [volume('v', { accessModes: ['ReadOnlyMany'] })], undefined],
  ['one with more modes', [volume('v', { accessModes: ['ReadWriteMany', 'ReadWriteOnce'] })], 'v'],
  ['not a raw device', [volume('v', { volumeMode: 'Block' })], undefined],
  ['not one elsewhere', [volume('v', onZone('b'))], undefined],
  ['one that is here', [volume('v', onZone('a'))], 'v'],
  ['not one that is going', [volume('v', {}, { deletionTimestamp: 'now' })], undefined],
  ['not one in another phase', [{ ...volume('v'), status: { phase: 'Released' } }], undefined],
  [
    'not one of another claim',
    [volume('v', { claimRef: { namespace: 'default', name: 'data', uid: 'uid-other' } })],
    undefined,
  ],
  [
    'one that is kept for it, before smaller ones and in any phase',
    [
      volume('small'),
      {
        ...volume('kept', {
          capacity: { storage: '9Gi' },
          claimRef: { namespace: 'default', name: 'data' },
        }),
        status: { phase: 'Pending' },
      },
    ],
    'kept',
  ],
]
for (const [title, volumes, wanted] of STATIC)
  test(`unbound, WaitForFirstConsumer: ${title}`, () => {
    const found = plan({ claims: [claim('data')], classes: [later()], volumes }, 'data')
    assert.deepEqual(found.bindings, wanted === undefined ? [] : [`data ${wanted}`])
    assert.deepEqual(found.reasons, wanted === undefined ? [NONE_TO_BIND] : [])
  })

test('a selector chooses', () => {
  const selector = { matchLabels: { kind: 'fast' } }
  const volumes = [volume('a'), volume('b', {}, { labels: { kind: 'fast' } })]
  const claims = [claim('data', { selector })]
  assert.deepEqual(plan({ claims, classes: [later()], volumes }, 'data').bindings, ['data b'])
})

test('two claims of a pod do not get one volume, and the small one leaves the large one to the other', () => {
  const claims = [claim('large', { resources: { requests: { storage: '2Gi' } } }), claim('small')]
  const volumes = [volume('v1', { capacity: { storage: '2Gi' } }), volume('v2')]
  const classes = [later()]
  assert.deepEqual(plan({ claims, classes, volumes }, 'large', 'small').bindings, [
    'small v2',
    'large v1',
  ])
  assert.deepEqual(plan({ claims, classes, volumes: [volumes[0]!] }, 'large', 'small').reasons, [
    NONE_TO_BIND,
  ])
})

const PROVISIONED: readonly (readonly [string, Given, readonly string[]])[] = [
  ['a class with a provisioner', { classes: [provisioning] }, []],
  ['a class without one', { classes: [later()] }, [NONE_TO_BIND]],
  [
    'topologies of the class that have the node',
    {
      classes: [
        {
          ...provisioning,
          allowedTopologies: [
            { matchLabelExpressions: [{ key: 'zone', values: ['z'] }] },
            { matchLabelExpressions: [{ key: 'zone', values: ['b', 'a'] }] },
          ],
        },
      ],
    },
    [],
  ],
  [
    'topologies of the class that do not have it',
    {
      classes: [
        {
          ...provisioning,
          allowedTopologies: [
            {
              matchLabelExpressions: [
                { key: 'zone', values: ['a'] },
                { key: 'rack', values: ['1'] },
              ],
            },
          ],
        },
      ],
    },
    [NONE_TO_BIND],
  ],
]
for (const [title, given, wanted] of PROVISIONED)
  test(`a volume is made: ${title}`, () => {
    const found = plan({ claims: [claim('data')], ...given }, 'data')
    assert.deepEqual(found.reasons, wanted)
    assert.deepEqual(found.provisions, wanted.length === 0 ? ['data'] : [])
  })

test('a volume that is there goes before one that is to be made', () => {
  const given = { claims: [claim('data')], classes: [provisioning], volumes: [volume('v')] }
  assert.deepEqual(plan(given, 'data'), { reasons: [], bindings: ['data v'], provisions: [] })
})

test('a node that was chosen for a claim is the only one, and a volume is made there', () => {
  const selected = (name: string) => {
    const annotations = { 'volume.kubernetes.io/selected-node': name }
    const claims = [claim('data', {}, { annotations })]
    return plan({ claims, classes: [provisioning], volumes: [volume('v')] }, 'data')
  }
  assert.deepEqual(selected('n1'), { reasons: [], bindings: [], provisions: ['data'] })
  assert.deepEqual(selected('n2').reasons, [NONE_TO_BIND])
})

const drivers = [{ metadata: { name: 'disk.example.com' }, spec: { storageCapacity: true } }]
const capacity = (given: Partial<CSIStorageCapacity>): CSIStorageCapacity => ({
  storageClassName: 'later',
  nodeTopology: {},
  capacity: '2Gi',
  ...given,
})
const CAPACITIES: readonly (readonly [string, readonly CSIStorageCapacity[], boolean])[] = [
  ['nothing is known', [], false],
  ['enough everywhere', [capacity({})], true],
  ['just enough', [capacity({ capacity: '1Gi' })], true],
  ['too little', [capacity({ capacity: '500Mi' })], false],
  ['enough in all, not for one volume', [capacity({ maximumVolumeSize: '500Mi' })], false],
  ['enough for one volume', [capacity({ capacity: '0', maximumVolumeSize: '1Gi' })], true],
  ['of another class', [capacity({ storageClassName: 'other' })], false],
  ['here', [capacity({ nodeTopology: { matchLabels: { zone: 'a' } } })], true],
  ['elsewhere', [capacity({ nodeTopology: { matchLabels: { zone: 'b' } } })], false],
  ['nowhere', [capacity({ nodeTopology: undefined })], false],
]
for (const [title, capacities, fits] of CAPACITIES)
  test(`a driver that tells how much room it has: ${title}`, () => {
    const given = { claims: [claim('data')], classes: [provisioning], drivers, capacities }
    assert.deepEqual(plan(given, 'data').reasons, fits ? [] : [NO_ROOM])
    const silent = [{ metadata: { name: 'disk.example.com' }, spec: {} }]
    assert.deepEqual(plan({ ...given, drivers: silent }, 'data').reasons, [])
  })

test('several reasons on one node count each', () => {
  const given = {
    claims: [boundClaim('a', 'disk'), claim('b')],
    classes: [later()],
    volumes: [volume('disk', { ...onZone('b'), storageClassName: '' })],
  }
  assert.deepEqual(plan(given, 'a', 'b').reasons, [ELSEWHERE, NONE_TO_BIND])
})
