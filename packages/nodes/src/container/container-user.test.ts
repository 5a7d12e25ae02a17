import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Container, Pod } from '@gyropilot/api'
import { isUserKnown, userOf } from './container-user.ts'

type PodContext = NonNullable<NonNullable<Pod['spec']>['securityContext']>

const given = (securityContext: PodContext, own: Partial<Container> = {}) =>
  [{ spec: { securityContext, containers: [] } }, { name: 'c', image: 'busybox', ...own }] as const

test('the groups of the pod are added to that of the user, in their order', () => {
  const context = {
    runAsUser: 1000,
    runAsGroup: 3000,
    fsGroup: 2000,
    supplementalGroups: [4000, 3000],
  }
  assert.deepEqual(userOf(...given(context)), { uid: 1000, gid: 3000, groups: [2000, 3000, 4000] })
})

test('root in its group, unless somebody says otherwise; what the container says comes first', () => {
  assert.deepEqual(userOf(...given({})), { uid: 0, gid: 0, groups: [0] })
  const own = { securityContext: { runAsUser: 7 } }
  assert.deepEqual(userOf(...given({ runAsUser: 1000, runAsGroup: 5 }, own)), {
    uid: 7,
    gid: 5,
    groups: [5],
  })
})

test('groups of the image count unless the policy is Strict', () => {
  const context = { runAsUser: 1000, runAsGroup: 3000, supplementalGroups: [4000] }
  const agnhost = { image: 'registry.k8s.io/e2e-test-images/agnhost:2' }
  const groups = (more: object, image = agnhost) =>
    userOf(...given({ ...context, ...more }, image)).groups
  assert.deepEqual(groups({}), [3000, 4000, 50_000])
  assert.deepEqual(groups({ supplementalGroupsPolicy: 'Merge' }), [3000, 4000, 50_000])
  assert.deepEqual(groups({ supplementalGroupsPolicy: 'Strict' }), [3000, 4000])
  assert.deepEqual(groups({ runAsUser: 1001 }), [3000, 4000])
  assert.deepEqual(groups({}, { image: 'busybox' }), [3000, 4000])
  // Its user has a group of its own, where nobody says another.
  const alone = userOf(...given({ runAsUser: 1000, supplementalGroupsPolicy: 'Strict' }, agnhost))
  assert.deepEqual(alone, { uid: 1000, gid: 1000, groups: [1000] })
})

test('who it is is told where anybody said something of it', () => {
  assert.equal(isUserKnown(...given({})), false)
  assert.equal(isUserKnown(...given({ runAsNonRoot: true })), false)
  for (const context of [
    { runAsUser: 0 },
    { runAsGroup: 1 },
    { fsGroup: 1 },
    { supplementalGroups: [] },
  ])
    assert.equal(isUserKnown(...given(context)), true)
  assert.equal(isUserKnown(...given({}, { securityContext: { runAsUser: 1 } })), true)
})

test('an image that is known to name its user runs as that one, unless somebody says otherwise', () => {
  const nonroot = { image: 'registry.k8s.io/e2e-test-images/nonroot:1.4' }
  assert.deepEqual(userOf(...given({}, nonroot)), { uid: 1234, gid: 0, groups: [0] })
  assert.equal(userOf(...given({ runAsUser: 5 }, nonroot)).uid, 5)
})
