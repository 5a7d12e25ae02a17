import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newControllerRef, resources } from '@gyropilot/api'
import type { OwnerReference, PersistentVolumeClaim } from '@gyropilot/api'
import {
  deletesWhenScaled,
  hasConflictingController,
  ownersAreRight,
  waitsForEarlierPod,
  withRightOwners,
} from './claim-owners.ts'
import { claim, retention, setPod, statefulSet } from './fixtures.ts'
import type { Retention } from './fixtures.ts'

const plain = statefulSet()
const ofSet = newControllerRef(plain, resources.statefulsets)
const inside = setPod(plain, 1)
const outside = setPod(plain, 2)
const refTo = {
  inside: newControllerRef(inside, resources.pods),
  outside: newControllerRef(outside, resources.pods),
}
const other: OwnerReference = { apiVersion: 'v1', kind: 'ConfigMap', name: 'c', uid: 'c-uid' }

const table: readonly [
  Retention,
  Retention,
  { inside: 'none' | 'set' | 'pod'; outside: 'none' | 'set' | 'pod' },
][] = [
  ['Retain', 'Retain', { inside: 'none', outside: 'none' }],
  ['Retain', 'Delete', { inside: 'set', outside: 'set' }],
  ['Delete', 'Retain', { inside: 'none', outside: 'pod' }],
  ['Delete', 'Delete', { inside: 'set', outside: 'pod' }],
]

test('Given each retention policy pair, then claim refs follow the table before and after scale down', () => {
  for (const [whenScaled, whenDeleted, wanted] of table) {
    const set = statefulSet({ spec: retention(whenScaled, whenDeleted) })
    for (const [place, pod] of [
      ['inside', inside],
      ['outside', outside],
    ] as const) {
      const own = { none: [], set: [ofSet], pod: [refTo[place]] }
      const right = own[wanted[place]]
      const title = `${whenScaled} ${whenDeleted} ${place}`
      for (const before of [[], [ofSet], [refTo[place]], [ofSet, refTo[place]]]) {
        const found = claim(set, 0, { ownerReferences: [other, ...before] })
        const isRight = before.length === right.length && before[0]?.uid === right[0]?.uid
        assert.equal(ownersAreRight(found, { set, pod }), isRight, title)
        const fixed = withRightOwners(found, { set, pod })
        assert.deepEqual(fixed.metadata?.ownerReferences, [other, ...right], title)
        assert.ok(ownersAreRight(fixed, { set, pod }), title)
      }
    }
  }
})

const set = statefulSet({ spec: retention('Delete', 'Delete') })
const stale = (reference: OwnerReference): OwnerReference => ({ ...reference, uid: 'before' })

test('a reference of ours that is no controller is written anew', () => {
  const { controller: _, ...weak } = ofSet
  const found = claim(set, 1, { ownerReferences: [weak] })
  assert.ok(!ownersAreRight(found, { set, pod: inside }))
  assert.deepEqual(withRightOwners(found, { set, pod: inside }).metadata?.ownerReferences, [ofSet])
  const weakPod = { ...refTo.outside, controller: false }
  const scaled = claim(set, 2, { ownerReferences: [weakPod] })
  assert.ok(!ownersAreRight(scaled, { set, pod: outside }))
  assert.deepEqual(withRightOwners(scaled, { set, pod: outside }).metadata?.ownerReferences, [
    refTo.outside,
  ])
})

test('a claim keeps all else when its references are written', () => {
  const found: PersistentVolumeClaim = {
    ...claim(set, 1, { labels: { a: 'b' } }),
    spec: { accessModes: ['ReadWriteOnce'], volumeName: 'v' },
    status: { phase: 'Bound' },
  }
  assert.deepEqual(withRightOwners(found, { set, pod: inside }), {
    ...found,
    metadata: { ...found.metadata, ownerReferences: [ofSet] },
  })
})

test('a namesake of the set or of the pod with another uid: the claim is left alone', () => {
  for (const before of [[stale(ofSet)], [ofSet, stale(refTo.inside)]]) {
    const found = claim(set, 1, { ownerReferences: before })
    assert.ok(ownersAreRight(found, { set, pod: inside }))
    assert.ok(hasConflictingController(found, { set, pod: inside }))
  }
})

test('a reference to another kind, name or version is none of ours', () => {
  for (const change of [{ kind: 'DaemonSet' }, { name: 'other' }, { apiVersion: 'apps/v1beta1' }]) {
    const found = claim(set, 1, { ownerReferences: [{ ...ofSet, ...change, controller: false }] })
    assert.ok(!ownersAreRight(found, { set, pod: inside }))
    assert.equal(withRightOwners(found, { set, pod: inside }).metadata?.ownerReferences?.length, 2)
  }
})

const controlled = { ...other, controller: true }

test('Given another controller on the claim, then the policy is ignored for it', () => {
  const alone = claim(set, 1, { ownerReferences: [controlled] })
  assert.ok(hasConflictingController(alone, { set, pod: inside }))
  assert.ok(ownersAreRight(alone, { set, pod: inside }))
  const both = claim(set, 1, { ownerReferences: [controlled, ofSet] })
  assert.ok(!ownersAreRight(both, { set, pod: inside }))
  assert.deepEqual(withRightOwners(both, { set, pod: inside }).metadata?.ownerReferences, [
    controlled,
  ])
})

test('where nothing is ever deleted another controller is nobody’s business', () => {
  const keeps = statefulSet({ spec: retention('Retain', 'Retain') })
  const found = claim(keeps, 1, { ownerReferences: [controlled] })
  assert.ok(!hasConflictingController(found, { set: keeps, pod: inside }))
  assert.ok(
    !hasConflictingController(claim(keeps, 1, { ownerReferences: [stale(ofSet)] }), {
      set: keeps,
      pod: inside,
    }),
  )
  assert.ok(ownersAreRight(found, { set: keeps, pod: inside }))
  for (const policy of [retention('Retain', 'Delete'), retention('Delete', 'Retain')]) {
    const deletes = statefulSet({ spec: policy })
    assert.ok(hasConflictingController(found, { set: deletes, pod: inside }))
  }
})

test('own references that are right are no conflict', () => {
  const found = claim(set, 1, { ownerReferences: [ofSet, refTo.inside, other] })
  assert.ok(!hasConflictingController(found, { set, pod: inside }))
})

test('a claim waits for an earlier pod of the name, not for this one', () => {
  const unborn = { metadata: { name: 'db-2', namespace: 'ns' } }
  const found = claim(set, 2, { ownerReferences: [refTo.outside] })
  assert.ok(waitsForEarlierPod(found, unborn))
  assert.ok(!waitsForEarlierPod(found, outside))
  assert.ok(!waitsForEarlierPod(claim(set, 2, { ownerReferences: [ofSet] }), unborn))
  assert.ok(!waitsForEarlierPod(claim(set, 2), unborn))
})

test('anything but Delete is Retain, also nothing at all', () => {
  assert.ok(deletesWhenScaled(set))
  assert.ok(!deletesWhenScaled(plain))
  assert.ok(!deletesWhenScaled(statefulSet({ spec: retention('Retain', 'Delete') })))
})
