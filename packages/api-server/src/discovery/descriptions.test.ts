import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTestServer, type AnyValue } from '../testing/test-server.ts'
import { parseRuntimeConfig, type RuntimeConfig } from '../registry/runtime-config.ts'
import texts from './descriptions.json' with { type: 'json' }

/** Everything that can be served. */
const ALL = {
  runtimeConfig: parseRuntimeConfig(['api/all=true']) as RuntimeConfig,
  featureGates: {
    ClusterTrustBundle: true,
    GenericWorkload: true,
    PodCertificateRequest: true,
    StorageVersionMigrator: true,
  },
}

async function schemasOf(request: AnyValue, path: string): Promise<AnyValue> {
  const { status, value } = await request('GET', `/openapi/v3/${path}`)
  assert.equal(status, 200)
  return JSON.parse(value).components.schemas ?? {}
}

test('every kind has a description, and so has every field of it and of what it is made of', async () => {
  const { request } = await createTestServer(ALL)
  const index = JSON.parse((await request('GET', '/openapi/v3')).value)
  const silent: string[] = []
  let kinds = 0
  for (const path of Object.keys(index.paths)) {
    for (const [name, schema] of Object.entries<AnyValue>(await schemasOf(request, path))) {
      const isKind =
        schema['x-kubernetes-group-version-kind'] !== undefined &&
        schema.properties?.apiVersion !== undefined
      if (isKind) kinds++
      if (isKind && name.startsWith('io.k8s.api.') && schema.description === undefined)
        silent.push(name)
      for (const [field, { description }] of Object.entries<AnyValue>(schema.properties ?? {}))
        if (description === undefined) silent.push(`${name}.${field}`)
    }
  }
  assert.ok(kinds > 100, String(kinds))
  assert.deepEqual(silent, [])
})

test('every text is about a kind and a field that exist, is one line, and ends as a sentence', async () => {
  const { request } = await createTestServer(ALL)
  const index = JSON.parse((await request('GET', '/openapi/v3')).value)
  const schemas: Record<string, AnyValue> = {}
  for (const path of Object.keys(index.paths))
    Object.assign(schemas, await schemasOf(request, path))
  for (const [name, fields] of Object.entries(texts as Record<string, Record<string, string>>)) {
    const full = ['io.k8s.api.', 'io.k8s.apimachinery.pkg.apis.', 'io.k8s.'].find(
      (prefix) => `${prefix}${name}` in schemas,
    )
    assert.ok(full !== undefined, name)
    for (const [field, text] of Object.entries(fields)) {
      const described: AnyValue = schemas[`${full}${name}`]
      const found: AnyValue = field === '' ? described : described.properties?.[field]
      assert.equal(found?.description, text, `${name}.${field}`)
      assert.match(text, /^[A-Z0-9/r][^\n]{2,250}\.$/, `${name}.${field}`)
    }
  }
})

test('a custom resource is described by its definition; only what all objects have is told besides', async () => {
  const { request, clock } = await createTestServer()
  const schema = {
    type: 'object',
    description: 'A thing for tests.',
    properties: {
      spec: {
        type: 'object',
        description: 'What a thing should be.',
        properties: { size: { type: 'integer', description: 'How large it is.' } },
      },
      status: { type: 'object' },
    },
  }
  await request('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', {
    metadata: { name: 'things.example.com' },
    spec: {
      group: 'example.com',
      scope: 'Namespaced',
      names: { plural: 'things', kind: 'Thing' },
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schema } }],
    },
  })
  await clock.advance(6000)
  const schemas = await schemasOf(request, 'apis/example.com/v1')
  const thing = schemas['com.example.v1.Thing']
  const { apiVersion, metadata, spec, status } = thing.properties
  assert.deepEqual(
    [thing, spec, spec.properties.size, status].map(({ description }) => description),
    ['A thing for tests.', 'What a thing should be.', 'How large it is.', undefined],
  )
  assert.match(apiVersion.description, /^APIVersion defines in which group and version/)
  assert.match(metadata.description, /^Standard object's metadata: name, labels/)
  const meta = schemas['io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta']
  assert.match(meta.properties.labels.description, /^Short facts/)
  const swagger = JSON.parse((await request('GET', '/openapi/v2')).value)
  assert.equal(swagger.definitions['com.example.v1.Thing'].description, 'A thing for tests.')
  assert.match(swagger.definitions['io.k8s.api.core.v1.Pod'].description, /^Containers that run/)
})
