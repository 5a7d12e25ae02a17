import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTestServer } from '@gyropilot/api-server/testing'
import type { TestAnswer, TestServer } from '@gyropilot/api-server/testing'
import { objectionTo, pollution } from './answers.ts'

const MAPS = '/api/v1/namespaces/default/configmaps'
const PODS = '/api/v1/namespaces/default/pods'
const PATCH_TYPES = [
  'application/merge-patch+json',
  'application/strategic-merge-patch+json',
  'application/apply-patch+yaml',
] as const

async function started(): Promise<TestServer> {
  const server = await createTestServer()
  const account = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'default' } }
  await server.request('POST', '/api/v1/namespaces/default/serviceaccounts', account)
  return server
}

/** As bytes: within the process a value is taken as it is. */
function post(
  server: TestServer,
  path: string,
  text: string,
  type = 'application/json',
): Promise<TestAnswer> {
  return server.request('POST', path, text, { 'content-type': type })
}

const nested = (depth: number): string => `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`

test('JSON and YAML of 10,000 levels are refused, wherever a body is taken', async () => {
  const server = await started()
  await post(server, MAPS, '{"metadata":{"name":"deep"}}')
  const deep = `{"metadata":{"name":"x"},"data":${nested(10_000)}}`
  const lists = `{"metadata":${'['.repeat(10_000)}${']'.repeat(10_000)}}`
  for (const body of [deep, lists, nested(100_000)]) {
    for (const type of ['application/json', 'application/yaml'])
      assert.equal((await post(server, MAPS, body, type)).status, 400, type)
    for (const type of PATCH_TYPES) {
      const path = `${MAPS}/deep?fieldManager=m`
      const { status } = await server.request('PATCH', path, body, { 'content-type': type })
      assert.equal(status, 400, type)
    }
    const path = `${MAPS}/deep`
    assert.equal((await server.request('DELETE', path, body)).status, 400)
  }
  const flow = `a: ${'['.repeat(10_000)}${']'.repeat(10_000)}`
  assert.equal((await post(server, MAPS, flow, 'application/yaml')).status, 400)
  const path = `${MAPS}/deep`
  const json = `[{"op":"add","path":"/data","value":${nested(10_000)}}]`
  const patched = await server.request('PATCH', path, json, {
    'content-type': 'application/json-patch+json',
  })
  assert.equal(patched.status, 400)
})

test('a YAML document of aliases does not unfold into memory', async () => {
  const server = await started()
  const levels = Array.from({ length: 30 }, (_, n) =>
    n === 0 ? 'a0: &a0 [x, x]' : `a${n}: &a${n} [*a${n - 1}, *a${n - 1}]`,
  )
  const { status } = await post(server, MAPS, levels.join('\n'), 'application/yaml')
  assert.equal(status, 400)
})

test('keys that every object inherits are plain data, or refused', async () => {
  const server = await started()
  const keys = ['constructor', 'prototype', 'toString', 'hasOwnProperty', 'valueOf']
  const data = Object.fromEntries(keys.map((key) => [key, 'data']))
  const text = JSON.stringify({
    metadata: { name: 'inherited', labels: data, annotations: data },
    data,
  })
  const created = await post(server, MAPS, text)
  assert.equal(created.status, 201)
  const { value } = await server.request('GET', `${MAPS}/inherited`)
  assert.deepEqual(
    [value.data, value.metadata.labels, value.metadata.annotations],
    [data, data, data],
  )
  for (const key of keys) {
    const selected = await server.request('GET', `${MAPS}?labelSelector=${key}%3Ddata`)
    assert.equal(selected.value.items.length, 1, key)
    const absent = await server.request('GET', `${PODS}?labelSelector=${key}`)
    assert.deepEqual(absent.value.items, [], key)
  }
  // A key of a ConfigMap and the name of a label begin with a letter or digit: this one is never valid, and never harms.
  for (const part of ['data', 'metadata', 'spec', 'status', 'x']) {
    const body = `{"metadata":{"name":"proto"},"${part}":{"__proto__":{"polluted":"yes"},"name":"proto"}}`
    assert.equal(objectionTo((await post(server, MAPS, body)).status, ''), undefined)
    assert.equal(pollution(), undefined)
  }
})

test('patches with inherited keys change the object they name and nothing else', async () => {
  const server = await started()
  await post(server, MAPS, '{"metadata":{"name":"patched"},"data":{"a":"b"}}')
  const path = `${MAPS}/patched`
  const hostile = [
    '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"patched","annotations":{"constructor":"1"}},"__proto__":{"polluted":"yes"}}',
    '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"patched","__proto__":{"polluted":"yes"}}}',
    '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"patched"},"data":{"__proto__":"x","constructor":"y"}}',
    '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"patched"},"constructor":{"prototype":{"polluted":"yes"}}}',
  ]
  for (const body of hostile) {
    for (const type of PATCH_TYPES) {
      const { status, value } = await server
        .request('PATCH', `${path}?fieldManager=m&force=true`, body, {
          'content-type': type,
        })
        .catch((error: unknown) => ({ status: 599, value: String(error) }))
      assert.equal(objectionTo(status, JSON.stringify(value)), undefined, `${type} ${body}`)
      assert.equal(pollution(), undefined, `${type} ${body}`)
    }
  }
  const operations = [
    '/__proto__/polluted',
    '/constructor/prototype/polluted',
    '/data/__proto__/polluted',
  ]
  for (const target of operations) {
    for (const op of ['add', 'replace', 'remove', 'test', 'copy', 'move']) {
      const body = JSON.stringify([{ op, path: target, from: '/data/a', value: 'yes' }])
      const { status, value } = await server.request('PATCH', path, body, {
        'content-type': 'application/json-patch+json',
      })
      assert.equal(objectionTo(status, JSON.stringify(value)), undefined, `${op} ${target}`)
      assert.equal(pollution(), undefined, `${op} ${target}`)
    }
  }
})

test('numbers beyond their type are refused by name', async () => {
  const server = await started()
  for (const number of ['1e400', '99999999999999999999', '-99999999999999999999', '0.5', '1e30']) {
    const body = `{"metadata":{"name":"n"},"spec":{"containers":[{"name":"c","image":"i"}],"terminationGracePeriodSeconds":${number}}}`
    const { status, value } = await post(server, PODS, body)
    assert.equal(status, 400, `${number}: ${JSON.stringify(value)}`)
  }
})

test('of repeated keys the last counts, with a warning, and Strict refuses them', async () => {
  const server = await started()
  const body = '{"metadata":{"name":"twice","name":"twice-b"},"data":{"a":"1","a":"2"}}'
  const { status, value, headers } = await post(server, MAPS, body)
  assert.deepEqual([status, value.metadata.name, value.data], [201, 'twice-b', { a: '2' }])
  assert.match(String(headers['warning']), /duplicate field \\"metadata.name\\"/)
  const strict = await post(server, `${MAPS}?fieldValidation=Strict`, body)
  assert.equal(strict.status, 400)
})

test('bytes that are no UTF-8 never become an unreadable object', async () => {
  const server = await started()
  const bytes = Buffer.concat([
    Buffer.from('{"metadata":{"name":"utf8"},"data":{"a":"'),
    Buffer.from([0xff, 0xfe, 0xc3, 0x28]),
    Buffer.from('"}}'),
  ])
  const response = await server.server.handle({
    method: 'POST',
    path: MAPS,
    headers: { authorization: 'Bearer test-token', 'content-type': 'application/json' },
    body: { bytes },
  })
  assert.ok(response.status === 201 || response.status === 400, String(response.status))
  const { value } = await server.request('GET', MAPS)
  const text = JSON.stringify(value)
  assert.equal(Buffer.from(text).toString(), text)
})

test('3145728 bytes are read, one more is refused', async () => {
  const server = await started()
  const empty = '{"metadata":{"name":"big"},"x":""}'
  const fill = (size: number): string => empty.replace('""', `"${'x'.repeat(size - empty.length)}"`)
  assert.notEqual((await post(server, MAPS, fill(3_145_728))).status, 413)
  const { status, value } = await post(server, MAPS, fill(3_145_729))
  assert.deepEqual([status, value.reason], [413, 'RequestEntityTooLarge'])
})
