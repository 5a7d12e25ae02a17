import assert from 'node:assert/strict'
import { test } from 'node:test'
import { drive } from '@gyropilot/runtime/testing'
import { schemaIn, servedSchema } from './served-schema.ts'
import type { OpenApiDocument, ReadDocuments } from './served-schema.ts'

const kind = (group: string, version: string) => [{ group, version, kind: 'Thing' }]
const reference = (name: string) => ({ $ref: `#/components/schemas/${name}` })
const schemas = {
  other: { type: 'object', 'x-kubernetes-group-version-kind': kind('other.test', 'v1') },
  beta: { type: 'object', 'x-kubernetes-group-version-kind': kind('acme.test', 'v1beta1') },
  thing: {
    type: 'object',
    properties: {
      wrapped: { allOf: [reference('part')], description: 'Told apart.' },
      list: { type: 'array', items: reference('part') },
      map: { type: 'object', additionalProperties: reference('part') },
      port: { oneOf: [{ type: 'integer' }, { type: 'string' }], format: 'int-or-string' },
      lost: reference('nowhere'),
    },
    'x-kubernetes-group-version-kind': kind('acme.test', 'v1'),
  },
  part: { type: 'object', properties: { size: { type: 'integer' }, inner: reference('part') } },
}
const document = { components: { schemas } } as unknown as OpenApiDocument
const find = (group: string, version: string) =>
  schemaIn(document, { group, version, kind: 'Thing' })

test('references are replaced, a type within itself by an object without fields', () => {
  const part = {
    type: 'object',
    properties: { size: { type: 'integer' }, inner: { type: 'object' } },
  }
  const { properties } = find('acme.test', 'v1')!
  assert.deepEqual(properties?.['wrapped'], part)
  assert.deepEqual(properties['list'], { type: 'array', items: part })
  assert.deepEqual(properties['map'], { type: 'object', additionalProperties: part })
  assert.equal(properties['port']?.['x-kubernetes-int-or-string'], true)
  assert.deepEqual(properties['lost'], {})
})

test('the kind is found by group, version and name', () => {
  assert.equal(find('other.test', 'v1')?.properties, undefined)
  assert.equal(find('acme.test', 'v1beta1')?.properties, undefined)
  assert.equal(find('acme.test', 'v2'), undefined)
  assert.equal(schemaIn(undefined, { group: '', version: 'v1', kind: 'Thing' }), undefined)
})

test('a schema of several kinds is that of each of them', () => {
  const shared = {
    type: 'object',
    'x-kubernetes-group-version-kind': [...kind('', 'v1'), ...kind('acme.test', 'v1')],
  }
  const documentOf = { components: { schemas: { shared } } } as unknown as OpenApiDocument
  for (const group of ['', 'acme.test'])
    assert.ok(schemaIn(documentOf, { group, version: 'v1', kind: 'Thing' }))
})

test('the core group has a place of its own among the documents, and each is read once', () => {
  const documents: ReadDocuments = new Map()
  const asked = (group: string): readonly string[] => {
    const paths: string[] = []
    drive(servedSchema({ group, version: 'v1', kind: 'Thing' }, documents), {
      onFetch(path) {
        paths.push(path)
        return { ok: true, object: document as object }
      },
    })
    return paths
  }
  assert.deepEqual(asked(''), ['/openapi/v3/api/v1'])
  assert.deepEqual(asked('acme.test'), ['/openapi/v3/apis/acme.test/v1'])
  assert.deepEqual(asked('acme.test'), [])
})
