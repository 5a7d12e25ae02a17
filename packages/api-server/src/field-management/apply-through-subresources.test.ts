import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTestServer, turn, type AnyValue, type TestServer } from '../testing/test-server.ts'

const DEPLOYMENTS = '/apis/apps/v1/namespaces/default/deployments'
const APPLY = { 'content-type': 'application/apply-patch+yaml' }
const MERGE = { 'content-type': 'application/merge-patch+json' }
const labels = { app: 'a' }
const template = { metadata: { labels }, spec: { containers: [{ name: 'a', image: 'a' }] } }
const deployment = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'd' },
  spec: { replicas: 1, selector: { matchLabels: labels }, template },
}
const scale = (replicas: number) => ({
  apiVersion: 'autoscaling/v1',
  kind: 'Scale',
  metadata: { name: 'd' },
  spec: { replicas },
})

async function withDeployment(): Promise<TestServer> {
  const server = await createTestServer()
  const created = await server.request('POST', `${DEPLOYMENTS}?fieldManager=creator`, deployment)
  assert.equal(created.status, 201)
  return server
}

/** Manager, operation, subresource, version and whether the replicas are among the fields. */
function owners(object: AnyValue): string[] {
  return object.metadata.managedFields.map((entry: AnyValue) =>
    [
      entry.manager,
      entry.operation,
      entry.subresource ?? '-',
      entry.apiVersion,
      entry.fieldsV1['f:spec']?.['f:replicas'] === undefined ? 'not replicas' : 'replicas',
    ].join(' '),
  )
}

test('apply through scale becomes an Apply entry with subresource scale and the version of the parent', async () => {
  const { request } = await withDeployment()
  const path = `${DEPLOYMENTS}/d/scale?fieldManager=scaler`
  const refused = await request('PATCH', path, scale(3), APPLY)
  assert.deepEqual(
    [refused.status, refused.value.message],
    [
      409,
      'Apply failed with 1 conflict: conflict with "creator" using autoscaling/v1: .spec.replicas',
    ],
  )
  const applied = await request('PATCH', `${path}&force=true`, scale(3), APPLY)
  assert.deepEqual(
    [applied.status, applied.value.kind, applied.value.spec],
    [200, 'Scale', { replicas: 3 }],
  )
  assert.equal(applied.value.metadata.managedFields, undefined)
  const parent = (await request('GET', `${DEPLOYMENTS}/d`)).value
  assert.equal(parent.spec.replicas, 3)
  assert.deepEqual(owners(parent), [
    'scaler Apply scale apps/v1 replicas',
    'creator Update - apps/v1 not replicas',
  ])
})

test('the same apply again writes nothing, another number needs no force, and who applies the parent is in conflict', async () => {
  const { request } = await withDeployment()
  const path = `${DEPLOYMENTS}/d/scale?fieldManager=scaler`
  await request('PATCH', `${path}&force=true`, scale(3), APPLY)
  const before = (await request('GET', `${DEPLOYMENTS}/d`)).value
  await request('PATCH', path, scale(3), APPLY)
  assert.deepEqual((await request('GET', `${DEPLOYMENTS}/d`)).value, before)
  assert.equal((await request('PATCH', path, scale(5), APPLY)).status, 200)
  const conflict = await request('PATCH', `${DEPLOYMENTS}/d?fieldManager=owner`, deployment, APPLY)
  assert.equal(conflict.status, 409)
  assert.equal(
    conflict.value.message,
    'Apply failed with 1 conflict: conflict with "scaler" with subresource "scale": .spec.replicas',
  )
})

test('an applied zero has an owner, an updated one has none', async () => {
  const { request } = await withDeployment()
  const path = `${DEPLOYMENTS}/d/scale`
  await request('PATCH', `${path}?fieldManager=scaler&force=true`, scale(0), APPLY)
  const applied = (await request('GET', `${DEPLOYMENTS}/d`)).value
  assert.equal(applied.spec.replicas, 0)
  assert.equal(owners(applied)[0], 'scaler Apply scale apps/v1 replicas')
  await request('PUT', `${path}?fieldManager=other`, scale(2))
  await request('PUT', `${path}?fieldManager=other`, scale(0))
  const updated = (await request('GET', `${DEPLOYMENTS}/d`)).value
  assert.deepEqual(
    owners(updated).filter((owner) => !owner.endsWith('not replicas')),
    [],
  )
})

test('apply through status owns status fields only, under subresource status', async () => {
  const { request } = await withDeployment()
  const body = {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'd', labels: { ignored: 'yes' } },
    spec: { replicas: 9, selector: { matchLabels: labels }, template },
    status: { observedGeneration: 1, readyReplicas: 1, replicas: 1 },
  }
  const path = `${DEPLOYMENTS}/d/status?fieldManager=status-writer`
  const applied = await request('PATCH', path, body, APPLY)
  assert.equal(applied.status, 200, JSON.stringify(applied.value))
  const { metadata, spec, status } = applied.value
  assert.deepEqual([metadata.labels, spec.replicas, status.readyReplicas], [undefined, 1, 1])
  const entry = metadata.managedFields.find((each: AnyValue) => each.manager === 'status-writer')
  assert.deepEqual(
    [entry.operation, entry.subresource, Object.keys(entry.fieldsV1)],
    ['Apply', 'status', ['f:status']],
  )
  const missing = { ...body, metadata: { name: 'x' } }
  const absent = await request('PATCH', path.replace('/d/', '/x/'), missing, APPLY)
  assert.equal(absent.status, 404)
})

test('a change through the scale of a custom resource is recorded where its definition has the replicas; an apply is refused, as upstream cannot convert it', async () => {
  const { request, clock } = await createTestServer()
  const schema = {
    type: 'object',
    properties: {
      spec: { type: 'object', properties: { size: { type: 'integer' } } },
      status: { type: 'object', properties: { size: { type: 'integer' } } },
    },
  }
  await request('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', {
    metadata: { name: 'pools.example.com' },
    spec: {
      group: 'example.com',
      scope: 'Namespaced',
      names: { plural: 'pools', kind: 'Pool' },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          schema: { openAPIV3Schema: schema },
          subresources: {
            scale: { specReplicasPath: '.spec.size', statusReplicasPath: '.status.size' },
          },
        },
      ],
    },
  })
  await clock.advance(6000)
  const pools = '/apis/example.com/v1/namespaces/default/pools'
  await request('POST', `${pools}?fieldManager=creator`, {
    apiVersion: 'example.com/v1',
    kind: 'Pool',
    metadata: { name: 'd' },
    spec: { size: 1 },
  })
  const path = `${pools}/d/scale?fieldManager=scaler&force=true`
  const applied = await request('PATCH', path, scale(3), APPLY)
  assert.equal(applied.status, 500, JSON.stringify(applied.value))
  assert.equal((await request('GET', `${pools}/d`)).value.spec.size, 1)
  const change = `${pools}/d/scale?fieldManager=scaler`
  const changed = await request('PATCH', change, { spec: { replicas: 4 } }, MERGE)
  assert.equal(changed.status, 200, JSON.stringify(changed.value))
  const pool = (await request('GET', `${pools}/d`)).value
  assert.equal(pool.spec.size, 4)
  assert.deepEqual(
    pool.metadata.managedFields.map((entry: AnyValue) => [
      entry.manager,
      entry.operation,
      entry.subresource,
      entry.apiVersion,
      entry.fieldsV1,
    ]),
    [
      // What was written through scale has no time, and so comes first.
      ['scaler', 'Update', 'scale', 'example.com/v1', { 'f:spec': { 'f:size': {} } }],
      // The object `spec` itself is still its creator's.
      ['creator', 'Update', undefined, 'example.com/v1', { 'f:spec': {} }],
    ],
  )
})

const GROUP = 'scales.example.com'
const definition = {
  metadata: { name: `ws.${GROUP}` },
  spec: {
    group: GROUP,
    scope: 'Namespaced',
    names: { plural: 'ws', kind: 'W' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: {
              spec: { type: 'object', properties: { replicas: { type: 'integer' } } },
              status: { type: 'object', properties: { replicas: { type: 'integer' } } },
            },
          },
        },
        subresources: {
          scale: { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' },
        },
      },
    ],
  },
}

test('the scale of a custom resource may be applied as it is, if somebody owns its replicas, and not otherwise', async () => {
  const { request } = await createTestServer()
  await request('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', definition)
  await turn()
  const path = `/apis/${GROUP}/v1/namespaces/default/ws`
  const custom = { apiVersion: `${GROUP}/v1`, kind: 'W', metadata: { name: 'd' } }
  await request('POST', `${path}?fieldManager=creator`, { ...custom, spec: { replicas: 3 } })
  const apply = (body: object, force = false) =>
    request('PATCH', `${path}/d/scale?fieldManager=m&force=${force}`, body, APPLY)
  assert.equal((await apply(scale(4))).status, 409)
  const applied = await apply(scale(3))
  assert.deepEqual([applied.status, applied.value.spec], [200, { replicas: 3 }])
  assert.deepEqual(owners((await request('GET', `${path}/d`)).value), [
    `m Apply scale ${GROUP}/v1 replicas`,
    `creator Update - ${GROUP}/v1 replicas`,
    `creator Update - ${GROUP}/v1 not replicas`,
  ])
  const name = '(/d; autoscaling/v1, Kind=Scale)'
  const end = 'to proper version: request to convert CR to an invalid group/version: autoscaling/v1'
  const changed = await apply(scale(4), true)
  assert.deepEqual(
    [changed.status, changed.value.message],
    [500, `failed to convert new object ${name} ${end}`],
  )
  await request('POST', path, { ...custom, metadata: { name: 'd2' }, spec: {} })
  const unowned = await request('PATCH', `${path}/d2/scale?fieldManager=m`, scale(0), APPLY)
  assert.deepEqual(
    [unowned.status, unowned.value.message],
    [
      500,
      `failed to create manager for existing fields: failed to convert live object (/; autoscaling/v1, Kind=Scale) ${end}`,
    ],
  )
})
