import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KubernetesObject, PersistentVolumeClaim } from '@gyropilot/api'
import { refused } from '../../workload-support/fixtures.ts'
import { reserve, take } from '../bind.ts'
import {
  BOUND_ALL,
  CHOSEN,
  COMPLETED,
  WAITS,
  WITH_CLASS,
  boundPair,
  checkClaims,
  claim,
  volume,
  world,
} from '../fixtures.ts'
import type { SyncOptions } from '../fixtures.ts'

type AccessModes = NonNullable<NonNullable<PersistentVolumeClaim['spec']>['accessModes']>

checkClaims('Given matching, missing, smaller, pre-bound, selected PVs, then binding as defined.', [
  { title: 'a matching one', objects: [volume(), claim()], done: BOUND_ALL },
  { title: 'none', objects: [claim()], done: [], told: [WAITS] },
  {
    title: 'a claim that was Lost is Pending again',
    objects: [claim('c', { phase: 'Lost' })],
    done: ['claim c is Pending'],
    told: [WAITS],
  },
  {
    title: 'one that is too small',
    objects: [volume('v', { size: '1023Mi' }), claim()],
    done: [],
    told: [WAITS],
  },
  {
    title: 'pre-bound by name',
    objects: [
      volume('a'),
      volume('v', { claimUid: '', size: '9Gi', phase: 'Pending', ...WITH_CLASS }),
      claim(),
    ],
    done: BOUND_ALL,
  },
  {
    title: 'pre-bound by uid',
    objects: [volume('a'), volume('v', { claimUid: 'c-uid' }), claim()],
    done: BOUND_ALL.slice(1),
  },
  {
    title: 'pre-bound to an earlier claim of the name',
    objects: [volume('v', { claimUid: 'old-uid' }), claim()],
    done: [],
    told: [WAITS],
  },
  {
    title: 'pre-bound and too small',
    objects: [volume('v', { claimUid: '', size: '1Mi' }), claim()],
    done: [],
    told: [WAITS],
  },
  {
    title: 'pre-bound and being deleted',
    objects: [volume('v', { claimUid: '', deleting: true }), claim()],
    done: [],
    told: [WAITS],
  },
  {
    title: 'a free one of exactly its modes beats a pre-bound one of more',
    objects: [
      volume(),
      volume('rich', { claimUid: '', spec: { accessModes: ['ReadWriteOnce', 'ReadOnlyMany'] } }),
      claim(),
    ],
    done: BOUND_ALL,
  },
  {
    title: 'one with more modes will do',
    objects: [volume('v', { spec: { accessModes: ['ReadWriteOnce', 'ReadOnlyMany'] } }), claim()],
    done: BOUND_ALL,
  },
  {
    title: 'one without the mode will not',
    objects: [volume('v', { spec: { accessModes: ['ReadOnlyMany'] } }), claim()],
    done: [],
    told: [WAITS],
  },
  {
    title: 'selected by labels',
    objects: [
      volume('a'),
      volume('v', { labels: { disk: 'fast' } }),
      claim('c', { spec: { selector: { matchLabels: { disk: 'fast' } } } }),
    ],
    done: BOUND_ALL,
  },
  {
    title: 'one that was never Available',
    objects: [volume('v', { phase: 'Released' }), claim()],
    done: [],
    told: [WAITS],
  },
  {
    title: 'one that is being deleted',
    objects: [volume('v', { deleting: true }), claim()],
    done: [],
    told: [WAITS],
  },
  {
    title: 'another attributes class',
    objects: [volume('v', { spec: { volumeAttributesClassName: 'gold' } }), claim()],
    done: [],
    told: [WAITS],
  },
])

test('Given many PVs and one claim, then the smallest fitting one.', () => {
  const volumes = ['7Gi', '500Mi', '3Gi', '1536Mi', '3Gi'].map((size, index) =>
    volume(`v${index}`, { size }),
  )
  const synced = world([
    ...volumes,
    claim('c', { spec: { resources: { requests: { storage: '1.2Gi' } } } }),
  ]).syncClaim()
  assert.equal(synced?.done[0], 'volume v3: claim c-uid')
  const tied = world([volume('b'), volume('a'), claim()]).syncClaim()
  assert.equal(tied?.done[0], 'volume a: claim c-uid')
  const inOrder = world([volume('a'), volume('b'), claim()]).syncClaim()
  assert.equal(inOrder?.done[0], 'volume a: claim c-uid')
})

test('of volumes with more modes than asked for those with fewest are taken, and all that are asked for count', () => {
  const offering = (name: string, ...accessModes: AccessModes) =>
    volume(name, { spec: { accessModes } })
  const chosen = (asked: AccessModes, ...volumes: readonly KubernetesObject[]) =>
    world([...volumes, claim('c', { spec: { accessModes: asked } })]).syncClaim()?.done[0]
  const three = offering('three', 'ReadOnlyMany', 'ReadWriteMany', 'ReadWriteOnce')
  const two = offering('two', 'ReadWriteOnce', 'ReadWriteOncePod')
  const readable = offering('readable', 'ReadWriteOnce', 'ReadOnlyMany')
  assert.equal(chosen(['ReadWriteOnce'], three, two), 'volume two: claim c-uid')
  assert.equal(chosen(['ReadWriteOnce'], two, three), 'volume two: claim c-uid')
  assert.equal(chosen(['ReadWriteOnce'], three, two, readable), 'volume readable: claim c-uid')
  assert.equal(chosen(['ReadWriteOnce', 'ReadOnlyMany'], volume(), two), undefined)
})

test('a claim that could not be written is tried again', () => {
  const annotations = { 'volume.kubernetes.io/storage-provisioner': 'kubernetes.io/cinder' }
  for (const object of [claim('c', { annotations }), claim('c', { phase: 'Lost' })]) {
    const onWrite = () => refused(500, 'InternalError')
    const synced = world([object], { onWrite }).syncClaim()
    assert.deepEqual([synced?.done.length, synced?.error], [1, 'InternalError'])
  }
})

test('Given crashes after each write, then binding completes.', () => {
  const free = volume()
  const fresh = claim()
  const reserved = reserve(free, fresh)
  const told = { ...reserved, status: { phase: 'Bound' } } as const
  const taken = take(fresh, told)
  const cases: readonly (readonly [KubernetesObject, KubernetesObject, number])[] = [
    [free, fresh, 0],
    [reserved, fresh, 1],
    [told, fresh, 2],
    [told, taken, 3],
    [...boundPair(), 4],
  ]
  for (const [a, b, made] of cases)
    assert.deepEqual(world([a, b]).syncClaim()?.done, BOUND_ALL.slice(made))
})

test('the first write that is refused is the last', () => {
  for (const index of [0, 1, 2, 3]) {
    const onWrite: SyncOptions['onWrite'] = (_, at) =>
      at === index ? refused(409, 'Conflict') : undefined
    const synced = world([volume(), claim()], { onWrite }).syncClaim()
    assert.deepEqual([synced?.done, synced?.error], [BOUND_ALL.slice(0, index + 1), 'Conflict'])
  }
})

test('marks count by being there: what somebody wrote into them stays', () => {
  const mine = { 'pv.kubernetes.io/bound-by-controller': 'mine' }
  const [reserving, , taking] =
    world([volume('v', { annotations: mine }), claim('c', { annotations: mine })]).syncClaim()
      ?.writes ?? []
  assert.ok(reserving?.verb === 'update' && taking?.verb === 'update')
  assert.deepEqual(reserving.object.metadata?.annotations, mine)
  assert.deepEqual(taking.object.metadata?.annotations, { ...mine, ...COMPLETED })
  const completed = { ...mine, 'pv.kubernetes.io/bind-completed': '' }
  assert.deepEqual(
    take(claim('c', { annotations: completed }), volume()).metadata?.annotations,
    completed,
  )
})

test('what binding writes: the full reference, who chose, and the status of the volume', () => {
  const annotated = { 'volume.alpha.kubernetes.io/pre-resize-capacity': '512Mi' }
  const spec = { volumeAttributesClassName: 'gold' }
  const synced = world([
    volume('v', { annotations: annotated, spec }),
    claim('c', { spec }),
  ]).syncClaim()
  const objects = synced?.writes.map((write) =>
    'object' in write ? write.object : {},
  ) as PersistentVolumeClaim[]
  const { spec: reserved, metadata } = objects[0] as unknown as ReturnType<typeof volume>
  assert.deepEqual(reserved?.claimRef, {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    namespace: 'ns',
    name: 'c',
    uid: 'c-uid',
    resourceVersion: '10',
  })
  assert.deepEqual(metadata?.annotations, { ...annotated, ...CHOSEN })
  assert.deepEqual(objects[2]?.metadata?.annotations, { ...CHOSEN, ...COMPLETED })
  assert.deepEqual(objects[3]?.status, {
    phase: 'Bound',
    accessModes: ['ReadWriteOnce'],
    capacity: { storage: '512Mi' },
    currentVolumeAttributesClassName: 'gold',
  })
})

test('a partner that was named is not said to be chosen', () => {
  const synced = world([volume('v', { claimUid: '' }), claim('c', { volumeName: 'v' })]).syncClaim()
  const objects = synced?.writes.map((write) =>
    'object' in write ? write.object : {},
  ) as KubernetesObject[]
  assert.equal(objects[0]?.metadata?.annotations, undefined)
  assert.deepEqual(objects[2]?.metadata?.annotations, COMPLETED)
})

const mismatch = (reason: string) => [
  `VolumeMismatch: Cannot bind to requested volume "v": ${reason}`,
]
const TAKEN = { claimRef: { namespace: 'ns', name: 'other', uid: 'other-uid' } }
const asks = (more: Parameters<typeof claim>[1] = {}) => claim('c', { volumeName: 'v', ...more })

checkClaims(
  'Given volumeName to missing, free, pre-bound, taken, too small, wrong class or attributes class PVs, then Pending, bind, or event.',
  [
    { title: 'missing', objects: [asks()], done: [] },
    {
      title: 'missing, phase not yet said',
      objects: [asks({ phase: 'Lost' })],
      done: ['claim c is Pending'],
    },
    { title: 'free', objects: [volume(), asks()], done: BOUND_ALL },
    {
      title: 'free, selector and phase do not matter',
      objects: [
        volume('v', { phase: 'Pending' }),
        asks({ spec: { selector: { matchLabels: { a: 'b' } } } }),
      ],
      done: BOUND_ALL,
    },
    {
      title: 'pre-bound by name, whatever its class and size',
      objects: [volume('v', { claimUid: '', size: '1Mi', ...WITH_CLASS }), asks()],
      done: BOUND_ALL,
    },
    {
      title: 'pre-bound by uid',
      objects: [volume('v', { claimUid: 'c-uid' }), asks()],
      done: BOUND_ALL.slice(1),
    },
    {
      title: 'taken, named by the user',
      objects: [volume('v', TAKEN), asks()],
      done: [],
      told: ['FailedBinding: volume "v" already bound to a different claim.'],
    },
    {
      title: 'taken, chosen by the controller',
      objects: [volume('v', TAKEN), asks({ annotations: CHOSEN })],
      done: [],
      told: ['FailedBinding: volume "v" already bound to a different claim.'],
      error: 'invalid binding of claim ns/c: volume "v" already bound to a different claim.',
    },
    {
      title: 'being deleted is said before all else',
      objects: [volume('v', { deleting: true, size: '1Mi' }), asks()],
      done: [],
      told: mismatch('the volume is marked for deletion "v"'),
    },
    {
      title: 'too small',
      objects: [volume('v', { size: '1Mi', ...WITH_CLASS }), asks()],
      done: [],
      told: mismatch('requested PV is too small'),
    },
    {
      title: 'wrong class',
      objects: [
        volume('v', { spec: { storageClassName: 'fast', volumeAttributesClassName: 'gold' } }),
        asks(),
      ],
      done: [],
      told: mismatch('storageClassName does not match'),
    },
    {
      title: 'wrong attributes class',
      objects: [
        volume('v', { spec: { volumeAttributesClassName: 'gold', volumeMode: 'Block' } }),
        asks(),
      ],
      done: [],
      told: mismatch('volumeAttributesClassName does not match'),
    },
    {
      title: 'wrong mode',
      objects: [volume('v', { spec: { accessModes: [], volumeMode: 'Block' } }), asks()],
      done: [],
      told: mismatch('incompatible volumeMode'),
    },
    {
      title: 'wrong access mode',
      objects: [volume('v', { spec: { accessModes: ['ReadOnlyMany'] } }), asks()],
      done: [],
      told: mismatch('incompatible accessMode'),
    },
  ],
)
