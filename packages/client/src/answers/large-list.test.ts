import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseLargeList } from './large-list.ts'

const item = (name: string): object => ({
  metadata: { name, annotations: { x: '"items":[{"}]', 'ü\\': '日本\\"\u{1f600}' } },
  spec: { items: [{ key: 'a' }, { key: 'b' }], empty: {}, list: [] },
})
const LISTS: readonly [string, object][] = [
  [
    'as an API server writes it',
    {
      kind: 'PodList',
      apiVersion: 'v1',
      metadata: { resourceVersion: '7' },
      items: [item('a'), item('b')],
    },
  ],
  ['items first, and something behind them', { items: [item('a')], metadata: { continue: 'x' } }],
  ['no items', { metadata: { items: [1] }, items: [] }],
]
for (const [title, list] of LISTS) {
  test(`a list parsed item by item is what it is when parsed at once: ${title}`, () => {
    for (const indent of [0, 2])
      assert.deepEqual(parseLargeList(Buffer.from(JSON.stringify(list, null, indent))), list)
  })
}

const FAULTS = [
  'no list',
  '{"kind":"Pod"}',
  '{"items":{"a":1}}',
  '{"items":[{"a":1}',
  '{"items":[{"a":"1',
  '{"items":[{"a":nonsense}]}',
  '{"items":[{"a":1} {"a":2}]}',
  '{"items":[{"a":1},,{"a":2}]}',
  '{"items":[{"a":1},]}',
  '{"items":[,{"a":1}]}',
  '{"items":[null,{"a":1}]}',
  '{"items":[{"a":1},2]}',
  '{"metadata":nonsense,"items":[]}',
  '{"items":[]',
]
for (const text of FAULTS) {
  test(`not a list: ${text}`, () =>
    assert.throws(() => parseLargeList(Buffer.from(text)), SyntaxError))
}

test('integers beyond 2^53 are exact in items that are parsed one by one', () => {
  const text = '{"items":[{"a":9007199254740993}],"n":-9223372036854775808}'
  assert.deepEqual(parseLargeList(Buffer.from(text)), {
    items: [{ a: 9007199254740993n }],
    n: -9223372036854775808n,
  })
})
