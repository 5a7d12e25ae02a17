import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTestServer, until, type AnyValue } from '../../testing/test-server.ts'

const API_SERVICES = '/apis/apiregistration.k8s.io/v1/apiservices'
const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
const MERGE = { 'content-type': 'application/merge-patch+json' }
const AUTOMANAGED = 'kube-aggregator.kubernetes.io/automanaged'
const NAME = 'v1.d.example.com'
const SPEC = {
  group: 'd.example.com',
  version: 'v1',
  groupPriorityMinimum: 1000,
  versionPriority: 100,
}

async function defined() {
  const { request } = await createTestServer()
  await request('POST', DEFINITIONS, {
    metadata: { name: 'things.d.example.com' },
    spec: {
      group: 'd.example.com',
      scope: 'Cluster',
      names: { plural: 'things', kind: 'Thing' },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          schema: { openAPIV3Schema: { type: 'object' } },
        },
      ],
    },
  })
  const stored = async (name = NAME): Promise<AnyValue> => {
    const { status, value } = await request('GET', `${API_SERVICES}/${name}`)
    return status === 200 ? value : undefined
  }
  await until(async () => (await stored())?.status.conditions !== undefined)
  return { request, stored }
}

test('the APIService of a definition is put right when it is changed, and made again when it is deleted', async () => {
  const { request, stored } = await defined()
  const spec = { groupPriorityMinimum: 5000, versionPriority: 5 }
  await request('PATCH', `${API_SERVICES}/${NAME}`, { spec }, MERGE)
  const after = await until(async () => {
    const object = await stored()
    return object.spec.versionPriority === 100 && object
  })
  assert.deepEqual(after.spec, SPEC)
  assert.deepEqual(
    after.metadata.managedFields.map(({ manager }: AnyValue) => manager),
    ['kube-apiserver'],
  )
  await request('DELETE', `${API_SERVICES}/${NAME}`)
  const made = await until(async () => {
    const object = await stored()
    return object?.status.conditions !== undefined && object
  })
  assert.notEqual(made.metadata.uid, after.metadata.uid)
  assert.deepEqual(made.metadata.labels, { [AUTOMANAGED]: 'true' })
})

test('one without its label is its maker’s, until the label is back', async () => {
  const { request, stored } = await defined()
  const path = `${API_SERVICES}/${NAME}`
  const spec = { groupPriorityMinimum: 5000 }
  await request('PATCH', path, { metadata: { labels: { [AUTOMANAGED]: null } }, spec }, MERGE)
  await request('PATCH', path, { metadata: { labels: { mine: 'yes' } } }, MERGE)
  assert.equal((await stored()).spec.groupPriorityMinimum, 5000)
  await request('PATCH', path, { metadata: { labels: { [AUTOMANAGED]: 'true' } } }, MERGE)
  const { metadata } = await until(async () => {
    const object = await stored()
    return object.spec.groupPriorityMinimum === 1000 && object
  })
  assert.deepEqual(metadata.labels, { mine: 'yes', [AUTOMANAGED]: 'true' })
})

test('one that says it is of a definition that nobody made goes; one of the start stays', async () => {
  const { request, stored } = await defined()
  const name = 'v1.other.example.com'
  const make = (value: string) =>
    request('POST', API_SERVICES, {
      metadata: { name, labels: { [AUTOMANAGED]: value } },
      spec: { ...SPEC, group: 'other.example.com' },
    })
  await make('true')
  await until(async () => (await stored(name)) === undefined)
  await make('onstart')
  await request('PATCH', `${API_SERVICES}/${name}`, { metadata: { labels: { a: 'b' } } }, MERGE)
  assert.notEqual(await stored(name), undefined)
})
