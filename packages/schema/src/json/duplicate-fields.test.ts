import assert from 'node:assert/strict'
import { test } from 'node:test'
import { duplicateFields } from './duplicate-fields.ts'
import { parseJson } from './json.ts'

function found(text: string, path?: string): readonly string[] {
  const { value, occurrences } = parseJson(text)
  return [...duplicateFields(value, occurrences, path)]
}

test('repeated members are told once each, in document order', () => {
  assert.deepEqual(found('{"s":{"b":1,"b":1,"a":1,"a":1},"m":{"x":1,"x":2,"x":3}}'), [
    'duplicate field "s.b"',
    'duplicate field "s.a"',
    'duplicate field "m.x"',
  ])
})

test('what a later member replaces is looked at too', () => {
  assert.deepEqual(found('{"s":{"a":null},"s":{"l":[{"c":1,"c":1}],"l":null}}'), [
    'duplicate field "s"',
    'duplicate field "s.l[0].c"',
    'duplicate field "s.l"',
  ])
})

test('a path can go before', () => {
  assert.deepEqual(found('{"c":1,"c":2}', '[0].value'), ['duplicate field "[0].value.c"'])
})
