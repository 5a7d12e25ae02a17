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
