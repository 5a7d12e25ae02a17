import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setAt, valueAt } from './structural-schema.ts'
import type { JsonObject } from './structural-schema.ts'

test('a path through what every object inherits leads into the object alone', () => {
  for (const path of ['.spec.__proto__.replicas', '.spec.constructor.replicas']) {
    const object: JsonObject = { spec: {} }
    setAt(object, path, 3)
    assert.equal(valueAt(object, path), 3)
    assert.equal(valueAt({ spec: {} }, path), undefined)
    assert.equal(Object.hasOwn(Object.prototype, 'replicas'), false)
    assert.equal(Object.hasOwn(Object, 'replicas'), false)
  }
})
