/** As kube-apiserver 1.36.2 answered, without a controller manager. */
import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import type { AdmissionPlugin } from '../../contracts.ts'
import { createTestServer, type AnyValue, type TestServer } from '../../testing/test-server.ts'

const NAMESPACE = '/api/v1/namespaces/default'
const SERVICES = `${NAMESPACE}/services`
const ENDPOINTS = `${NAMESPACE}/endpoints`
const MERGE_PATCH = { 'content-type': 'application/merge-patch+json' }
const HOLD = ['example.com/hold']

const refusesEndpoints: AdmissionPlugin = {
  name: 'refuses-endpoints',
  handles: ({ operation, resource }) => operation === 'DELETE' && resource.resource === 'endpoints',
  validate: () => {
    throw new Error('nobody asks')
  },
}

let running: TestServer
before(async () => {
  running = await createTestServer({ admission: [refusesEndpoints] })
})

async function exposed(name: string, service: object = {}, endpoints: object = {}): Promise<void> {
  const { request } = running
  const made = [
    await request('POST', SERVICES, {
      metadata: { name, ...service },
      spec: { ports: [{ port: 80 }] },
    }),
    await request('POST', ENDPOINTS, { metadata: { name, ...endpoints } }),
  ]
  assert.deepEqual(
    made.map(({ status }) => status),
    [201, 201],
  )
}

const statusOf = async (name: string): Promise<number> =>
  (await running.request('GET', `${ENDPOINTS}/${name}`)).status

const metadataOf = async (name: string): Promise<AnyValue> =>
  (await running.request('GET', `${ENDPOINTS}/${name}`)).value.metadata

describe('the Endpoints of a Service', () => {
  test('go with it, after it, and admission is not asked', async () => {
    await exposed('plain')
    const watches = [
      await running.watch(`${SERVICES}?watch=1`),
      await running.watch(`${ENDPOINTS}?watch=1`),
    ]
    await running.request('DELETE', `${SERVICES}/plain`)
    assert.equal(await statusOf('plain'), 404)
    const [service, endpoints] = await Promise.all(
      watches.map(({ events }) => events.find(({ type }) => type === 'DELETED')?.object.metadata),
    )
    assert.deepEqual([service.name, endpoints.name], ['plain', 'plain'])
    assert.equal(Number(endpoints.resourceVersion), Number(service.resourceVersion) + 1)
    for (const watch of watches) watch.stop()
  })

  test('go with a collection of services', async () => {
    await exposed('many')
    await running.request('DELETE', `${SERVICES}?fieldSelector=metadata.name%3Dmany`)
    assert.equal(await statusOf('many'), 404)
  })

  test('stay in a dry run', async () => {
    await exposed('dry')
    await running.request('DELETE', `${SERVICES}/dry?dryRun=All`)
    assert.equal(await statusOf('dry'), 200)
  })

  test('stay as long as finalizers keep the Service', async () => {
    await exposed('held', { finalizers: HOLD })
    await running.request('DELETE', `${SERVICES}/held`)
    assert.equal(await statusOf('held'), 200)
    const released = { metadata: { finalizers: null } }
    await running.request('PATCH', `${SERVICES}/held`, released, MERGE_PATCH)
    assert.equal(await statusOf('held'), 404)
  })

  test('are terminating from then on where finalizers keep them', async () => {
    await exposed('kept', {}, { finalizers: HOLD })
    await running.request('DELETE', `${SERVICES}/kept`)
    assert.equal((await running.request('GET', `${SERVICES}/kept`)).status, 404)
    const { deletionTimestamp, deletionGracePeriodSeconds, finalizers } = await metadataOf('kept')
    assert.ok(deletionTimestamp)
    assert.deepEqual([deletionGracePeriodSeconds, finalizers], [0, HOLD])
  })

  test('need not be there', async () => {
    await running.request('POST', SERVICES, {
      metadata: { name: 'alone' },
      spec: { ports: [{ port: 80 }] },
    })
    assert.equal((await running.request('DELETE', `${SERVICES}/alone`)).status, 200)
  })
})
