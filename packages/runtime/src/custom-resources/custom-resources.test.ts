import assert from 'node:assert/strict'
import { test } from 'node:test'
import { defineResource, definitionOf } from './define-resource.ts'

const schema = { type: 'object', properties: { spec: { type: 'object' } } }

test('a type is a URL and a shape; the plural follows the kind unless it is given', () => {
  const of = (kind: string) =>
    defineResource({ group: 'example.com', version: 'v1', kind }).resource
  const plurals = { Website: 'websites', Policy: 'policies', Gateway: 'gateways', Class: 'classes' }
  const sibilant = { Mesh: 'meshes', Box: 'boxes', Batch: 'batches' }
  for (const [kind, plural] of Object.entries({ ...plurals, ...sibilant }))
    assert.equal(of(kind), plural)
  assert.deepEqual(
    defineResource({
      group: 'example.com',
      version: 'v1beta1',
      kind: 'Fish',
      resource: 'fish',
      namespaced: false,
    }),
    { group: 'example.com', version: 'v1beta1', kind: 'Fish', resource: 'fish', namespaced: false },
  )
})

test('a definition has one served and stored version, and the status subresource unless refused', () => {
  const websites = defineResource({ group: 'example.com', version: 'v1', kind: 'Website' })
  const columns = [{ name: 'Ready', type: 'boolean', jsonPath: '.status.ready' }]
  const definition = definitionOf(websites, {
    schema,
    shortNames: ['ws'],
    categories: ['all'],
    additionalPrinterColumns: columns,
  })
  assert.equal(definition.metadata?.name, 'websites.example.com')
  assert.deepEqual(definition.spec, {
    group: 'example.com',
    scope: 'Namespaced',
    names: {
      kind: 'Website',
      listKind: 'WebsiteList',
      plural: 'websites',
      singular: 'website',
      shortNames: ['ws'],
      categories: ['all'],
    },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: { openAPIV3Schema: schema },
        subresources: { status: {} },
        additionalPrinterColumns: columns,
      },
    ],
  })
  const plain = definitionOf(
    { ...websites, namespaced: false },
    { schema, statusSubresource: false },
  )
  assert.equal(plain.spec.scope, 'Cluster')
  assert.ok(!('categories' in plain.spec.names))
  assert.equal(plain.spec.versions[0]?.subresources, undefined)
})

test('a definition of several versions stores one; each has its schema, its subresources and columns', () => {
  const websites = defineResource({ group: 'example.com', version: 'v2', kind: 'Website' })
  const scale = { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' }
  const older = { type: 'object', properties: { spec: { type: 'string' } } }
  const { spec } = definitionOf(websites, {
    schema,
    scaleSubresource: scale,
    otherVersions: [
      { version: 'v1', schema: older, deprecated: true, deprecationWarning: 'use v2' },
      { version: 'v1alpha1', schema: older, served: false, statusSubresource: false },
    ],
    conversion: { strategy: 'None' },
  })
  assert.deepEqual(spec.conversion, { strategy: 'None' })
  assert.deepEqual(spec.versions, [
    {
      name: 'v2',
      served: true,
      storage: true,
      schema: { openAPIV3Schema: schema },
      subresources: { status: {}, scale },
    },
    {
      name: 'v1',
      served: true,
      storage: false,
      schema: { openAPIV3Schema: older },
      subresources: { status: {} },
      deprecated: true,
      deprecationWarning: 'use v2',
    },
    {
      name: 'v1alpha1',
      served: false,
      storage: false,
      schema: { openAPIV3Schema: older },
    },
  ])
})
