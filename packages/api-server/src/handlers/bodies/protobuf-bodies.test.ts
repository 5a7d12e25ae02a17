import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTestServer, type TestServer } from '../../testing/test-server.ts'
import {
  damagedBodies,
  encodeObject,
  envelope,
  field,
  numberField,
} from '@gyropilot/protobuf/testing'
import { schemaNamed, schemaOf } from '@gyropilot/api/schema'

async function send(
  { server }: TestServer,
  method: string,
  path: string,
  bytes: Uint8Array,
): Promise<{ status: number; message: string }> {
  const answer = await server.handle({
    method,
    path,
    headers: {
      authorization: 'Bearer test-token',
      'content-type': 'application/vnd.kubernetes.protobuf',
    },
    body: { bytes },
  })
  const value = answer.body.kind === 'value' ? (answer.body.value as { message?: string }) : {}
  return { status: answer.status, message: value.message ?? '' }
}

type JsonObject = Readonly<Record<string, unknown>>

function body(group: string, version: string, kind: string, value: JsonObject): Buffer {
  const apiVersion = group === '' ? version : `${group}/${version}`
  return envelope({ apiVersion, kind, raw: encodeObject(schemaOf(group, version, kind)!, value) })
}

const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps'
const configMap = (data: JsonObject) =>
  body('', 'v1', 'ConfigMap', { metadata: { name: 'x' }, data })

test('POST, PUT and DELETE of an object', async () => {
  const one = await createTestServer()
  assert.equal(
    (await send(one, 'POST', `${CONFIG_MAPS}?fieldValidation=Strict`, configMap({ a: '1' })))
      .status,
    201,
  )
  assert.equal((await send(one, 'PUT', `${CONFIG_MAPS}/x`, configMap({ b: '2' }))).status, 200)
  const { value } = await one.request('GET', `${CONFIG_MAPS}/x`)
  assert.deepEqual(value.data, { b: '2' })
  const options = (uid: string) =>
    envelope({
      apiVersion: 'meta.k8s.io/v1',
      kind: 'DeleteOptions',
      raw: encodeObject(schemaNamed('meta-v1.DeleteOptions')!, { preconditions: { uid } }),
    })
  assert.equal((await send(one, 'DELETE', `${CONFIG_MAPS}/x`, options('other'))).status, 409)
  assert.equal(
    (await send(one, 'DELETE', `${CONFIG_MAPS}/x`, options(value.metadata.uid))).status,
    200,
  )
})

test('an explicit zero of a pointer is kept, an absent one gets its default', async () => {
  const one = await createTestServer()
  const labels = { app: 'x' }
  const deployment = (name: string, spec: JsonObject) =>
    body('apps', 'v1', 'Deployment', {
      metadata: { name },
      spec: {
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'i' }] } },
        ...spec,
      },
    })
  const path = '/apis/apps/v1/namespaces/default/deployments'
  assert.equal((await send(one, 'POST', path, deployment('none', {}))).status, 201)
  assert.equal((await send(one, 'POST', path, deployment('zero', { replicas: 0 }))).status, 201)
  assert.equal((await one.request('GET', `${path}/none`)).value.spec.replicas, 1)
  assert.equal((await one.request('GET', `${path}/zero`)).value.spec.replicas, 0)
  const scale = body('autoscaling', 'v1', 'Scale', {
    metadata: { name: 'zero', namespace: 'default' },
    spec: { replicas: 3 },
  })
  assert.equal((await send(one, 'PUT', `${path}/zero/scale`, scale)).status, 200)
  assert.equal((await one.request('GET', `${path}/zero`)).value.spec.replicas, 3)
})

const DEFINITION = {
  metadata: { name: 'widgets.x.dev' },
  spec: {
    group: 'x.dev',
    names: { plural: 'widgets', kind: 'Widget' },
    scope: 'Namespaced',
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        subresources: { status: {} },
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: { spec: { type: 'object', properties: { size: { type: 'integer' } } } },
          },
        },
      },
    ],
  },
}

test('a definition of custom resources comes whole; its resources have no messages', async () => {
  const one = await createTestServer()
  const definition = body('apiextensions.k8s.io', 'v1', 'CustomResourceDefinition', DEFINITION)
  const path = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
  assert.deepEqual(await send(one, 'POST', path, definition), { status: 201, message: '' })
  const { value } = await one.request('GET', `${path}/widgets.x.dev`)
  assert.deepEqual(value.spec.versions, DEFINITION.spec.versions)
  await one.clock.advance(1000)
  const widgets = '/apis/x.dev/v1/namespaces/default/widgets'
  assert.equal((await one.request('GET', widgets)).status, 200)
  const widget = { apiVersion: 'x.dev/v1', kind: 'Widget' }
  const messages = await send(one, 'POST', widgets, envelope({ ...widget, raw: field(1, 'x') }))
  assert.equal(messages.status, 400)
  assert.match(messages.message, /does not implement the protobuf marshalling interface/)
})

test('another kind than the endpoint takes', async () => {
  const one = await createTestServer()
  const secret = body('', 'v1', 'Secret', { metadata: { name: 'x' } })
  assert.deepEqual(await send(one, 'POST', CONFIG_MAPS, secret), {
    status: 400,
    message:
      'Secret in version "v1" cannot be handled as a ConfigMap: converting (v1.Secret) to (core.ConfigMap): unknown conversion',
  })
})

test('damaged bodies are never a fault of the server', async () => {
  const one = await createTestServer()
  for (const bytes of damagedBodies()) {
    const { status } = await send(one, 'POST', CONFIG_MAPS, bytes)
    assert.ok(status < 500, `${status} for ${bytes.toString('hex')}`)
  }
})

test('a body of the greatest size made of the smallest parts', async () => {
  const one = await createTestServer()
  const parts = Buffer.alloc(3_000_000, field(2))
  const { status } = await send(
    one,
    'POST',
    CONFIG_MAPS,
    envelope({ apiVersion: 'v1', kind: 'ConfigMap', raw: parts }),
  )
  assert.equal(status, 422)
  const numbers = Buffer.alloc(3_000_000, numberField(15, 1))
  const many = await send(
    one,
    'POST',
    CONFIG_MAPS,
    envelope({ apiVersion: 'v1', kind: 'ConfigMap', raw: numbers }),
  )
  assert.equal(many.status, 422)
})

test('protobuf type with other bytes', async () => {
  const one = await createTestServer()
  assert.deepEqual(await send(one, 'POST', CONFIG_MAPS, Buffer.from('{"kind":1}')), {
    status: 400,
    message:
      'the object provided is unrecognized (must be of type ConfigMap): provided data does not appear to be a protobuf message, expected prefix [107 56 115 0] ({"kind":1})',
  })
  assert.deepEqual(await send(one, 'POST', CONFIG_MAPS, Buffer.alloc(0)), {
    status: 400,
    message:
      'the object provided is unrecognized (must be of type ConfigMap): empty data (<empty>)',
  })
})

test('nothing is deleted by a body that is no options', async () => {
  const one = await createTestServer()
  assert.equal((await send(one, 'POST', CONFIG_MAPS, configMap({}))).status, 201)
  const refused: readonly (readonly [Uint8Array, string])[] = [
    [Buffer.from('k8s\0'), 'empty body'],
    [
      Buffer.concat([Buffer.from('k8s\0'), numberField(1, 3)]),
      'proto: wrong wireType = 0 for field TypeMeta',
    ],
    [
      envelope({ apiVersion: 'v1', kind: 'Secret', raw: Buffer.from('\xff') }),
      'no kind "Secret" is registered for version "v1" in scheme "pkg/apis/meta/internalversion/scheme/register.go:27"',
    ],
  ]
  for (const [bytes, message] of refused)
    assert.deepEqual(await send(one, 'DELETE', `${CONFIG_MAPS}/x`, bytes), { status: 400, message })
  assert.equal((await one.request('GET', `${CONFIG_MAPS}/x`)).status, 200)
  // No body at all: the options are those of the query.
  assert.equal((await send(one, 'DELETE', `${CONFIG_MAPS}/x`, Buffer.alloc(0))).status, 200)
})
