import assert from 'node:assert/strict'
import { test } from 'node:test'
import { elementOfItem } from './list-items.ts'

test('an item does not have the keys that every object inherits', () => {
  const list = {
    ownership: 'map' as const,
    keys: ['constructor', 'name'],
    keyDefaults: new Map(),
    items: {},
  }
  assert.equal(elementOfItem(list, { name: 'a' }), 'k:{"name":"a"}')
})
