import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Deployment, KubernetesObject, ManagedFieldsEntry, ResourceType } from '@gyropilot/api'
import { resources } from '@gyropilot/api'
import { FakeServer } from '../testing/index.ts'
import { applyObject, extractApplied } from './apply.ts'
import { draftOf } from './draft.ts'

const deployment = (...managedFields: ManagedFieldsEntry[]): Deployment => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: {
    namespace: 'default',
    name: 'web',
    uid: 'u',
    resourceVersion: '7',
    labels: { ours: '1', theirs: '2' },
    finalizers: ['a/b', 'c/d'],
    managedFields,
  },
  spec: {
    replicas: 3,
    paused: false,
    selector: { matchLabels: { app: 'web' } },
    template: {
      spec: {
        containers: [
          { name: 'theirs', image: 'x' },
          {
            name: 'web',
            image: 'nginx',
            args: ['-v'],
            ports: [{ containerPort: 80, protocol: 'TCP', name: 'http' }],
          },
        ],
      },
    },
  },
  status: { replicas: 3 },
})

const entry = (fieldsV1: object, more: Partial<ManagedFieldsEntry> = {}): ManagedFieldsEntry =>
  ({ manager: 'us', operation: 'Apply', apiVersion: 'apps/v1', fieldsV1, ...more }) as never

test('extract: the fields one owner applied, items by their keys, values of sets, zero values kept', () => {
  const object = deployment(
    entry({ 'f:spec': { 'f:replicas': {} } }, { operation: 'Update' }),
    entry({ 'f:spec': { 'f:selector': {} } }, { manager: 'them' }),
    entry({ 'f:status': { 'f:replicas': {} } }, { subresource: 'status' }),
    entry({
      'f:metadata': { 'f:labels': { '.': {}, 'f:ours': {} }, 'f:finalizers': { 'v:"c/d"': {} } },
      'f:spec': {
        'f:paused': {},
        'f:minReadySeconds': {},
        'f:template': {
          'f:spec': {
            'f:containers': {
              'k:{"name":"web"}': {
                '.': {},
                'f:name': {},
                'f:args': {},
                'f:ports': { 'k:{"containerPort":80,"protocol":"TCP"}': { '.': {} } },
              },
            },
          },
        },
      },
    }),
  )
  assert.deepEqual(extractApplied(object, resources.deployments, 'us'), {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: {
      namespace: 'default',
      name: 'web',
      labels: { ours: '1' },
      finalizers: ['c/d'],
    },
    spec: {
      paused: false,
      template: {
        spec: {
          containers: [
            { name: 'web', args: ['-v'], ports: [{ containerPort: 80, protocol: 'TCP' }] },
          ],
        },
      },
    },
  })
  assert.deepEqual(extractApplied(object, resources.deployments, 'us', 'status'), {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { namespace: 'default', name: 'web' },
    status: { replicas: 3 },
  })
  assert.deepEqual(extractApplied(object, resources.deployments, 'nobody'), {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { namespace: 'default', name: 'web' },
  })
})

test('apply needs a name and an owner, refuses managedFields, and sends kind, force and subresource', async () => {
  const server = new FakeServer()
  server.put(resources.deployments, deployment())
  const { managedFields: _, resourceVersion: __, ...metadata } = deployment().metadata!
  const named = { ...metadata, name: 'web' }
  const apply = (fieldOwner: string, object: object) =>
    applyObject(server, resources.deployments, object as never, {
      fieldOwner,
      force: true,
      subresource: 'status',
    })
  assert.throws(() => apply('', { metadata: named }), { code: 'APPLY_INVALID' })
  for (const nameless of [{}, { metadata: {} }])
    assert.throws(() => apply('us', nameless), {
      code: 'APPLY_INVALID',
      message: 'apply needs metadata.name',
    })
  assert.throws(() => apply('us', { metadata: { ...named, managedFields: [] } }), {
    code: 'APPLY_INVALID',
    message: 'metadata.managedFields must be nil',
  })
  await apply('us', { metadata: named, spec: { replicas: 0 } })
  const request = server.requested('patch')[0]!
  assert.deepEqual(request.options, { fieldManager: 'us', force: true, subresource: 'status' })
  const sent = (request.body as { value: Deployment }).value
  assert.deepEqual([sent.apiVersion, sent.kind, sent.spec?.replicas], ['apps/v1', 'Deployment', 0])
})

test('a draft is a deep copy, whatever its fields are called', () => {
  const object = { a: [{ b: 1 }], ...JSON.parse('{"__proto__": {"c": 2}}') }
  const draft = draftOf(object)
  assert.deepEqual(draft, object)
  draft.a[0]!.b = 2
  assert.equal(object.a[0]!.b, 1)
  assert.equal(Object.getPrototypeOf(draft), Object.prototype)
})

/** The part of `args` and `ports` of a container that the manager `me` owns. */
function ownedOf(list: readonly unknown[], set: object): unknown {
  const entry = { manager: 'me', operation: 'Apply', fieldsV1: { 'f:spec': { 'f:list': set } } }
  const object = {
    metadata: { name: 'x', managedFields: [entry as ManagedFieldsEntry] },
    spec: { list },
  } as KubernetesObject
  const type: ResourceType = resources.deployments
  const owned = extractApplied(object, type, 'me') as { readonly spec?: { list?: unknown } }
  return owned.spec?.list
}

test('extract: items by their place, and by all of their keys; lists that are owned without their items', () => {
  assert.deepEqual(ownedOf(['a', 'b', 'c'], { 'i:1': {} }), ['b'])
  const ports = [
    { port: 80, protocol: 'UDP' },
    { port: 80, protocol: 'TCP', name: 'web' },
  ]
  const key = 'k:{"port":80,"protocol":"TCP"}'
  assert.deepEqual(ownedOf(ports, { '.': {}, [key]: { 'f:name': {} } }), [ports[1]])
  // Items that have no keys are nobody's of this name.
  assert.deepEqual(ownedOf(['x', null, { port: 80, protocol: 'TCP' }], { [key]: {} }), [
    { port: 80, protocol: 'TCP' },
  ])
  assert.deepEqual(ownedOf(['a'], { '.': {} }), [])
  assert.deepEqual(ownedOf([{ port: 80 }], { 'x:{"port":80}': {} }), [], 'no selector of ours')
})

test('a field of any name is as free in a draft as others', () => {
  const draft = draftOf(JSON.parse('{"__proto__":{"a":"1"}}') as Record<string, unknown>)
  assert.deepEqual(Object.getOwnPropertyDescriptor(draft, '__proto__'), {
    value: { a: '1' },
    enumerable: true,
    writable: true,
    configurable: true,
  })
})

test('extract: keys beyond 2^53', () => {
  const list = [{ id: 9007199254740993n, name: 'a' }, { id: 9007199254740992n }]
  assert.deepEqual(ownedOf(list, { 'k:{"id":9007199254740993}': { 'f:name': {} } }), [list[0]])
})
