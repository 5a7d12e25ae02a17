import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newControllerRef, resources } from '@gyropilot/api'
import type { Pod } from '@gyropilot/api'
import { fakeInformers } from '@gyropilot/runtime/testing'
import { aggregateErrors } from './aggregate-error.ts'
import { pod, replicaSet } from './fixtures.ts'
import { selectorQuery, selectsOrphan } from './label-selector.ts'
import {
  POD_CONTROLLER_INDEX,
  addControllerIndex,
  controllerIndexValues,
  controllerUidIndexValues,
  ownedAndOrphaned,
  ownedOnly,
  resolveController,
  sameController,
  sameLabels,
} from './ownership.ts'

const owner = replicaSet()

test('the index key of an owned pod is ns/kind/name/uid, that of an orphan the namespace', () => {
  assert.deepEqual(controllerIndexValues(pod({ owner })), ['ns/ReplicaSet/rs/rs-uid'])
  assert.deepEqual(controllerIndexValues(pod()), ['ns'])
})

test('objects without a controller are not in the index by its uid', () => {
  assert.deepEqual(controllerUidIndexValues(pod({ owner })), ['rs-uid'])
  assert.deepEqual(controllerUidIndexValues(pod()), [])
})

test('pods of an owner are those of its key and, to be adopted, the orphans of the namespace', () => {
  const other = replicaSet({ name: 'other' })
  const informer = fakeInformers([
    pod({ name: 'mine', owner }),
    pod({ name: 'orphan' }),
    pod({ name: 'theirs', owner: other }),
  ]).informer(resources.pods)
  addControllerIndex(informer, POD_CONTROLLER_INDEX)
  const names = (objects: readonly { metadata?: { name?: string } }[]) =>
    objects.map(({ metadata }) => metadata?.name).toSorted()
  assert.deepEqual(
    names(ownedAndOrphaned(informer.lister, POD_CONTROLLER_INDEX, owner, 'ReplicaSet')),
    ['mine', 'orphan'],
  )
  assert.deepEqual(names(ownedOnly(informer.lister, POD_CONTROLLER_INDEX, owner, 'ReplicaSet')), [
    'mine',
  ])
})

test('the lookup fails if namespace, name, uid or kind of the owner is empty', () => {
  const informer = fakeInformers().informer(resources.pods)
  addControllerIndex(informer, POD_CONTROLLER_INDEX)
  for (const broken of [{ uid: '' }, { name: '' }, { namespace: '' }]) {
    assert.throws(() =>
      ownedOnly(
        informer.lister,
        POD_CONTROLLER_INDEX,
        replicaSet({ metadata: broken }),
        'ReplicaSet',
      ),
    )
  }
  assert.throws(() => ownedOnly(informer.lister, POD_CONTROLLER_INDEX, owner, ''))
})

test('UID mismatch in owner resolution means "not mine" even if the name matches.', () => {
  const { lister } = fakeInformers([owner]).informer(resources.replicasets)
  const reference = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'rs', uid: 'rs-uid' }
  assert.equal(resolveController(lister, 'ReplicaSet', 'ns', reference), owner)
  assert.equal(
    resolveController(lister, 'ReplicaSet', 'ns', { ...reference, uid: 'old' }),
    undefined,
  )
  assert.equal(
    resolveController(lister, 'ReplicaSet', 'ns', { ...reference, kind: 'Job' }),
    undefined,
  )
  assert.equal(resolveController(lister, 'ReplicaSet', 'ns', undefined), undefined)
})

test('an orphan concerns owners whose selector is valid, not empty and matches; without labels it concerns nobody', () => {
  assert.ok(selectsOrphan({ matchLabels: { app: 'a' } }, pod()))
  assert.ok(!selectsOrphan({ matchLabels: { app: 'b' } }, pod()))
  assert.ok(!selectsOrphan({}, pod()))
  assert.ok(!selectsOrphan(undefined, pod()))
  assert.ok(!selectsOrphan({ matchExpressions: [{ key: 'app', operator: 'Nonsense' }] }, pod()))
  assert.ok(
    !selectsOrphan(
      { matchExpressions: [{ key: 'other', operator: 'DoesNotExist' }] },
      pod({ labels: {} }),
    ),
  )
})

const reference = { ...newControllerRef(owner, resources.replicasets) }
const controlled = (changed: object): Pod => ({
  metadata: { ownerReferences: [{ ...reference, ...changed }] },
})

test('a controller is the same in all of its reference, or absent on both sides', () => {
  assert.ok(sameController(controlled({}), controlled({})))
  assert.ok(sameController({}, {}))
  assert.ok(!sameController(controlled({}), {}))
  assert.ok(!sameController({}, controlled({})))
  for (const other of [
    { uid: 'u' },
    { name: 'n' },
    { kind: 'K' },
    { apiVersion: 'v' },
    { blockOwnerDeletion: false },
  ]) {
    assert.ok(!sameController(controlled({}), controlled(other)), JSON.stringify(other))
  }
})

test('labels are the same with the same names and values', () => {
  const labelled = (labels?: Record<string, string>): Pod => ({ metadata: { labels } })
  assert.ok(sameLabels(labelled({ a: '1', b: '2' }), labelled({ b: '2', a: '1' })))
  assert.ok(sameLabels(labelled(), {}))
  assert.ok(!sameLabels(labelled({ a: '1', b: '2' }), labelled({ a: '1', b: '3' })))
  assert.ok(!sameLabels(labelled({ a: '1' }), labelled({ a: '1', b: '2' })))
})

test('an absent selector accepts nothing; one is taken apart once', () => {
  for (const absent of [undefined, null as unknown as undefined])
    assert.ok(selectorQuery(absent).matchesNothing)
  const selector = { matchLabels: { app: 'a' } }
  assert.equal(selectorQuery(selector), selectorQuery(selector))
})

test('one error stays itself, several are listed, equal texts once', () => {
  const error = new Error('a')
  assert.equal(aggregateErrors([]), undefined)
  assert.equal(aggregateErrors([error]), error)
  assert.equal((aggregateErrors([error, new Error('b')]) as Error).message, '[a, b]')
  assert.equal((aggregateErrors([error, new Error('a')]) as Error).message, 'a')
})
