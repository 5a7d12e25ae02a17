import assert from 'node:assert/strict'
import { test } from 'node:test'
import { definition } from '../crd/definitions/fixtures.ts'
import { createTestServer, until, type AnyValue } from '../testing/test-server.ts'
import { failedCheck, unavailability } from './availability.ts'

const API_SERVICES = '/apis/apiregistration.k8s.io/v1/apiservices'
const AGGREGATED = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList'

const apiService = (group: string, version: string, spec: object = {}): AnyValue => ({
  metadata: { name: `${version}.${group}` },
  spec: {
    group,
    version,
    groupPriorityMinimum: 100,
    versionPriority: 100,
    service: { namespace: 'default', name: 'x' },
    insecureSkipTLSVerify: true,
    ...spec,
  },
})

test('a group of another server is listed last, by priority, and its versions as stale', async () => {
  const { request, clock } = await createTestServer()
  await request('POST', API_SERVICES, apiService('a.example.com', 'v1'))
  await request('POST', API_SERVICES, apiService('b.example.com', 'v1', { versionPriority: 1 }))
  await request(
    'POST',
    API_SERVICES,
    apiService('b.example.com', 'v2', { groupPriorityMinimum: 200 }),
  )
  const local = { service: undefined, insecureSkipTLSVerify: undefined }
  await request('POST', API_SERVICES, apiService('c.example.com', 'v1', local))
  await clock.advance(1)
  const { groups } = (await request('GET', '/apis')).value
  const names = (list: AnyValue[]): string[] => list.map(({ name }) => name).slice(-3)
  assert.deepEqual(names(groups), ['b.example.com', 'a.example.com', 'c.example.com'])
  const [b] = groups.slice(-3)
  assert.deepEqual(
    b.versions.map(({ version }: AnyValue) => version),
    ['v2', 'v1'],
  )
  const { value } = await request('GET', '/apis', undefined, { accept: AGGREGATED })
  const { items } = typeof value === 'string' ? JSON.parse(value) : value
  const stale = (version: string): object => ({ version, freshness: 'Stale' })
  assert.deepEqual(items.slice(-2), [
    { metadata: { name: 'b.example.com' }, versions: [stale('v2'), stale('v1')] },
    { metadata: { name: 'a.example.com' }, versions: [stale('v1')] },
  ])
  assert.equal((await request('GET', '/apis/a.example.com/v1')).status, 503)
  assert.equal((await request('GET', '/apis/c.example.com/v1')).status, 404)
})

test('a status follows the service, and keeps its time while it stays False', async () => {
  const { request, clock } = await createTestServer({
    resolveService: () => ({ host: '127.0.0.1', port: 1 }),
  })
  await request('POST', API_SERVICES, apiService('a.example.com', 'v1'))
  const available = async (): Promise<AnyValue> => {
    await clock.advance(1000)
    const { status } = (await request('GET', `${API_SERVICES}/v1.a.example.com`)).value
    return status.conditions[0]
  }
  const answerOf = async (accept?: string): Promise<string> => {
    const { value } = await request(
      'GET',
      '/apis',
      undefined,
      accept === undefined ? {} : { accept },
    )
    return typeof value === 'string' ? value : JSON.stringify(value)
  }
  const isListed = async () => (await answerOf()).includes('a.example.com')
  const isStale = async () => (await answerOf(AGGREGATED)).includes('a.example.com')
  const first = await available()
  assert.deepEqual([await isListed(), await isStale()], [true, true])
  assert.equal(first.reason, 'ServiceNotFound')
  const services = '/api/v1/namespaces/default/services'
  await request('POST', services, { metadata: { name: 'x' }, spec: { ports: [{ port: 443 }] } })
  const second = await available()
  assert.equal(second.reason, 'EndpointsNotFound')
  assert.equal(second.lastTransitionTime, first.lastTransitionTime)
  const slices = '/apis/discovery.k8s.io/v1/namespaces/default/endpointslices'
  const slice = {
    metadata: { name: 'x', labels: { 'kubernetes.io/service-name': 'x' } },
    addressType: 'IPv4',
    endpoints: [{ addresses: ['10.1.2.3'] }],
    ports: [{ port: 1 }],
  }
  await request('POST', slices, slice)
  const failed = await until(async () => {
    const condition = await available()
    return condition.reason === 'FailedDiscoveryCheck' && condition
  })
  assert.match(
    failed.message,
    /^failing or missing response from (https:\/\/10\.0\.\d+\.\d+:443\/apis\/a\.example\.com\/v1): Get "\1": dial tcp 127\.0\.0\.1:1: connect: connection refused$/,
  )
  assert.deepEqual([await isListed(), await isStale()], [true, true])
  await request('DELETE', `${slices}/x`)
  assert.equal((await available()).reason, 'EndpointsNotFound')
  assert.deepEqual([await isListed(), await isStale()], [true, true])
})

test('an external name is asked without endpoints', () => {
  const service = { spec: { type: 'ExternalName', externalName: 'elsewhere.example' } }
  const named = apiService('a.example.com', 'v1')
  assert.equal(unavailability(named, service, []), undefined)
  const { reason, message } = failedCheck(named, service, { why: 404 })
  assert.equal(reason, 'FailedDiscoveryCheck')
  const url = 'https://elsewhere.example:443/apis/a.example.com/v1'
  assert.equal(message, `failing or missing response from ${url}: bad status from ${url}: 404`)
  const why = 'no endpoints available for service "x"'
  assert.equal(failedCheck(named, service, { why, unresolved: true }).message, why)
})

test('of a version that a definition serves the APIService decides, in requests and in discovery', async () => {
  const { request, clock } = await createTestServer()
  const group = 'd.example.com'
  const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
  await request('POST', definitions, definition(group))
  const path = `${API_SERVICES}/v1.${group}`
  await until(async () => (await request('GET', path)).value.status?.conditions !== undefined)
  const change = async (service: object | null): Promise<void> => {
    const labels = { 'kube-aggregator.kubernetes.io/automanaged': null }
    const body = { metadata: { labels }, spec: { service, insecureSkipTLSVerify: service && true } }
    const merge = { 'content-type': 'application/merge-patch+json' }
    assert.equal((await request('PATCH', path, body, merge)).status, 200)
    await clock.advance(1)
  }
  const answers = (): Promise<number[]> =>
    Promise.all(
      [`v1`, `v1/as`, `v1/as/x`, `v2/as`].map(
        async (below) => (await request('GET', `/apis/${group}/${below}`)).status,
      ),
    )
  const discovered = async (): Promise<unknown> => {
    const { value } = await request('GET', '/apis', undefined, { accept: AGGREGATED })
    const { items } = typeof value === 'string' ? JSON.parse(value) : value
    const found = items.find(({ metadata }: AnyValue) => metadata.name === group)
    return found.versions.map(({ version: name, freshness }: AnyValue) => [name, freshness])
  }
  const current = [
    ['v2', 'Current'],
    ['v1', 'Current'],
  ]
  assert.deepEqual(await answers(), [200, 200, 404, 200])
  assert.deepEqual(await discovered(), current)
  await change({ namespace: 'default', name: 'x' })
  assert.deepEqual(await answers(), [503, 503, 503, 200])
  assert.deepEqual(await discovered(), [
    ['v2', 'Current'],
    ['v1', 'Stale'],
  ])
  const { versions } = (await request('GET', `/apis/${group}`)).value
  assert.deepEqual(
    versions.map(({ version: name }: AnyValue) => name),
    ['v2', 'v1'],
  )
  await change(null)
  assert.deepEqual(await answers(), [200, 200, 404, 200])
  assert.deepEqual(await discovered(), current)
})
