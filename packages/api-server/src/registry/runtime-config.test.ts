import assert from 'node:assert/strict'
import { test } from 'node:test'
import { resourceTable } from '@gyropilot/api'
import { createTestServer } from '../testing/test-server.ts'
import { parseRuntimeConfig, servedTable } from './runtime-config.ts'

const V1BETA1 = 'coordination.k8s.io/v1beta1'
const BUNDLES = 'certificates.k8s.io/v1beta1'
const DEVICES = 'resource.k8s.io/v1beta2'
const DEVICES_ALPHA = 'resource.k8s.io/v1alpha3'
const SERVERS = 'internal.apiserver.k8s.io/v1alpha1'
const GROUPS = 'scheduling.k8s.io/v1alpha2'
const MIGRATIONS = 'storagemigration.k8s.io/v1beta1'
/** Of kinds that v1 has too. */
const REPEATED_BETA = [
  'admissionregistration.k8s.io/v1beta1',
  'networking.k8s.io/v1beta1',
  'resource.k8s.io/v1beta1',
  'storage.k8s.io/v1beta1',
]
const REPEATED_ALPHA = [
  'admissionregistration.k8s.io/v1alpha1',
  'certificates.k8s.io/v1alpha1',
  'coordination.k8s.io/v1alpha2',
]

test('items turn versions on and off, and the last one holds', () => {
  assert.deepEqual(parseRuntimeConfig([]), {})
  assert.deepEqual(parseRuntimeConfig([V1BETA1]), { [V1BETA1]: true })
  assert.deepEqual(parseRuntimeConfig([`${V1BETA1}=true`, 'v1=true']), {
    [V1BETA1]: true,
    v1: true,
  })
  assert.deepEqual(parseRuntimeConfig([`${V1BETA1}=true`, `${V1BETA1}=false`]), {
    [V1BETA1]: false,
  })
})

const all = (versions: readonly string[], isOn = true) =>
  Object.fromEntries(versions.map((version) => [version, isOn]))
const beta = (isOn: boolean) => all([BUNDLES, V1BETA1, DEVICES, MIGRATIONS, ...REPEATED_BETA], isOn)
const ALPHA = all([DEVICES_ALPHA, GROUPS, SERVERS, ...REPEATED_ALPHA])

test('a stage stands for the versions of that stage that are not served by default', () => {
  for (const [item, wanted] of [
    ['api/all=true', { ...beta(true), ...ALPHA }],
    ['api/beta=true', beta(true)],
    ['api/beta=false', beta(false)],
    ['api/alpha=true', ALPHA],
    ['api/ga=true', {}],
  ] as const)
    assert.deepEqual(parseRuntimeConfig([item]), wanted, item)
})

for (const [item, wanted] of [
  ['coordination.k8s.io/v1alpha1=true', /^"coordination.k8s.io\/v1alpha1" is not known: use cert/],
  ['api/most=true', /^"api\/most" is not known/],
  ['constructor', /^"constructor" is not known/],
  ['apps/v1=false', /^apps\/v1 cannot be turned off$/],
  [`${V1BETA1}=yes`, /^coordination.k8s.io\/v1beta1=yes: use true or false$/],
] as const) {
  test(`${item} is refused`, () => {
    assert.match(String(parseRuntimeConfig([item])), wanted)
  })
}

test('a server with an unknown version is not made', async () => {
  await assert.rejects(createTestServer({ runtimeConfig: { 'a.b/v1': true } }), /is not known/)
})

test('what is off adds nothing to the table', () => {
  assert.equal(servedTable(), resourceTable)
  assert.equal(servedTable({ [V1BETA1]: false }), resourceTable)
})

test('by default a LeaseCandidate is neither told of nor served', async () => {
  const { request } = await createTestServer()
  const group = (await request('GET', '/apis/coordination.k8s.io')).value
  assert.deepEqual(
    group.versions.map(({ version }: { version: string }) => version),
    ['v1'],
  )
  assert.equal((await request('GET', `/apis/${V1BETA1}`)).status, 404)
  assert.equal((await request('GET', `/apis/${V1BETA1}/leasecandidates`)).status, 404)
  const index = JSON.parse((await request('GET', '/openapi/v3')).value)
  assert.equal(index.paths[`apis/${V1BETA1}`], undefined)
  const services = '/apis/apiregistration.k8s.io/v1/apiservices'
  assert.equal((await request('GET', `${services}/v1beta1.coordination.k8s.io`)).status, 404)
})

test('on request it is told of behind v1, described, registered and stored', async () => {
  const { request } = await createTestServer({ runtimeConfig: { [V1BETA1]: true } })
  const group = (await request('GET', '/apis/coordination.k8s.io')).value
  assert.deepEqual(
    group.versions.map(({ version }: { version: string }) => version),
    ['v1', 'v1beta1'],
  )
  assert.equal(group.preferredVersion.version, 'v1')
  const [resource] = (await request('GET', `/apis/${V1BETA1}`)).value.resources
  assert.equal(resource.name, 'leasecandidates')
  assert.equal(resource.singularName, 'leasecandidate')
  const document = JSON.parse((await request('GET', `/openapi/v3/apis/${V1BETA1}`)).value)
  const schemas = document.components.schemas
  assert.match(schemas['io.k8s.api.coordination.v1beta1.LeaseCandidate'].description, /lead/)
  const services = '/apis/apiregistration.k8s.io/v1/apiservices'
  const service = (await request('GET', `${services}/v1beta1.coordination.k8s.io`)).value
  assert.equal(service.spec.versionPriority, 13)
  const path = `/apis/${V1BETA1}/namespaces/default/leasecandidates`
  const spec = { leaseName: 'l', binaryVersion: '1.36.0', strategy: 'example.com/mine' }
  const created = await request('POST', path, { metadata: { name: 'a_b' }, spec })
  assert.equal(created.status, 201)
  assert.equal(created.value.apiVersion, V1BETA1)
  const table = await request('GET', path, undefined, {
    accept: 'application/json;as=Table;v=v1;g=meta.k8s.io',
  })
  assert.deepEqual(table.value.rows[0].cells.slice(0, 4), ['a_b', 'l', '1.36.0', ''])
})

test('kube-controller-manager may announce itself in kube-system, and nowhere else', async () => {
  const manager = {
    name: 'system:kube-controller-manager',
    groups: ['system:authenticated'],
    extra: {},
  }
  const { request } = await createTestServer({
    runtimeConfig: { [V1BETA1]: true },
    tokens: new Map([['manager', manager]]),
  })
  const spec = { leaseName: 'l', binaryVersion: '1.36.0', strategy: 'example.com/mine' }
  const send = async (method: string, namespace: string, name = '', body?: object) => {
    const path = `/apis/${V1BETA1}/namespaces/${namespace}/leasecandidates${name}`
    return request(method, path, body, { authorization: 'Bearer manager' })
  }
  const created = await send('POST', 'kube-system', '', { metadata: { name: 'a' }, spec })
  assert.equal(created.status, 201)
  assert.equal((await send('PUT', 'kube-system', '/a', created.value)).status, 200)
  assert.equal((await send('GET', 'kube-system')).status, 200)
  assert.equal((await send('DELETE', 'kube-system', '/a')).status, 403)
  assert.equal((await send('POST', 'default', '', { metadata: { name: 'a' }, spec })).status, 403)
})

test('a server without the version takes its APIService away, and leaves the objects', async () => {
  const first = await createTestServer({ runtimeConfig: { [V1BETA1]: true } })
  const spec = { leaseName: 'l', binaryVersion: '1.36.0', strategy: 'example.com/mine' }
  const path = `/apis/${V1BETA1}/namespaces/default/leasecandidates`
  await first.request('POST', path, { metadata: { name: 'a' }, spec })
  await first.server.stop(0)
  const { store } = first.server
  const second = await createTestServer({ store, clock: first.clock })
  const services = '/apis/apiregistration.k8s.io/v1/apiservices'
  assert.equal((await second.request('GET', `${services}/v1beta1.coordination.k8s.io`)).status, 404)
  assert.equal((await second.request('GET', `${services}/v1.coordination.k8s.io`)).status, 200)
  assert.equal(store.count('leasecandidates.coordination.k8s.io'), 1)
})
