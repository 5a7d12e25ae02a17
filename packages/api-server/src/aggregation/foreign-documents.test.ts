import assert from 'node:assert/strict'
import { test } from 'node:test'
import { turn, until } from '../testing/test-server.ts'
import type { AnyValue } from '../testing/test-server.ts'
import {
  API_SERVICES,
  GROUP,
  available,
  backend,
  withBackend,
  world,
} from '../testing/backend-server.ts'

withBackend()

const NAME = `apis/${GROUP}/v1`
const OBJECT_META = 'io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta'
const KINDS = [{ group: GROUP, version: 'v1', kind: 'Load' }]

const swagger = {
  swagger: '2.0',
  info: { title: 'Other', version: 'v9' },
  paths: {
    [`/${NAME}/loads`]: {
      get: {
        operationId: 'listLoads',
        produces: ['application/json'],
        parameters: [{ name: 'limit', in: 'query', type: 'integer', description: 'most' }],
        responses: { 200: { description: 'OK', schema: { $ref: '#/definitions/Load' } } },
      },
      post: {
        consumes: ['*/*'],
        parameters: [
          { name: 'body', in: 'body', required: true, schema: { $ref: '#/definitions/Load' } },
        ],
        responses: { 201: { description: 'Created' } },
      },
    },
    '/api/v1/pods': { get: { responses: { 200: { description: 'not its own' } } } },
    '/elsewhere': { get: { responses: { 200: { description: 'x' } } } },
  },
  definitions: {
    Load: {
      type: 'object',
      properties: {
        metadata: { description: 'meta', $ref: `#/definitions/${OBJECT_META}` },
        other: { $ref: '#/definitions/Load' },
        items: { type: 'array', items: { type: 'string' } },
      },
      'x-kubernetes-group-version-kind': KINDS,
    },
    [OBJECT_META]: { type: 'object', properties: { odd: { type: 'string' } } },
    Unused: { type: 'object' },
  },
}

const index = (hash: string): object => ({
  paths: {
    [NAME]: { serverRelativeURL: `/openapi/v3/${NAME}?hash=${hash}` },
    'api/v1': { serverRelativeURL: '/openapi/v3/api/v1?hash=theirs' },
    outside: { serverRelativeURL: 'https://elsewhere.example/' },
  },
})

async function paths(): Promise<AnyValue> {
  return JSON.parse((await world.call('GET', '/openapi/v3')).body).paths
}

/** Where the document of its group version is now. */
async function toldAt(): Promise<string> {
  return until(async () => (await paths())[NAME]?.serverRelativeURL)
}

test('documents of version 3 are listed, and read where they are by whoever asks', async () => {
  backend.openApi = { v3: index('A'), [`v3/${NAME}`]: { openapi: '3.0.0' } }
  await available()
  const url = await toldAt()
  assert.equal(url, `/openapi/v3/${NAME}?hash=A`)
  const { 'api/v1': own, outside } = await paths()
  assert.notEqual(own.serverRelativeURL, '/openapi/v3/api/v1?hash=theirs')
  assert.equal(outside, undefined)
  assert.deepEqual(backend.documentsAsked, [
    '/openapi/v3 system:aggregator',
    '/openapi/v2 system:aggregator',
  ])
  const { status, body } = await world.call('GET', url)
  assert.deepEqual([status, body], [200, '{"openapi":"3.0.0"}'])
  assert.equal(backend.documentsAsked.at(-1), `${url} admin`)
  assert.equal((await world.call('GET', '/openapi/v3/outside')).status, 404)
})

test('what is told anew is listed anew, and goes with its APIService', async () => {
  backend.openApi = { v3: index('A'), v2: swagger }
  await available()
  await toldAt()
  const definitions = async (): Promise<AnyValue> =>
    JSON.parse((await world.call('GET', '/openapi/v2')).body).definitions
  await until(async () => 'Load' in (await definitions()))
  backend.openApi['v3'] = index('B')
  await world.clock.advance(30_000)
  await until(async () => (await toldAt()).endsWith('=B'))
  assert.equal(backend.documentsAsked.at(-1), '/openapi/v2 system:aggregator "known"')
  assert.ok('Load' in (await definitions()))
  await world.call('DELETE', `${API_SERVICES}/v1.${GROUP}`)
  assert.equal(NAME in (await paths()), false)
  assert.equal('Load' in (await definitions()), false)
})

test('its part of version 2 is merged: its own paths, what they use, and other meanings under other names', async () => {
  backend.openApi = { v2: swagger }
  await available()
  await toldAt()
  const { paths: merged, definitions } = JSON.parse((await world.call('GET', '/openapi/v2')).body)
  assert.deepEqual(merged[`/${NAME}/loads`], swagger.paths[`/${NAME}/loads`])
  assert.equal(merged['/elsewhere'], undefined)
  assert.notEqual(merged['/api/v1/pods'].get.responses[200].description, 'not its own')
  assert.deepEqual(definitions.Load.properties, {
    metadata: { description: 'meta', $ref: `#/definitions/${OBJECT_META}_v2` },
    other: { $ref: '#/definitions/Load' },
    items: { type: 'array', items: { type: 'string' } },
  })
  assert.deepEqual(definitions.Load['x-kubernetes-group-version-kind'], KINDS)
  assert.deepEqual(definitions[`${OBJECT_META}_v2`], swagger.definitions[OBJECT_META])
  assert.equal('odd' in definitions[OBJECT_META].properties, false)
  assert.equal('Unused' in definitions, false)
})

test('a server without version 3 is told of in the words of version 3', async () => {
  backend.openApi = { v2: swagger }
  await available()
  const url = await toldAt()
  const document = JSON.parse((await world.call('GET', url)).body)
  const { get, post } = document.paths[`/${NAME}/loads`]
  const schema = { $ref: '#/components/schemas/Load' }
  assert.deepEqual(get, {
    operationId: 'listLoads',
    parameters: [{ name: 'limit', in: 'query', description: 'most', schema: { type: 'integer' } }],
    responses: { 200: { description: 'OK', content: { 'application/json': { schema } } } },
  })
  assert.deepEqual(post.requestBody, { required: true, content: { '*/*': { schema } } })
  const { metadata, items } = document.components.schemas.Load.properties
  const reference = { $ref: `#/components/schemas/${OBJECT_META}` }
  assert.deepEqual(metadata, { description: 'meta', allOf: [reference] })
  assert.deepEqual(items, { type: 'array', items: { type: 'string' } })
  assert.equal((await world.call('GET', `/openapi/v3/${NAME}?hash=other`)).status, 301)
  assert.deepEqual(
    backend.documentsAsked.filter((asked) => asked.includes('admin')),
    [],
  )
})

test('a server that has neither is listed nowhere', async () => {
  await available()
  await until(async () => backend.documentsAsked.length === 2)
  assert.equal(NAME in (await paths()), false)
  assert.equal((await world.call('GET', `/openapi/v3/${NAME}`)).status, 404)
})

test('an index that cannot be had for once stays as it was; one that is not there any more goes', async () => {
  backend.openApi = { v3: index('A') }
  await available()
  await toldAt()
  const lookAgain = async (): Promise<void> => {
    const asked = backend.documentsAsked.length
    await world.clock.advance(30_000)
    await until(async () => backend.documentsAsked.length === asked + 2)
    await turn()
  }
  backend.openApi = { v3: 500, v2: swagger }
  await lookAgain()
  await until(async () => (await world.call('GET', '/openapi/v2')).body.includes('listLoads'))
  assert.equal(await toldAt(), `/openapi/v3/${NAME}?hash=A`)
  backend.openApi = { v2: swagger }
  await lookAgain()
  await until(async () => !(await toldAt()).endsWith('=A'))
})

test('a document that cannot be read is left out, and the others are told', async () => {
  const path = `/${NAME}/loads`
  const load = (schema: unknown): object => ({
    get: { produces: ['application/json'], responses: { 200: { description: 'OK', schema } } },
  })
  await available()
  for (const broken of [
    { paths: { [path]: null } },
    { paths: { [path]: { get: null } } },
    { paths: null, definitions: null },
    { paths: { [path]: load({ $ref: '#/definitions/A' }) }, definitions: { A: null } },
  ]) {
    const asked = backend.documentsAsked.length
    backend.openApi = { v2: { swagger: '2.0', ...broken } }
    await world.call('DELETE', `${API_SERVICES}/v1.${GROUP}`)
    await available()
    await until(async () => backend.documentsAsked.length >= asked + 2)
    for (let i = 0; i < 20; i++) await turn()
    const { status, body } = await world.call('GET', '/openapi/v2')
    assert.equal(status, 200)
    assert.ok('/api/v1/pods' in JSON.parse(body).paths)
    assert.equal((await world.call('GET', '/openapi/v3')).status, 200)
  }
})
