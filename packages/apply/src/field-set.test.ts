import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fields from './field-set.ts'
import type { FieldSet } from './field-set.ts'

const set = (value: unknown): FieldSet => fields.parseFieldSet(value)!

test('a leaf is the path itself, a node with children is not, unless it holds a dot', () => {
  const tree = set({ 'f:data': { 'f:a': {} }, 'f:spec': { '.': {}, 'f:b': {} } })
  assert.equal(fields.hasPath(tree, ['f:data']), false)
  assert.equal(fields.hasPath(tree, ['f:data', 'f:a']), true)
  assert.equal(fields.hasPath(tree, ['f:spec']), true)
  assert.equal(fields.hasPath(tree, ['f:none']), false)
})

test('union, difference and intersection go path by path', () => {
  const cases: readonly [FieldSet, FieldSet, unknown, unknown, unknown][] = [
    [{ 'f:a': {} }, { 'f:b': {} }, { 'f:a': {}, 'f:b': {} }, { 'f:a': {} }, {}],
    [{ 'f:a': {} }, { 'f:a': { 'f:b': {} } }, { 'f:a': { '.': {}, 'f:b': {} } }, { 'f:a': {} }, {}],
    [
      { 'f:a': { '.': {}, 'f:b': {} } },
      { 'f:a': {} },
      { 'f:a': { '.': {}, 'f:b': {} } },
      { 'f:a': { 'f:b': {} } },
      { 'f:a': {} },
    ],
    [
      { 'f:a': { '.': {}, 'f:b': {} } },
      { 'f:a': { 'f:b': {} } },
      { 'f:a': { '.': {}, 'f:b': {} } },
      { 'f:a': {} },
      { 'f:a': { 'f:b': {} } },
    ],
    [
      { 'f:a': { 'f:b': {} } },
      { 'f:a': { 'f:b': {} } },
      { 'f:a': { 'f:b': {} } },
      {},
      { 'f:a': { 'f:b': {} } },
    ],
    [{}, { 'f:a': {} }, { 'f:a': {} }, {}, {}],
  ]
  for (const [a, b, union, difference, intersection] of cases) {
    assert.deepEqual(fields.union(a, b), union)
    assert.deepEqual(fields.difference(a, b), difference)
    assert.deepEqual(fields.intersection(a, b), intersection)
  }
})

test('the recursive difference takes everything below a path too', () => {
  const tree = set({ 'f:spec': { 'f:a': {} }, 'f:status': { 'f:b': {} } })
  assert.deepEqual(fields.recursiveDifference(tree, set({ 'f:status': {} })), {
    'f:spec': { 'f:a': {} },
  })
  assert.deepEqual(fields.difference(tree, set({ 'f:status': {} })), tree)
})

test('operations that change nothing return the same tree', () => {
  const tree = set({ 'f:spec': { 'f:a': {}, 'f:b': {} } })
  assert.equal(fields.union(tree, set({ 'f:spec': { 'f:a': {} } })), tree)
  assert.equal(fields.difference(tree, set({ 'f:status': {} })), tree)
})

test('elements stand in order: fields by name, keys by their values with numbers as numbers', () => {
  const tree = set({
    'f:list': {
      'v:"b"': {},
      'k:{"containerPort":443,"protocol":"TCP"}': {},
      'f:b': {},
      'k:{"protocol":"UDP","containerPort":80}': {},
      'k:{"containerPort":80,"protocol":"TCP"}': {},
      'f:a': {},
      '.': {},
    },
  })
  assert.deepEqual(Object.keys(tree['f:list']!), [
    '.',
    'f:a',
    'f:b',
    'k:{"containerPort":80,"protocol":"TCP"}',
    'k:{"containerPort":80,"protocol":"UDP"}',
    'k:{"containerPort":443,"protocol":"TCP"}',
    'v:"b"',
  ])
})

test('field sets of clients are brought to canonical form or refused', () => {
  assert.deepEqual(set({ 'k:{ "b": 1, "a": "x" }': { '.': {} } }), { 'k:{"a":"x","b":1}': {} })
  assert.deepEqual(set({ 'f:a': { '.': 5, 'i:01': null } }), { 'f:a': { '.': {}, 'i:1': {} } })
  assert.deepEqual(set({ '.': {}, 'x:data': 5, 'f:a': { 'y:b': {} } }), { 'f:a': {} })
  for (const bad of [
    1,
    null,
    [],
    { x: {} },
    { 'k:{': {} },
    { 'k:1': {} },
    { 'i:x': {} },
    { 'f:a': 1 },
  ]) {
    assert.equal(fields.parseFieldSet(bad), undefined, JSON.stringify(bad))
  }
})

test('paths print as in conflict messages, those ending at a level first', () => {
  const tree = set({
    'f:ports': { 'k:{"port":81,"protocol":"TCP"}': { 'f:name': {} } },
    'f:selector': {},
    'f:finalizers': { 'v:"a/b"': {} },
    'f:list': { 'i:3': {} },
  })
  assert.deepEqual([...fields.pathsIn(tree)].map(fields.formatPath), [
    '.selector',
    '.finalizers[="a/b"]',
    '.list[3]',
    '.ports[port=81,protocol="TCP"].name',
  ])
})

test('elements are written as Go writes JSON, and paths show values that are no keys in a way of their own', () => {
  assert.equal(fields.valueElement('a<b>&\u2028'), String.raw`v:"a\u003cb\u003e\u0026\u2028"`)
  const element = fields.keyElement([['name', '<']])
  assert.equal(element, String.raw`k:{"name":"\u003c"}`)
  assert.equal(fields.formatElement(element), '[name="<"]')
  assert.deepEqual(fields.parseFieldSet({ 'k:{"name":"<"}': {} }), { [element]: {} })
  assert.deepEqual(fields.parseFieldSet({ 'v:{"b":1,"a":2}': {}, 'i:+01': {} }), {
    'v:{"a":2,"b":1}': {},
    'i:1': {},
  })
  assert.equal(fields.parseFieldSet({ 'i:99999999999999999999': {} }), undefined)
  for (const [value, shown] of [
    [{ b: 1, a: 'x' }, '[k=a="x"b=1]'],
    [{}, '[k=]'],
    [[{ a: [1] }, 2], '[k=[a=[1],2]]'],
    [1.2345678901234568e20, '[k=1.2345678901234568e+20]'],
    [null, '[k=null]'],
  ] as const)
    assert.equal(fields.formatElement(fields.keyElement([['k', value]])), shown)
})
