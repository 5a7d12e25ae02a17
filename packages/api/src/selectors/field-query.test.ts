import assert from 'node:assert/strict'
import { test } from 'node:test'
import { escapeFieldValue, parseFieldQuery } from './field-query.ts'
import { InvalidSelectorError } from './label-query.ts'

test('terms are parsed, matched and printed back', () => {
  const query = parseFieldQuery('metadata.name=a,status.phase!=Running,,spec.nodeName==')
  assert.deepEqual(query.terms, [
    { field: 'metadata.name', operator: '=', value: 'a' },
    { field: 'spec.nodeName', operator: '=', value: '' },
    { field: 'status.phase', operator: '!=', value: 'Running' },
  ])
  assert.equal(query.toString(), 'metadata.name=a,spec.nodeName=,status.phase!=Running')
  const fields = (values: Record<string, string>) => (field: string) => values[field]
  assert.equal(query.matches(fields({ 'metadata.name': 'a' })), true)
  assert.equal(query.matches(fields({ 'metadata.name': 'b' })), false)
  assert.equal(query.matches(fields({ 'metadata.name': 'a', 'status.phase': 'Running' })), false)
  assert.equal(query.matches(fields({ 'metadata.name': 'a', 'spec.nodeName': 'n' })), false)
})

test('the empty selector matches everything', () => {
  assert.equal(parseFieldQuery('').matchesEverything, true)
  assert.equal(parseFieldQuery(',').matchesEverything, true)
  assert.equal(
    parseFieldQuery('').matches(() => undefined),
    true,
  )
})

test('a pinned field is the one that must have a value', () => {
  assert.equal(parseFieldQuery('metadata.name=a').pinned('metadata.name'), 'a')
  assert.equal(parseFieldQuery('metadata.name!=a').pinned('metadata.name'), undefined)
  assert.equal(parseFieldQuery('metadata.name=a').pinned('metadata.namespace'), undefined)
})

test('backslash, comma and equals sign are escaped in values', () => {
  for (const value of ['a,b', 'a=b', 'a\\b', '\\,=', 'a!=b', '']) {
    const query = parseFieldQuery(`x=${escapeFieldValue(value)}`)
    assert.deepEqual(query.terms, [{ field: 'x', operator: '=', value }])
    assert.equal(query.toString(), `x=${escapeFieldValue(value)}`)
  }
})

test('what cannot be parsed is refused in the words of the API server', () => {
  const cases: [string, string][] = [
    ['foo', "invalid selector: 'foo'; can't understand 'foo'"],
    ['a=b,foo', "invalid selector: 'a=b,foo'; can't understand 'foo'"],
    ['a=b=c', 'invalid field selector: unescaped character in value: 61'],
    ['a=\\x', 'invalid field selector: invalid escape sequence: \\x'],
    ['a=\\', 'invalid field selector: invalid escape sequence: \\'],
  ]
  for (const [text, message] of cases) {
    assert.throws(() => parseFieldQuery(text), new InvalidSelectorError(message), text)
  }
})
