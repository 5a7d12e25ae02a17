import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AbsentOwners } from './absent-owners.ts'
import { ref } from '../fixtures.ts'
import { identityOfReference } from './identity.ts'

const absent = (name: string, namespace = 'ns1') => identityOfReference(ref(name), namespace)

test('the least recently used owner is forgotten first', () => {
  const owners = new AbsentOwners(2)
  owners.add(absent('a'))
  owners.add(absent('b'))
  assert.equal(owners.has(absent('a')), true, 'asking is a use')
  owners.add(absent('c'))
  assert.deepEqual(
    ['a', 'b', 'c'].map((name) => owners.has(absent(name))),
    [true, false, true],
  )
})

test('an owner added twice takes one place', () => {
  const owners = new AbsentOwners(2)
  owners.add(absent('a'))
  owners.add(absent('b'))
  owners.add(absent('b'))
  assert.equal(owners.has(absent('a')), true)
})

test('all coordinates and the namespace tell owners apart', () => {
  const owners = new AbsentOwners(9)
  owners.add(absent('a'))
  assert.equal(owners.has(absent('a', 'ns2')), false)
  assert.equal(owners.has({ ...absent('a'), apiVersion: 'v2' }), false)
  assert.equal(owners.has({ ...absent('a'), uid: 'other' }), false)
})
