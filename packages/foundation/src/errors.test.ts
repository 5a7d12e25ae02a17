import assert from 'node:assert/strict'
import { test } from 'node:test'
import { defineErrors, mergeCatalogues } from './error-catalogue.ts'
import { GyropilotError, errorText, aggregateErrors, aggregateText } from './errors.ts'

const catalogue = defineErrors({
  FILE_MISSING: { exitCode: 3, meaning: 'It is not there.', remedy: 'Make it.' },
  ANOTHER: { exitCode: 1, meaning: 'm', remedy: 'r' },
})

test('a catalogue makes errors with code, exit code, message and cause', () => {
  const cause = new Error('ENOENT')
  const error = catalogue.make('FILE_MISSING', 'stat x: no such file', { cause })
  assert.ok(error instanceof GyropilotError)
  assert.deepEqual(
    { code: error.code, exitCode: error.exitCode, message: error.message, cause: error.cause },
    { code: 'FILE_MISSING', exitCode: 3, message: 'stat x: no such file', cause },
  )
})

test('catalogues merge sorted by code and may not share a code', () => {
  assert.deepEqual(
    mergeCatalogues([
      catalogue,
      defineErrors({ BETWEEN: { exitCode: 1, meaning: '', remedy: '' } }),
    ]).map((e) => e.code),
    ['ANOTHER', 'BETWEEN', 'FILE_MISSING'],
  )
  assert.throws(() => mergeCatalogues([catalogue, catalogue]), /defined twice/)
  assert.throws(
    () => defineErrors({ lower: { exitCode: 1, meaning: '', remedy: '' } }),
    /upper snake case/,
  )
})

test('the text of an error is one line and never empty', () => {
  assert.equal(errorText(new Error('a\n  b')), 'a b')
  assert.equal(errorText(new TypeError('')), 'TypeError')
  assert.equal(errorText(undefined), 'undefined')
})

test('several problems are one text, each once; a single one stays as it is', () => {
  assert.equal(aggregateText(['a']), 'a')
  assert.equal(aggregateText(['a', 'b', 'a']), '[a, b]')
  assert.equal(aggregateText(['a', 'a']), 'a')
})

test('several errors are one error that has them all; one is itself, none is undefined', () => {
  const [a, b] = [new Error('a'), new Error('b\nc')]
  assert.equal(aggregateErrors([]), undefined)
  assert.equal(aggregateErrors([a]), a)
  const both = aggregateErrors([a, b, 'd'])
  assert.ok(both instanceof AggregateError)
  assert.equal(both.message, '[a, b\nc, d]')
  assert.deepEqual(both.errors, [a, b, 'd'])
})
