import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newControllerRef, resources } from '@gyropilot/api'
import type { Pod, ReplicaSet } from '@gyropilot/api'
import { drive } from '@gyropilot/runtime/testing'
import { claim } from './claim.ts'
import { pod, refused, replicaSet, secondsAgo } from './fixtures.ts'

const owner = replicaSet()
const other = replicaSet({ name: 'other' })
const live = { onRead: () => ({ ok: true, object: owner }) as const }

function claiming(
  candidates: readonly Pod[],
  options: Parameters<typeof drive>[1] = live,
  by: ReplicaSet = owner,
) {
  const rules = {
    owner: by,
    ownerType: resources.replicasets,
    type: resources.pods,
    matches: (candidate: Pod) => candidate.metadata?.labels?.app === 'a',
  }
  const driven = drive(claim(rules, candidates), options)
  return { ...driven, names: driven.result.objects.map((claimed) => claimed.metadata?.name) }
}

test('a pod of another controller is ignored, whatever its labels', () => {
  const driven = claiming([pod({ owner: other })])
  assert.deepEqual(driven.names, [])
  assert.equal(driven.effects.length, 0)
})

test('a matching owned pod is claimed without any call, also while the owner is being deleted', () => {
  const deleting = replicaSet({ metadata: { deletionTimestamp: secondsAgo(1) } })
  assert.deepEqual(claiming([pod({ owner })]).names, ['pod'])
  const driven = claiming([pod({ owner })], {}, deleting)
  assert.deepEqual(driven.names, ['pod'])
  assert.equal(driven.effects.length, 0)
})

test('Given an owned pod that no longer matches, when claiming, then a release patch is sent and the pod is not returned', () => {
  const driven = claiming([pod({ owner, labels: { app: 'b' } })])
  assert.deepEqual(driven.names, [])
  assert.deepEqual(driven.writes, [
    {
      verb: 'patch',
      type: resources.pods,
      namespace: 'ns',
      name: 'pod',
      subresource: undefined,
      patch: {
        type: 'strategic',
        value: {
          metadata: { uid: 'pod-uid', ownerReferences: [{ $patch: 'delete', uid: 'rs-uid' }] },
        },
      },
    },
  ])
})

test('A controller with deletionTimestamp keeps its pods claimed but neither adopts nor releases', () => {
  const deleting = replicaSet({ metadata: { deletionTimestamp: secondsAgo(1) } })
  const driven = claiming(
    [pod({ owner, labels: { app: 'b' } }), pod({ name: 'orphan' })],
    {},
    deleting,
  )
  assert.deepEqual(driven.names, [])
  assert.equal(driven.effects.length, 0)
})

for (const [code, reason] of [
  [404, 'NotFound'],
  [422, 'Invalid'],
] as const) {
  test(`a release answered with ${code} is a success`, () => {
    const driven = claiming([pod({ owner, labels: { app: 'b' } })], {
      onWrite: () => refused(code, reason),
    })
    assert.equal(driven.result.error, undefined)
  })
}

test('a release that fails otherwise is an error, and the pod is not claimed', () => {
  const driven = claiming([pod({ owner, labels: { app: 'b' } })], {
    onWrite: () => refused(500, 'InternalError', 'broken'),
  })
  assert.equal((driven.result.error as Error).message, 'broken')
  assert.deepEqual(driven.names, [])
})

test('Given a controller being deleted, when orphans match, then no adoption happens', () => {
  const deleting = replicaSet({ metadata: { deletionTimestamp: secondsAgo(1) } })
  assert.equal(claiming([pod()], {}, deleting).effects.length, 0)
})

test('Given a terminating orphan, when claiming, then it is ignored', () => {
  assert.equal(claiming([pod({ deleting: true })], {}).effects.length, 0)
})

test('an orphan of another namespace is ignored', () => {
  const elsewhere: Pod = { ...pod(), metadata: { ...pod().metadata, namespace: 'other' } }
  assert.equal(claiming([elsewhere], {}).effects.length, 0)
})

test('The live recheck runs once per sync, not once per pod, and not at all when there is nothing to adopt', () => {
  const driven = claiming([pod({ name: 'one' }), pod({ name: 'two' })])
  assert.deepEqual(driven.names, ['one', 'two'])
  assert.equal(driven.effects.filter(({ effect }) => effect === 'read').length, 1)
  assert.equal(claiming([pod({ owner })], {}).effects.length, 0)
})

test('an adoption sets the controlling reference under the precondition of the uid', () => {
  const [written] = claiming([pod()]).writes
  assert.ok(written?.verb === 'patch')
  assert.deepEqual(written.patch, {
    type: 'strategic',
    value: {
      metadata: {
        uid: 'pod-uid',
        ownerReferences: [
          {
            apiVersion: 'apps/v1',
            kind: 'ReplicaSet',
            name: 'rs',
            uid: 'rs-uid',
            controller: true,
            blockOwnerDeletion: true,
          },
        ],
      },
    },
  })
})

test('an adopted object is handed on as it was, or on request as the server answered it', () => {
  const answered = pod({ resourceVersion: '99' })
  const rules = {
    owner,
    ownerType: resources.replicasets,
    type: resources.pods,
    matches: () => true,
  }
  const options = { ...live, onWrite: () => ({ ok: true, object: answered }) as const }
  const candidate = pod()
  assert.deepEqual(drive(claim(rules, [candidate]), options).result.objects, [candidate])
  const asked = drive(claim({ ...rules, asAnswered: true }, [candidate]), options)
  assert.deepEqual(asked.result.objects, [answered])
})

test('with finalizers they come with the adoption and go with the release', () => {
  const rules = {
    owner,
    ownerType: resources.replicasets,
    type: resources.pods,
    matches: (candidate: Pod) => candidate.metadata?.labels?.app === 'a',
    finalizers: ['a/b'],
  }
  const { writes } = drive(claim(rules, [pod(), pod({ owner, labels: { app: 'b' } })]), live)
  const patched = writes.map((write) =>
    write.verb === 'patch' && write.patch.type === 'strategic'
      ? (write.patch.value as Pod).metadata
      : undefined,
  )
  assert.deepEqual(patched, [
    {
      uid: 'pod-uid',
      ownerReferences: [newControllerRef(owner, resources.replicasets)],
      finalizers: ['a/b'],
    },
    {
      uid: 'pod-uid',
      ownerReferences: [{ $patch: 'delete', uid: 'rs-uid' }],
      '$deleteFromPrimitiveList/finalizers': ['a/b'],
    },
  ])
})

test('without an error there is no word of one', () => {
  assert.deepEqual(claiming([pod({ owner })]).result, { objects: [pod({ owner })] })
})

test('404 on adopt: not claimed, no error', () => {
  const driven = claiming([pod()], { ...live, onWrite: () => refused(404, 'NotFound') })
  assert.deepEqual(driven.names, [])
  assert.equal(driven.result.error, undefined)
})

test('other adoption errors are collected and the remaining objects are still processed', () => {
  const driven = claiming([pod({ name: 'one' }), pod({ name: 'two' }), pod({ name: 'three' })], {
    ...live,
    onWrite: (_, index) => (index < 2 ? refused(422, 'Invalid', `no ${index}`) : undefined),
  })
  assert.deepEqual(driven.names, ['three'])
  assert.equal((driven.result.error as Error).message, '[no 0, no 1]')
})

const refusals = [
  {
    title: 'the live read fails',
    read: refused(500, 'InternalError', 'broken'),
    message: "can't adopt Pod ns/pod (pod-uid): can't recheck DeletionTimestamp: broken",
  },
  {
    title: 'the live owner has another uid',
    read: { ok: true, object: replicaSet({ uid: 'new-uid' }) } as const,
    message:
      "can't adopt Pod ns/pod (pod-uid): can't recheck DeletionTimestamp: original ReplicaSet ns/rs is gone: got uid new-uid, wanted rs-uid",
  },
  {
    title: 'the live owner is being deleted',
    read: {
      ok: true,
      object: replicaSet({ metadata: { deletionTimestamp: secondsAgo(1) } }),
    } as const,
    message:
      "can't adopt Pod ns/pod (pod-uid): ns/rs has just been deleted at 2025-12-31T23:59:59Z",
  },
]
for (const { title, read, message } of refusals) {
  test(`adoption fails when ${title}, for all orphans of the sync with one live read`, () => {
    const driven = claiming([pod(), pod()], { onRead: () => read })
    assert.equal((driven.result.error as Error).message, message)
    assert.equal(driven.writes.length, 0)
    assert.equal(driven.effects.length, 1)
    const { error: one } = claiming([pod()], { onRead: () => read }).result
    const reason = (one as Error).cause as Error
    assert.ok(message.endsWith(reason.message))
    if (!read.ok) assert.equal(reason.cause, read.error)
  })
}
