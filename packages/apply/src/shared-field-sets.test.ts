import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { FieldSet } from './field-set.ts'
import { isShared, shared } from './shared-field-sets.ts'

const copy = (set: FieldSet): FieldSet => structuredClone(set)
const labels: FieldSet = { 'f:metadata': { 'f:labels': { '.': {}, 'f:app': {} } } }
const withAddress = (ip: string): FieldSet => ({
  ...copy(labels),
  'f:status': { 'f:podIPs': { '.': {}, [`k:{"ip":"${ip}"}`]: { '.': {}, 'f:ip': {} } } },
})

test('equal sets are one object, in the order in which they were written', () => {
  const one = shared(copy(labels))
  assert.equal(shared(copy(labels)), one)
  assert.equal(JSON.stringify(one), JSON.stringify(labels))
  assert.equal(shared(one), one)
  assert.ok(isShared(one))
})

test('sets that differ share what is equal in them', () => {
  const one = shared(withAddress('10.0.0.1'))
  const two = shared(withAddress('10.0.0.2'))
  assert.notEqual(two, one)
  assert.deepEqual([one, two], [withAddress('10.0.0.1'), withAddress('10.0.0.2')])
  assert.equal(two['f:metadata'], one['f:metadata'])
})

test('a name that reads like the shape of something else is not taken for it', () => {
  const inner: FieldSet = { 'f:a': { 'f:b': {} } }
  const tricky: FieldSet = { 'f:a': {}, 'f:b': {} }
  assert.deepEqual(shared(copy(inner)), inner)
  assert.deepEqual(shared(copy(tricky)), tricky)
  const escaped: FieldSet = { 'v:"x\\n1\\nf:y"': {} }
  assert.deepEqual(shared(copy(escaped)), escaped)
  assert.deepEqual(shared({ 'f:x\n1\nf:y': {} }), { 'f:x\n1\nf:y': {} })
  assert.deepEqual(shared({ 'f:x': {}, 'f:y': {} }), { 'f:x': {}, 'f:y': {} })
})

test('shared sets cannot be changed, the given one can', () => {
  const given = copy(labels) as Record<string, FieldSet>
  const one = shared({ ...copy(labels), 'f:spec': {} })
  assert.ok(Object.isFrozen(one) && Object.isFrozen(one['f:metadata']!['f:labels']))
  const other = shared(given)
  assert.equal(other['f:metadata'], one['f:metadata'])
})

test('sets that are met once push out none that are met again', () => {
  const one = shared(copy(labels))
  shared(copy(labels))
  for (let i = 0; i < 50_000; i++) {
    const withOwnAddress = shared(withAddress(`10.7.${i >> 8}.${i & 255}`))
    assert.equal(withOwnAddress['f:metadata'], one['f:metadata'])
    assert.ok(!isShared(withOwnAddress) && Object.isFrozen(withOwnAddress['f:status']!['f:podIPs']))
  }
  assert.equal(shared(copy(labels)), one)
})

test('sets beyond those that are remembered stay right', () => {
  const withLabel = (name: string): FieldSet => ({
    ...copy(labels),
    'f:status': {
      'f:conditions': { '.': {}, [`k:{"type":"${name}"}`]: { '.': {}, 'f:type': {} } },
    },
  })
  const one = shared(withLabel('first'))
  assert.equal(shared(withLabel('first')), one)
  for (let i = 0; i < 10_000; i++) {
    const name = `Type${i}`
    assert.equal(shared(withLabel(name)), shared(withLabel(name)))
    assert.deepEqual(shared(withLabel(name)), withLabel(name))
  }
  assert.notEqual(shared(withLabel('first')), one)
  assert.deepEqual(shared(withLabel('first')), one)
})
