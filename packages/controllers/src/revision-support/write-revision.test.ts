import assert from 'node:assert/strict'
import { test } from 'node:test'
import { resources, revisionHash } from '@gyropilot/api'
import type { ControllerRevision, StatefulSet } from '@gyropilot/api'
import type { Write } from '@gyropilot/runtime'
import { drive } from '@gyropilot/runtime/testing'
import { TEMPLATE, refused, secondsAgo } from '../workload-support/fixtures.ts'
import { controllerRevision } from './fixtures.ts'
import { templatePatch } from './revision-data.ts'
import { newRevision, revisionName } from './revision-object.ts'
import { adoptRevisions, renumber, storeUnderHash } from './write-revision.ts'

const owner: StatefulSet = {
  metadata: { name: 'db', namespace: 'ns', uid: 'db-uid', annotations: { note: 'x' } },
  spec: { serviceName: 's', selector: {}, template: TEMPLATE },
}
const ownerType = resources.statefulsets
const hashLabel = 'controller.kubernetes.io/hash'
const patch = templatePatch(TEMPLATE)
const nameOf = (write: Write) => ('object' in write ? write.object.metadata?.name : undefined)

function revisionWith(hash: string): ControllerRevision {
  return newRevision({ owner, ownerType, template: TEMPLATE, patch, revision: 3, hash, hashLabel })
}

test('a new revision has the labels of the template, the annotations of its owner and one controller', () => {
  assert.deepEqual(revisionWith('abc'), {
    apiVersion: 'apps/v1',
    kind: 'ControllerRevision',
    metadata: {
      name: 'db-abc',
      namespace: 'ns',
      labels: { app: 'a', [hashLabel]: 'abc' },
      annotations: { note: 'x' },
      ownerReferences: [
        {
          apiVersion: 'apps/v1',
          kind: 'StatefulSet',
          name: 'db',
          uid: 'db-uid',
          controller: true,
          blockOwnerDeletion: true,
        },
      ],
    },
    data: templatePatch(TEMPLATE).data,
    revision: 3,
  })
  assert.equal(revisionName('x'.repeat(253), 'abc'), `${'x'.repeat(223)}-abc`)
  const { annotations: _, ...bare } = owner.metadata!
  const { metadata } = newRevision({
    owner: { ...owner, metadata: bare },
    ownerType,
    template: TEMPLATE,
    patch,
    revision: 3,
    hash: 'abc',
    hashLabel,
  })
  assert.equal('annotations' in metadata!, false)
})

const hashAt = (count: number) => revisionHash(templatePatch(TEMPLATE).text, count)
const draft = revisionWith(hashAt(0))

test('Given a revision name collision with different data, when creating, then collisionCount becomes 1 and the name changes; creating the same again reuses it', () => {
  const foreign = controllerRevision({ data: { spec: {} } })
  const first = drive(storeUnderHash({ ownerName: 'db', revision: draft, collisionCount: 0 }), {
    onWrite: (_, index) => (index === 0 ? refused(409, 'AlreadyExists') : undefined),
    onRead: () => ({ ok: true, object: foreign }),
  })
  assert.deepEqual(first.writes.map(nameOf), [`db-${hashAt(0)}`, `db-${hashAt(1)}`])
  assert.equal(first.result.collisionCount, 1)
  assert.ok(first.result.outcome.ok)
  // The label keeps the hash of the first attempt, as upstream's does.
  assert.equal(first.result.outcome.object.metadata?.labels?.[hashLabel], hashAt(0))

  const own = controllerRevision({ name: `db-${hashAt(1)}` })
  const again = drive(storeUnderHash({ ownerName: 'db', revision: draft, collisionCount: 1 }), {
    onWrite: () => refused(409, 'AlreadyExists'),
    onRead: () => ({ ok: true, object: own }),
  })
  assert.deepEqual(again.result, { outcome: { ok: true, object: own }, collisionCount: 1 })
})

test('a refusal other than a taken name is handed on, with the count so far', () => {
  const refusal = refused(403, 'Forbidden')
  const driven = drive(storeUnderHash({ ownerName: 'db', revision: draft, collisionCount: 2 }), {
    onWrite: () => refusal,
  })
  assert.deepEqual(driven.result, { outcome: refusal, collisionCount: 2 })
  const gone = refused(404, 'NotFound')
  const vanished = drive(storeUnderHash({ ownerName: 'db', revision: draft, collisionCount: 2 }), {
    onWrite: () => refused(409, 'AlreadyExists'),
    onRead: () => gone,
  })
  assert.deepEqual(vanished.result, { outcome: gone, collisionCount: 2 })
})

test('a revision with the number already is not written', () => {
  const driven = drive(renumber(controllerRevision({ revision: 4 }), 4, () => undefined))
  assert.equal(driven.writes.length, 0)
  assert.ok(driven.result.ok)
})

test('renumbering puts the whole revision with its new number', () => {
  const revision = controllerRevision({ revision: 2 })
  const driven = drive(renumber(revision, 4, () => undefined))
  assert.deepEqual(
    driven.writes.map((write) => 'object' in write && write.object),
    [{ ...revision, revision: 4 }],
  )
})

test('after a conflict renumbering goes on with what the cache has by then, four times in all', () => {
  const conflict = refused(409, 'Conflict')
  const versions = [31, 32, 33, 34, 35].map((version) =>
    controllerRevision({ revision: 2, resourceVersion: String(version) }),
  )
  const conflicted = { onWrite: () => conflict }
  const cached = versions.values()
  const tried = drive(
    renumber(controllerRevision({ revision: 2 }), 4, () => cached.next().value),
    conflicted,
  )
  assert.equal(tried.writes.length, 4)
  assert.deepEqual(tried.result, conflict)

  const unchanged = controllerRevision({ revision: 2 })
  assert.equal(
    drive(
      renumber(unchanged, 4, () => unchanged),
      conflicted,
    ).writes.length,
    1,
  )
  assert.equal(
    drive(
      renumber(unchanged, 4, () => undefined),
      conflicted,
    ).writes.length,
    1,
  )
  const namesake = controllerRevision({ revision: 2, uid: 'other', resourceVersion: '40' })
  assert.equal(
    drive(
      renumber(unchanged, 4, () => namesake),
      conflicted,
    ).writes.length,
    1,
  )
  const done = controllerRevision({ revision: 4, resourceVersion: '40' })
  const found = drive(
    renumber(unchanged, 4, () => done),
    conflicted,
  )
  assert.deepEqual(found.result, { ok: true, object: done })
  const forbidden = drive(
    renumber(unchanged, 4, () => versions[0]),
    {
      onWrite: () => refused(403, 'Forbidden'),
    },
  )
  assert.equal(forbidden.writes.length, 1)
})

const orphans = [controllerRevision({ name: 'r1' }), controllerRevision({ name: 'r2' })]
const live = { onRead: () => ({ ok: true, object: owner }) as const }

test('orphaned revisions are adopted after one live look at the owner', () => {
  assert.equal(drive(adoptRevisions(owner, ownerType, [])).effects.length, 0)
  const driven = drive(adoptRevisions(owner, ownerType, orphans), live)
  assert.deepEqual(
    driven.effects.map(({ effect }) => effect),
    ['read', 'write', 'write'],
  )
  assert.ok(driven.result.ok)
  assert.deepEqual(
    driven.result.object.map(({ metadata }) => metadata?.name),
    ['r1', 'r2'],
  )
  const [patch] = driven.writes
  assert.ok(patch?.verb === 'patch')
  assert.equal(patch.name, 'r1')
  assert.deepEqual(patch.patch, {
    type: 'strategic',
    value: { metadata: { uid: 'r1-uid', ownerReferences: draft.metadata?.ownerReferences } },
  })
})

for (const [title, answer, message] of [
  ['is gone', refused(404, 'NotFound', 'no such set'), /can't recheck DeletionTimestamp: no such/],
  [
    'is being deleted',
    { ok: true, object: { metadata: { ...owner.metadata, deletionTimestamp: secondsAgo(1) } } },
    /ns\/db has just been deleted at/,
  ],
  ['was made anew', { ok: true, object: { metadata: { uid: 'other' } } }, /got uid other, wanted/],
] as const) {
  test(`nothing is adopted by an owner that ${title}`, () => {
    const driven = drive(adoptRevisions(owner, ownerType, orphans), { onRead: () => answer })
    assert.equal(driven.writes.length, 0)
    assert.ok(!driven.result.ok)
    assert.match(String(driven.result.error), /can't adopt ControllerRevisions: /)
    assert.match(String(driven.result.error), message)
    assert.match(String((driven.result.error as Error).cause), message)
    assert.equal(driven.result.attempted, true)
  })
}

test('adopting ends at the first refusal', () => {
  const refusal = refused(422, 'Invalid')
  const driven = drive(adoptRevisions(owner, ownerType, orphans), {
    ...live,
    onWrite: () => refusal,
  })
  assert.equal(driven.writes.length, 1)
  assert.deepEqual(driven.result, refusal)
})
