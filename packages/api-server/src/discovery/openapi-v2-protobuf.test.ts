import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startServer } from '../bootstrap/fixtures.ts'
import { encodeSwagger } from './openapi-v2-protobuf.ts'

/** Field numbers and contents, one level deep. */
function fieldsOf(bytes: Buffer): [number, Buffer | number][] {
  const fields: [number, Buffer | number][] = []
  let at = 0
  const varint = (): number => {
    let value = 0
    for (let scale = 1; ; scale *= 128) {
      const byte = bytes[at++]!
      value += (byte & 127) * scale
      if (byte < 128) return value
    }
  }
  while (at < bytes.length) {
    const tag = varint()
    if ((tag & 7) === 0) {
      fields.push([tag >> 3, varint()])
      continue
    }
    const length = varint()
    fields.push([tag >> 3, bytes.subarray(at, at + length)])
    at += length
  }
  return fields
}

const inner = (bytes: Buffer, field: number): Buffer =>
  fieldsOf(bytes).find(([number]) => number === field)![1] as Buffer

test('a schema has its type, references, items, properties and extensions', () => {
  const bytes = Buffer.from(
    encodeSwagger({
      swagger: '2.0',
      info: { title: 'T', version: 'v' },
      paths: {},
      definitions: {
        A: {
          type: 'object',
          required: ['b'],
          properties: { b: { type: 'array', items: { $ref: '#/definitions/A' } } },
          additionalProperties: false,
          'x-kubernetes-group-version-kind': [{ group: '', version: 'v1', kind: 'A' }],
        },
      },
    }),
  )
  assert.equal(inner(bytes, 1).toString(), '2.0')
  const named = inner(inner(bytes, 9), 1)
  assert.equal(inner(named, 1).toString(), 'A')
  const schema = inner(named, 2)
  assert.deepEqual(
    fieldsOf(schema).map(([number]) => number),
    [19, 21, 22, 25, 31],
  )
  assert.equal(inner(inner(schema, 22), 1).toString(), 'object')
  const property = inner(inner(schema, 25), 1)
  assert.equal(inner(property, 1).toString(), 'b')
  const items = inner(inner(property, 2), 23)
  assert.equal(inner(inner(items, 1), 1).toString(), '#/definitions/A')
  assert.deepEqual(fieldsOf(inner(schema, 21)), [[2, 0]])
  const extension = inner(schema, 31)
  assert.equal(inner(inner(extension, 2), 2).toString(), '[{"group":"","version":"v1","kind":"A"}]')
})

const all = (bytes: Buffer, field: number): Buffer[] =>
  fieldsOf(bytes)
    .filter(([number]) => number === field)
    .map(([, value]) => value as Buffer)

test('a path has its methods, their parameters by place, answers and extensions', () => {
  const dryRun = { name: 'dryRun', in: 'query', type: 'string', uniqueItems: true }
  const patch = {
    tags: ['t'],
    operationId: 'patchThing',
    consumes: ['a/b', 'c/d'],
    produces: ['e/f'],
    schemes: ['https'],
    parameters: [{ name: 'body', in: 'body', required: true, schema: { type: 'object' } }, dryRun],
    responses: { 200: { description: 'OK', schema: { $ref: '#/definitions/A' } } },
    'x-kubernetes-action': 'patch',
  }
  const name = { name: 'name', in: 'path', required: true, type: 'string' }
  const shared = { $ref: '#/parameters/pretty' }
  const bytes = Buffer.from(
    encodeSwagger({
      swagger: '2.0',
      info: { title: 'T', version: 'v' },
      paths: { '/a': { patch, parameters: [name, shared] } },
      definitions: {},
    }),
  )
  const named = inner(inner(bytes, 8), 2)
  assert.equal(inner(named, 1).toString(), '/a')
  const item = inner(named, 2)
  const operation = inner(item, 8)
  assert.deepEqual(
    fieldsOf(operation).map(([number]) => number),
    [1, 5, 6, 7, 7, 10, 8, 8, 9, 13],
  )
  const [body, query] = all(operation, 8).map((parameter) => inner(parameter, 1))
  assert.deepEqual(
    fieldsOf(inner(body!, 1)).map(([number]) => number),
    [2, 3, 4, 5],
  )
  const asQuery = fieldsOf(inner(inner(query!, 2), 3)).map(([number, value]) => [
    number,
    `${value}`,
  ])
  assert.deepEqual(asQuery, [
    [2, 'query'],
    [4, 'dryRun'],
    [6, 'string'],
    [20, '1'],
  ])
  const answer = inner(inner(operation, 9), 1)
  assert.equal(inner(answer, 1).toString(), '200')
  const response = inner(inner(answer, 2), 1)
  assert.equal(inner(response, 1).toString(), 'OK')
  assert.equal(inner(inner(inner(response, 2), 1), 1).toString(), '#/definitions/A')
  const [path, reference] = all(item, 9)
  const asPath = fieldsOf(inner(inner(inner(path!, 1), 2), 4)).map(([number]) => number)
  assert.deepEqual(asPath, [1, 2, 4, 5])
  assert.equal(inner(inner(reference!, 2), 1).toString(), '#/parameters/pretty')
})

test('Given kubectl of before 1.27, then it finds in protobuf that the patch of a kind takes dryRun', async () => {
  const { server } = await startServer()
  const get = async (accept: string): Promise<Buffer> => {
    const headers = { authorization: 'Bearer admin-token', accept }
    const { body } = await server.handle({ method: 'GET', path: '/openapi/v2', headers })
    assert.ok('chunks' in body)
    const chunks: Uint8Array[] = []
    for await (const chunk of body.chunks) chunks.push(chunk)
    return Buffer.concat(chunks)
  }
  const bytes = await get('application/com.github.proto-openapi.spec.v2@v1.0+protobuf')
  const { paths } = JSON.parse(String(await get('application/json')))
  const named = all(inner(bytes, 8), 2)
  assert.deepEqual(
    named.map((path) => inner(path, 1).toString()),
    Object.keys(paths),
  )
  const taking = named.filter((path) => {
    const [patch] = all(inner(path, 2), 8)
    return patch !== undefined && all(patch, 8).some((given) => given.includes('dryRun'))
  })
  const expected = Object.keys(paths).filter((path) =>
    JSON.stringify(paths[path].patch ?? {}).includes('"dryRun"'),
  )
  assert.deepEqual(
    taking.map((path) => inner(path, 1).toString()),
    expected,
  )
  assert.ok(expected.includes('/apis/apps/v1/namespaces/{namespace}/deployments/{name}'))
  await server.stop()
})

test('/openapi/v2 is protobuf for who asks for it, JSON for who asks for JSON, else 406', async () => {
  const { server, call } = await startServer()
  const get = (accept: string) => call('GET', '/openapi/v2', undefined, { accept })
  const type = 'application/com.github.proto-openapi.spec.v2.v1.0+protobuf'
  for (const asked of ['application/com.github.proto-openapi.spec.v2@v1.0+protobuf', type]) {
    const proto = await get(asked)
    assert.deepEqual([proto.status, proto.headers['content-type']], [200, type])
  }
  const json = await get('application/json')
  assert.deepEqual([json.status, json.headers['content-type']], [200, 'application/json'])
  assert.equal((await get('text/html')).status, 406)
  await server.stop()
})
