import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ImplementedElsewhere, InstanceNotFound, RetryLater, errorOfKind } from './errors.ts'

test('errors of a provider are known by their kind through wrapping, not by their text', () => {
  const inner = new RetryLater('busy', 7_000)
  const wrapped = new Error('asking', { cause: new Error('again', { cause: inner }) })
  assert.equal(errorOfKind(wrapped, RetryLater), inner)
  assert.equal(errorOfKind(inner, RetryLater)?.retryAfterMs, 7_000)
  assert.equal(errorOfKind(new AggregateError([new Error('x'), inner]), RetryLater), inner)
  assert.equal(errorOfKind(wrapped, InstanceNotFound), undefined)
  assert.equal(errorOfKind(new Error('instance not found'), InstanceNotFound), undefined)
  assert.equal(errorOfKind('instance not found', InstanceNotFound), undefined)
})

test('the outermost of several errors of a kind is found', () => {
  const outer = new ImplementedElsewhere('outer', { cause: new ImplementedElsewhere('inner') })
  assert.equal(errorOfKind(outer, ImplementedElsewhere)?.message, 'outer')
})

test('errors that wrap each other in a circle are looked through once', () => {
  const one = new Error('one')
  const other = new Error('other', { cause: one })
  one.cause = other
  assert.equal(errorOfKind(one, InstanceNotFound), undefined)
})
