import assert from 'node:assert/strict'
import { test } from 'node:test'
import { deepFreeze } from './deep-freeze.ts'

test('a value is frozen all the way down, and is the same value', () => {
  const value = { a: [{ b: 1 }], c: { d: null }, e: 'text' }
  assert.equal(deepFreeze(value), value)
  for (const part of [value, value.a, value.a[0], value.c]) assert.ok(Object.isFrozen(part))
  for (const plain of [null, 1, 'x', undefined, true]) assert.equal(deepFreeze(plain), plain)
})

test('what is frozen already is not looked into', () => {
  const shared = Object.freeze({ open: { a: 1 } })
  deepFreeze([shared])
  assert.ok(!Object.isFrozen(shared.open))
})
