import assert from 'node:assert/strict'
import { test } from 'node:test'
import { followPath } from './field-path.ts'
import type { Schema } from './structural-schema.ts'

const number: Schema = { type: 'number' }
const schema: Schema = {
  type: 'object',
  properties: {
    'a.b': number,
    a: { type: 'object', properties: { b: number, 'c\x07': number, "'d'": number, ']': number } },
    "it's": number,
    map: { type: 'object', additionalProperties: { type: 'object', properties: { x: number } } },
    list: { type: 'array', items: number },
  },
}

const follow = (path: string): ReturnType<typeof followPath> =>
  followPath(path, schema, { from: 'root', brackets: true })

for (const [path, field] of [
  ['.a.b', 'root.a.b'],
  ["['a.b']", 'root.a.b'],
  ["['a']['b']", 'root.a.b'],
  ["['it\\'s']", "root.it's"],
  [".it's", "root.it's"],
  [".a['c\\a']", 'root.a.c\x07'],
  [".a.'d'", "root.a.'d'"],
  ['.a.]', 'root.a.]'],
  ['.map.k.x', 'root.map[k].x'],
  [".map['k.l'].x", 'root.map[k.l].x'],
  ['.list', 'root.list'],
] as const) {
  test(`${path} leads to ${JSON.stringify(field)}`, () => {
    const found = follow(path)
    assert.deepEqual([found.field, found.problem], [field, undefined])
  })
}

for (const [path, problem] of [
  ['a', 'expected [ or . but got: a'],
  ['a-b.c', 'expected [ or . but got: a-b'],
  ['   ', 'expected [ or . but got:    '],
  ['.', 'unexpected end of JSON path'],
  ['.a..b', 'does not refer to a valid field'],
  ['.a.c\\a', 'does not refer to a valid field'],
  ['.a.b.c', 'does not refer to a valid field'],
  ['.list[0]', 'expected single quoted string but got 0'],
  ['.a[', 'unexpected end of JSON path'],
  [".a['b'", 'unexpected end of JSON path'],
  [".a['b'x]", 'expected ] but got x'],
  [".a['b", "expected single quoted string but got 'b"],
  [".a['\\x']", 'invalid string literal: invalid escape char \\x'],
] as const) {
  test(`${path} is wrong: ${problem}`, () => {
    assert.equal(follow(path).problem, problem)
  })
}
