import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KubernetesObject } from '@gyropilot/api'
import { configMap, domains, reference, website, websites } from '../builder/fixtures.ts'
import {
  AlreadyOwnedError,
  groupOf,
  hasControllerReference,
  hasOwner,
  withControllerReference,
  withOwner,
  withoutControllerReference,
  withoutOwner,
} from './owner-references.ts'

const owner = (name: string, uid = `uid-of-${name}`) => website(name, { uid })

test('a controller reference has controller and blockOwnerDeletion, and the latter may be left to the caller', () => {
  const owned = withControllerReference(configMap('c'), owner('a'), websites)
  assert.deepEqual(owned.metadata?.ownerReferences, [
    {
      apiVersion: 'example.com/v1',
      kind: 'Website',
      name: 'a',
      uid: 'uid-of-a',
      controller: true,
      blockOwnerDeletion: true,
    },
  ])
  const weak = withControllerReference(configMap('c'), owner('a'), websites, {
    blockOwnerDeletion: false,
  })
  assert.equal(weak.metadata?.ownerReferences?.[0]?.blockOwnerDeletion, false)
  assert.ok(hasControllerReference(owned))
  assert.ok(!hasControllerReference(configMap('c', reference('a'))))
})

test('the same owner again is replaced, so that uid and version are refreshed', () => {
  const before = configMap(
    'c',
    reference('other'),
    reference('a', { apiVersion: 'example.com/v1alpha1', uid: 'old', controller: true }),
  )
  const owned = withControllerReference(before, owner('a', 'new'), websites)
  assert.deepEqual(
    owned.metadata?.ownerReferences?.map(({ name, uid, apiVersion }) => [name, uid, apiVersion]),
    [
      ['other', 'uid-of-other', 'example.com/v1'],
      ['a', 'new', 'example.com/v1'],
    ],
  )
})

test('Given another controller owner, or an owner in another namespace, then an error', () => {
  const taken = configMap('c', reference('b', { controller: true }))
  assert.throws(
    () => withControllerReference(taken, owner('a'), websites),
    (error: unknown) =>
      error instanceof AlreadyOwnedError &&
      error.message === 'Object default/c is already owned by another Website controller b' &&
      error.owner.name === 'b',
  )
  const elsewhere = { ...owner('a'), metadata: { namespace: 'other', name: 'a', uid: 'u' } }
  for (const set of [withControllerReference, withOwner]) {
    assert.throws(() => set(configMap('c'), elsewhere, websites), {
      code: 'OWNER_INVALID',
      message:
        "cross-namespace owner references are disallowed, owner's namespace other, obj's namespace default",
    })
    assert.throws(() => set({ metadata: { name: 'd' } }, owner('a'), websites), {
      code: 'OWNER_INVALID',
      message:
        "cluster-scoped resource must not have a namespace-scoped owner, owner's namespace default",
    })
  }
})

test('a cluster-scoped owner may own objects of any namespace', () => {
  const domain: KubernetesObject = { metadata: { name: 'd', uid: 'u' } }
  assert.ok(hasOwner(withControllerReference(configMap('c'), domain, domains), domain, domains))
})

test('several plain owners are allowed, beside a controller', () => {
  const owned = withOwner(
    withOwner(configMap('c', reference('ctl', { controller: true })), owner('a'), websites),
    owner('b'),
    websites,
    { blockOwnerDeletion: true },
  )
  assert.deepEqual(
    owned.metadata?.ownerReferences?.map(({ name, controller, blockOwnerDeletion }) => [
      name,
      controller,
      blockOwnerDeletion,
    ]),
    [
      ['ctl', true, undefined],
      ['a', undefined, undefined],
      ['b', undefined, true],
    ],
  )
})

test('has and remove find the reference by group, kind and name', () => {
  const owned = configMap('c', reference('a', { uid: 'other-uid' }), reference('b'))
  assert.ok(hasOwner(owned, owner('a'), websites))
  assert.ok(!hasOwner(owned, owner('z'), websites))
  assert.ok(!hasOwner(owned, owner('a'), { ...websites, group: 'example.org' }))
  assert.ok(hasOwner(owned, owner('a'), { ...websites, version: 'v2' }))
  assert.deepEqual(
    withoutOwner(owned, owner('a'), websites).metadata?.ownerReferences?.map(({ name }) => name),
    ['b'],
  )
  assert.throws(() => withoutOwner(configMap('c'), owner('a'), websites), {
    message: 'ConfigMap does not have any owner references',
  })
  assert.throws(() => withoutOwner(owned, owner('z'), websites), {
    message: 'ConfigMap does not have an owner reference for Website',
  })
  assert.throws(() => withoutControllerReference(owned, owner('a'), websites), {
    message: 'Website owner is not the controller reference for ConfigMap',
  })
  const controlled = configMap('c', reference('a', { controller: true }))
  assert.deepEqual(
    withoutControllerReference(controlled, owner('a'), websites).metadata?.ownerReferences,
    [],
  )
})

test('owners are told apart by kind, and the core group by the lack of a slash', () => {
  const one = withOwner(configMap('c'), owner('a'), websites)
  const both = withOwner(one, { metadata: { name: 'a', uid: 'u' } }, { ...websites, kind: 'Page' })
  assert.deepEqual(
    both.metadata?.ownerReferences?.map(({ kind }) => kind),
    ['Website', 'Page'],
  )
  assert.deepEqual([groupOf('v1'), groupOf('apps/v1')], ['', 'apps'])
  assert.throws(() => withoutOwner({ kind: 'Pod', metadata: {} }, owner('a'), websites), {
    message: 'Pod does not have any owner references',
  })
})
