import assert from 'node:assert/strict'
import { test } from 'node:test'
import { object, owner } from './fixtures.ts'
import { OrphanedOwners } from './orphaned-owners.ts'

test('the oldest owner is forgotten first', () => {
  const owners = new OrphanedOwners(2)
  for (const name of ['a', 'b', 'a', 'c']) owners.add(owner(name, { deleting: true }))
  const child = object('child')
  assert.deepEqual(
    ['a', 'b', 'c'].map((name) => owners.leftBehind(child, `${name}-uid`)),
    [true, false, true],
  )
})

test('an owner whose deletion nobody asked for leaves nothing behind', () => {
  const owners = new OrphanedOwners(2)
  owners.add(owner('rc'))
  assert.equal(owners.leftBehind(object('child'), 'rc-uid'), false)
})

test('a deletion was asked for before its grace began to run', () => {
  const owners = new OrphanedOwners(2)
  const { metadata, ...rest } = owner('p', { deleting: true })
  owners.add({ ...rest, metadata: { ...metadata, deletionGracePeriodSeconds: 30 } })
  const isLeftBehind = (creationTimestamp: string): boolean =>
    owners.leftBehind({ metadata: { creationTimestamp } }, 'p-uid')
  assert.equal(metadata?.deletionTimestamp, '2026-01-01T00:00:00Z')
  assert.ok(isLeftBehind('2025-12-31T23:59:30Z'))
  assert.ok(!isLeftBehind('2025-12-31T23:59:31Z'))
})
