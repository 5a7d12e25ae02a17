import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compare } from './compare.ts'
import { mergeTypeOfKind } from './merge-type.ts'

const type = mergeTypeOfKind('v1', 'ConfigMap')!
const withData = (data: Record<string, string>): object => ({ data })

test('the same difference is one object, whatever the values are', () => {
  const one = compare(type, withData({ a: '1', gone: 'x' }), withData({ a: '2', b: '3' }))
  const two = compare(type, withData({ a: '4', gone: 'y' }), withData({ a: '5', b: '6' }))
  assert.equal(two, one)
  assert.deepEqual(
    [one.added, one.modified, one.removed],
    [{ 'f:data': { 'f:b': {} } }, { 'f:data': { 'f:a': {} } }, { 'f:data': { 'f:gone': {} } }],
  )
  assert.deepEqual(one.touched, { 'f:data': { 'f:a': {}, 'f:b': {}, 'f:gone': {} } })
  assert.deepEqual(one.taken, { 'f:data': { 'f:a': {}, 'f:b': {} } })
  assert.equal(one.taken, two.taken)
})

test('what was added is not taken for what was removed or modified', () => {
  const of = (before: object, after: object): unknown[] => {
    const { added, modified, removed } = compare(type, before, after)
    return [added, modified, removed]
  }
  const set = { 'f:data': { 'f:a': {} } }
  assert.deepEqual(of(withData({ z: '' }), withData({ z: '', a: '' })), [set, {}, {}])
  assert.deepEqual(of(withData({ z: '', a: '' }), withData({ z: '' })), [{}, {}, set])
  assert.deepEqual(of(withData({ a: '1' }), withData({ a: '2' })), [{}, set, {}])
})

test('paths are told apart whatever is in their elements', () => {
  const keys = ['a', 'a,1', '1', 'f:a', '|', '!', '__proto__x', 'constructor', 'toString', '.']
  for (const key of keys)
    for (const other of keys)
      assert.deepEqual(compare(type, {}, withData({ [key]: '', [other]: '' })).added, {
        'f:data': { '.': {}, [`f:${key}`]: {}, [`f:${other}`]: {} },
      })
})

test('differences beyond those that are remembered stay right', () => {
  const first = compare(type, {}, withData({ first: '' }))
  for (let i = 0; i < 20_000; i++) {
    const key = `key-${i}`
    const { added } = compare(type, withData({ z: '' }), withData({ z: '', [key]: '' }))
    assert.deepEqual(Object.keys(added['f:data']!), [`f:${key}`])
  }
  assert.deepEqual(compare(type, {}, withData({ first: '' })), first)
})
