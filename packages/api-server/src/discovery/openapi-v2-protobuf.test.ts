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
