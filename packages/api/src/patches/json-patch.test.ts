import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { JsonPatchError, type JsonPatchOperation, applyJsonPatch } from './json-patch.ts'

test('operations change the document in order', () => {
  const cases: [string, unknown, JsonPatchOperation[], unknown][] = [
    ['nothing', { a: 1 }, [], { a: 1 }],
    ['add a member', { a: 1 }, [{ op: 'add', path: '/b', value: 2 }], { a: 1, b: 2 }],
    ['add over a member', { a: 1 }, [{ op: 'add', path: '/a', value: 2 }], { a: 2 }],
    ['add without a value', { a: 1 }, [{ op: 'add', path: '/b' }], { a: 1, b: null }],
    ['insert', { l: [1, 3] }, [{ op: 'add', path: '/l/1', value: 2 }], { l: [1, 2, 3] }],
    ['index = length', { l: [1] }, [{ op: 'add', path: '/l/1', value: 2 }], { l: [1, 2] }],
    ['-', { l: [1] }, [{ op: 'add', path: '/l/-', value: 2 }], { l: [1, 2] }],
    ['-1', { l: [1, 2] }, [{ op: 'add', path: '/l/-1', value: 3 }], { l: [1, 2, 3] }],
    ['remove', { a: 1, b: 2 }, [{ op: 'remove', path: '/a' }], { b: 2 }],
    ['remove an item', { l: [1, 2, 3] }, [{ op: 'remove', path: '/l/1' }], { l: [1, 3] }],
    ['remove the last', { l: [1, 2] }, [{ op: 'remove', path: '/l/-1' }], { l: [1] }],
    ['replace', { a: 1 }, [{ op: 'replace', path: '/a', value: [] }], { a: [] }],
    ['replace a missing key', { a: 1 }, [{ op: 'replace', path: '/b', value: 2 }], { a: 1, b: 2 }],
    ['replace the root', { a: 1 }, [{ op: 'replace', path: '', value: { b: 2 } }], { b: 2 }],
    [
      'move',
      { a: { b: 1 }, c: {} },
      [{ op: 'move', from: '/a/b', path: '/c/d' }],
      { a: {}, c: { d: 1 } },
    ],
    [
      'move in a list',
      { l: [1, 2, 3] },
      [{ op: 'move', from: '/l/0', path: '/l/2' }],
      { l: [2, 3, 1] },
    ],
    [
      'copy',
      { a: { b: 1 } },
      [{ op: 'copy', from: '/a', path: '/c' }],
      { a: { b: 1 }, c: { b: 1 } },
    ],
    ['copy an absent key', { a: 1 }, [{ op: 'copy', from: '/x', path: '/c' }], { a: 1, c: null }],
    [
      'escapes',
      { 'a/b': 1, 'c~d': 2 },
      [
        { op: 'remove', path: '/a~1b' },
        { op: 'remove', path: '/c~0d' },
      ],
      {},
    ],
    ['~01 is ~1', { '~1': 1 }, [{ op: 'remove', path: '/~01' }], {}],
    [
      'no leading slash',
      { k: 1, data: { k: 2 } },
      [{ op: 'remove', path: 'data/k' }],
      { data: { k: 2 } },
    ],
    ['test', { a: { b: [1] } }, [{ op: 'test', path: '/a', value: { b: [1] } }], { a: { b: [1] } }],
    ['test absence', { a: 1 }, [{ op: 'test', path: '/b', value: null }], { a: 1 }],
    ['test absence without value', { a: 1 }, [{ op: 'test', path: '/b' }], { a: 1 }],
    [
      'later see earlier',
      {},
      [
        { op: 'add', path: '/m', value: {} },
        { op: 'add', path: '/m/a', value: 1 },
      ],
      { m: { a: 1 } },
    ],
  ]
  for (const [name, document, operations, expected] of cases) {
    assert.deepEqual(applyJsonPatch(document, operations), expected, name)
  }
})

test('an operation that fails is an error, and nothing is applied', () => {
  const cases: [string, unknown, JsonPatchOperation][] = [
    ['unknown op', {}, { op: 'nope', path: '/a' }],
    ['missing parent', {}, { op: 'add', path: '/metadata/labels/a', value: 'x' }],
    ['parent is a scalar', { a: 1 }, { op: 'add', path: '/a/b', value: 'x' }],
    ['remove an absent key', {}, { op: 'remove', path: '/a' }],
    ['remove an absent index', { l: [1] }, { op: 'remove', path: '/l/1' }],
    ['replace an absent index', { l: [1] }, { op: 'replace', path: '/l/1', value: 1 }],
    ['replace below a missing parent', {}, { op: 'replace', path: '/a/b', value: 1 }],
    ['add past the end', { l: [1] }, { op: 'add', path: '/l/2', value: 1 }],
    ['remove before the start', { l: [1] }, { op: 'remove', path: '/l/-2' }],
    ['add before the start', { l: [1] }, { op: 'add', path: '/l/-3', value: 1 }],
    ['no index', { l: [1] }, { op: 'add', path: '/l/x', value: 1 }],
    ['- is no existing item', { l: [1] }, { op: 'remove', path: '/l/-' }],
    ['move from an absent key', {}, { op: 'move', from: '/a', path: '/b' }],
    ['copy from a missing parent', {}, { op: 'copy', from: '/a/b', path: '/b' }],
    ['test mismatch', { a: 1 }, { op: 'test', path: '/a', value: 2 }],
    ['test null against a value', { a: 1 }, { op: 'test', path: '/a', value: null }],
    ['test a value against absence', {}, { op: 'test', path: '/a', value: 1 }],
    ['test below a missing parent', {}, { op: 'test', path: '/a/b', value: null }],
    ['empty path', {}, { op: 'add', path: '', value: {} }],
    ['no path', {}, { op: 'add' } as unknown as JsonPatchOperation],
    ['move without from', {}, { op: 'move', path: '/a' }],
    ['root replaced by a scalar', {}, { op: 'replace', path: '', value: 'x' }],
  ]
  for (const [name, document, operation] of cases) {
    const before = JSON.stringify(document)
    const operations = [{ op: 'test', path: '/zzz', value: null }, operation]
    assert.throws(
      () => applyJsonPatch(document, operations),
      (error) => error instanceof JsonPatchError && error.index === 1,
      name,
    )
    assert.equal(JSON.stringify(document), before, name)
  }
})

test('a place that is missing, or no text, is told', () => {
  const cases: [object, string][] = [
    [{ op: 'add', value: 1 }, 'add operation failed to decode path: missing value'],
    [{ op: 'add', path: 5, value: 1 }, 'add operation failed to decode path: missing value'],
    [{ op: 'remove' }, 'remove operation failed to decode path: missing value'],
    [
      { op: 'replace', value: 1 },
      'replace operation failed to decode path: operation missing path field: missing value',
    ],
    [
      { op: 'test', value: 1 },
      'test operation failed to decode path: operation missing path field: missing value',
    ],
    [
      { op: 'move', from: '/a' },
      'move operation failed to decode path: operation missing path field: missing value',
    ],
    [
      { op: 'move', path: '/a' },
      'move operation failed to decode from: operation, missing from field: missing value',
    ],
    [
      { op: 'copy', path: '/a' },
      'copy operation failed to decode from: operation, missing from field: missing value',
    ],
    [{ op: 'copy', from: '/a' }, 'copy operation failed to decode path: missing value'],
    [{ path: '/a' }, 'Unexpected kind: unknown'],
  ]
  for (const [operation, message] of cases)
    assert.throws(() => applyJsonPatch({ a: 1 }, [operation as JsonPatchOperation]), { message })
})

test('a copy from nowhere names the path as it was given', () => {
  assert.throws(() => applyJsonPatch({}, [{ op: 'copy', from: '/a/b', path: '/b' }]), {
    message: 'copy operation does not apply: doc is missing from path: /a/b: missing value',
  })
})

test('copy may add only so much', () => {
  const copy = { op: 'copy', from: '/a', path: '/b' }
  const document = { a: 'x'.repeat(98) }
  assert.deepEqual(applyJsonPatch(document, [copy], 100), { ...document, b: document.a })
  assert.throws(() => applyJsonPatch(document, [copy, copy], 199), /exceeding the limit 199/)
})

test('the document is not edited, and untouched parts are shared', () => {
  const document = Object.freeze({
    a: Object.freeze([Object.freeze({ b: 1 })]),
    c: Object.freeze({}),
  })
  const result = applyJsonPatch(document, [
    { op: 'add', path: '/a/0/x', value: 1 },
  ]) as typeof document
  assert.deepEqual(result, { a: [{ b: 1, x: 1 }], c: {} })
  assert.equal(result.c, document.c)
})

test('Given what was edited and then copied, then later edits are seen in one place only', () => {
  const document = { a: { x: 1, list: [{ y: 1 }] } }
  const patched = applyJsonPatch(document, [
    { op: 'replace', path: '/a/x', value: 2 },
    { op: 'replace', path: '/a/list/0/y', value: 2 },
    { op: 'copy', from: '/a', path: '/b' },
    { op: 'replace', path: '/a/list/0/y', value: 3 },
    { op: 'replace', path: '/b/x', value: 4 },
    { op: 'move', from: '/b/list', path: '/c' },
    { op: 'add', path: '/c/-', value: { z: 1, y: 9 } },
    { op: 'add', path: '/c/1/a', value: 0 },
  ])
  assert.equal(
    JSON.stringify(patched),
    '{"a":{"list":[{"y":3}],"x":2},"b":{"x":4},"c":[{"y":2},{"a":0,"y":9,"z":1}]}',
  )
  assert.deepEqual(document, { a: { x: 1, list: [{ y: 1 }] } })
})

test('a patch opens an object once, however many of its keys it changes', () => {
  let reads = 0
  const data = new Proxy(
    Object.fromEntries(Array.from({ length: 100 }, (_, at) => [`k${at}`, 0])),
    {
      ownKeys: (target) => {
        reads++
        return Reflect.ownKeys(target)
      },
    },
  )
  const operations = Array.from({ length: 100 }, (_, at) => ({
    op: 'replace',
    path: `/data/k${at}`,
    value: 1,
  }))
  const patched = applyJsonPatch({ data }, operations) as { data: Record<string, number> }
  assert.equal(Object.values(patched.data).filter((value) => value === 1).length, 100)
  assert.ok(reads <= 2, `its keys were listed ${reads} times`)
})

describe('what a patch makes is nested no deeper than what may be sent', () => {
  const nested = (depth: number, leaf: unknown = 1): unknown =>
    depth === 0 ? leaf : { a: nested(depth - 1, leaf) }
  const place = (depth: number): string => '/a'.repeat(depth)
  const move = (from: string, path: string): JsonPatchOperation => ({ op: 'move', from, path })
  const tooDeep = { name: 'JsonPatchError', message: 'exceeded max depth' }
  const two = (a: unknown, b: unknown): unknown => ({ a, b })

  test('by copies, which double it', () => {
    const copies: JsonPatchOperation[] = []
    for (let depth = 1; depth <= 2 ** 14; depth *= 2)
      copies.push({ op: 'copy', from: '/a', path: place(depth + 1) })
    assert.throws(() => applyJsonPatch({ a: { a: {} } }, copies), tooDeep)
  })

  test('by what is added', () => {
    const added = (depth: number): unknown =>
      applyJsonPatch(nested(500), [{ op: 'add', path: place(500), value: nested(depth) }])
    assert.deepEqual(added(500), nested(1000))
    assert.throws(() => added(501), tooDeep)
  })

  test('by moves', () => {
    const document = two(nested(600), nested(600))
    assert.throws(() => applyJsonPatch(document, [move('/b', place(600))]), tooDeep)
  })

  test('but it may be so on the way, and what goes deep need not be deep', () => {
    const there = move('/b', place(602))
    const back = move(place(602), '/b')
    const document = two(nested(600, {}), nested(600))
    assert.deepEqual(applyJsonPatch(document, [there, back]), document)
    const flat = two(nested(600, {}), 1)
    const often = Array.from({ length: 20 }, () => [there, back]).flat()
    assert.deepEqual(applyJsonPatch(flat, often), flat)
  })
})
