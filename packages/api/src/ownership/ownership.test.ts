import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hasFinalizer, isTerminating, withFinalizer, withoutFinalizer } from './finalizers.ts'
import { resources } from '../generated/resource-types.ts'
import {
  controllerOf,
  isControlledBy,
  isOwnedBy,
  newControllerRef,
  withOwnerReference,
  withoutOwnerReference,
} from './owner-references.ts'

const owner = { metadata: { name: 'o', uid: 'u1' } }
const reference = newControllerRef(owner, resources.deployments)

test('a controller reference names kind, version and UID and blocks deletion', () => {
  assert.deepEqual(reference, {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    name: 'o',
    uid: 'u1',
    controller: true,
    blockOwnerDeletion: true,
  })
})

test('control is decided by UID, not by name', () => {
  const owned = {
    metadata: { ownerReferences: [{ ...reference, controller: false, uid: 'u0' }, reference] },
  }
  assert.equal(controllerOf(owned), reference)
  assert.equal(isControlledBy(owned, owner), true)
  assert.equal(isControlledBy(owned, { metadata: { name: 'o', uid: 'u2' } }), false)
  assert.equal(isControlledBy({}, { metadata: {} }), false)
  assert.equal(isOwnedBy(owned, 'u0'), true)
  assert.equal(isOwnedBy(owned, 'u2'), false)
})

test('references are set by UID and taken away, and the object is not edited', () => {
  const plain = Object.freeze({ metadata: Object.freeze({ name: 'x' }) })
  const owned = withOwnerReference(plain, reference)
  assert.deepEqual(owned.metadata, { name: 'x', ownerReferences: [reference] })
  const renamed = withOwnerReference(owned, { ...reference, name: 'p' })
  assert.deepEqual(renamed.metadata, { name: 'x', ownerReferences: [{ ...reference, name: 'p' }] })
  assert.deepEqual(withoutOwnerReference(owned, 'u1').metadata, { name: 'x', ownerReferences: [] })
  assert.equal(withoutOwnerReference(plain, 'u1'), plain)
})

test('finalizers are added once, at the end, and taken away', () => {
  const plain = { metadata: { name: 'x', finalizers: ['a/b'] } }
  const held = withFinalizer(plain, 'c/d')
  assert.deepEqual(held.metadata.finalizers, ['a/b', 'c/d'])
  assert.equal(withFinalizer(held, 'c/d'), held)
  assert.equal(hasFinalizer(held, 'c/d'), true)
  assert.deepEqual(withoutFinalizer(held, 'a/b').metadata.finalizers, ['c/d'])
  assert.equal(withoutFinalizer(plain, 'c/d'), plain)
  assert.equal(isTerminating(plain), false)
  assert.equal(isTerminating({ metadata: { deletionTimestamp: '2026-01-01T00:00:00Z' } }), true)
})
