import assert from 'node:assert/strict'
import { test } from 'node:test'
import { correlatedItems } from './stored-values.ts'

test('an item without a key corresponds to one without it, also where every object inherits that', () => {
  const schema = {
    type: 'array',
    'x-kubernetes-list-type': 'map',
    'x-kubernetes-list-map-keys': ['__proto__'],
  }
  const stored = [Object.fromEntries([['__proto__', null]])]
  assert.equal(correlatedItems(schema, stored)?.({ a: 2 }), stored[0])
})
