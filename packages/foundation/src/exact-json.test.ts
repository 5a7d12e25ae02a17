import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseExact, stringifyExact } from './exact-json.ts'

test('integers of 64 bits come back as they were written', () => {
  for (const text of [
    '9223372036854775807',
    '-9223372036854775808',
    '9007199254740993',
    '9007199254740991',
    '[1,9007199254740993,{"a":-9007199254740995}]',
    '{"text":"9223372036854775807","n":1}',
  ])
    assert.equal(stringifyExact(parseExact(text)), text)
})

test('what a number holds is a number; beyond 64 bits and with a fraction all are', () => {
  const rows: readonly (readonly [string, unknown])[] = [
    ['9007199254740991', 9007199254740991],
    ['9007199254740992', 9007199254740992n],
    ['9223372036854775808', 2 ** 63],
    ['12345678901234567890123', 1.2345678901234568e22],
    ['1234567890123456.5', 1234567890123456.5],
    ['1e20', 1e20],
    ['"9007199254740993"', '9007199254740993'],
  ]
  for (const [text, value] of rows) assert.equal(parseExact(text), value, text)
})

test('indents, and passes other errors on', () => {
  assert.equal(stringifyExact({ a: 9007199254740993n }, 2), '{\n  "a": 9007199254740993\n}')
  const circle: { self?: unknown } = {}
  circle.self = circle
  assert.throws(() => stringifyExact(circle), /circular/)
  assert.throws(() => parseExact('{"a":9007199254740993'), SyntaxError)
})
