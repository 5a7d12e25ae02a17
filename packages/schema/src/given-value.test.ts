import assert from 'node:assert/strict'
import { test } from 'node:test'
import { emptyGiven, givenValue, rememberEmpty } from './given-value.ts'

test('what every object inherits was given by nobody', () => {
  const holder = {}
  rememberEmpty(holder, 'list', [])
  assert.deepEqual([emptyGiven(holder, 'list'), givenValue(holder, 'list')], [[], []])
  assert.equal(emptyGiven(holder, 'constructor'), undefined)
  assert.equal(givenValue(holder, 'toString'), null)
})
