import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { MergeType } from '@gyropilot/apply'
import { mergeTypeOfResource } from './merge-type.ts'
import type { Schema } from './structural-schema.ts'

const KEEPS = { 'x-kubernetes-preserve-unknown-fields': true }
const inner: Schema = { type: 'object', properties: { known: { type: 'string' } } }
const holders: Readonly<Record<string, Schema>> = {
  property: { type: 'object', properties: { at: inner } },
  deeper: { type: 'object', properties: { at: { type: 'object', properties: { at: inner } } } },
  item: { type: 'object', properties: { at: { type: 'array', items: inner } } },
  value: { type: 'object', additionalProperties: inner },
  list: { type: 'array', items: inner },
  beside: { type: 'object', properties: { x: { type: 'string' } }, additionalProperties: inner },
}

/** The type of `inner`, however deep it stands. */
function innermost(type: MergeType | undefined): MergeType | undefined {
  const { map, list } = type ?? {}
  if (map?.fields.has('known')) return type
  return innermost(map?.fields.get('at')?.type ?? list?.items ?? map?.values)
}

for (const [where, holder] of Object.entries(holders)) {
  const innerOf = (spec: Schema, root: Schema = {}): MergeType | undefined => {
    const resource = mergeTypeOfResource({ type: 'object', ...root, properties: { spec } })
    return innermost(resource.map?.fields.get('spec')?.type)
  }

  test(`what keeps unknown fields takes them at each place below: ${where}`, () => {
    assert.equal(innerOf(holder)?.map?.values, undefined)
    assert.notEqual(innerOf({ ...holder, ...KEEPS })?.map?.values, undefined)
    assert.notEqual(innerOf(holder, KEEPS)?.map?.values, undefined)
    // What is known keeps its type.
    assert.deepEqual(innerOf(holder, KEEPS)?.map?.fields.get('known')?.type, { scalar: 'string' })
  })
}

test('what has no type may be anything, and a map of it keeps the types that are described', () => {
  const spec: Schema = {
    ...KEEPS,
    properties: { at: { type: 'array', 'x-kubernetes-list-type': 'set', items: inner } },
  }
  const root = mergeTypeOfResource({ type: 'object', properties: { spec } })
  const type = root.map!.fields.get('spec')!.type
  assert.deepEqual([type.scalar, type.list?.ownership], ['untyped', 'atomic'])
  const at = type.map?.fields.get('at')?.type.list
  assert.equal(at?.ownership, 'set')
  assert.notEqual(at?.items.map?.values, undefined)
  assert.notEqual(type.map?.values, undefined)
})
