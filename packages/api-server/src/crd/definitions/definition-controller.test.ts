import assert from 'node:assert/strict'
import { afterEach, test } from 'node:test'
import { VirtualClock } from '@gyropilot/foundation'
import { START_MS, startServer } from '../../bootstrap/fixtures.ts'
import type { TestServer } from '../../bootstrap/fixtures.ts'
import { createMemoryStore } from '../../storage/memory-store.ts'
import { turn, until, type AnyValue } from '../../testing/test-server.ts'
import { startWebhook } from '../../testing/webhook-server.ts'
import { definition, version } from './fixtures.ts'

const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
const API_SERVICES = '/apis/apiregistration.k8s.io/v1/apiservices'
const stops: (() => Promise<void>)[] = []

afterEach(async () => {
  for (const stop of stops.splice(0).toReversed()) await stop()
})

const conditionsOf = async ({ call }: TestServer, group: string): Promise<string> => {
  const { body } = await call('GET', `${DEFINITIONS}/as.${group}`)
  return (body.status?.conditions ?? [])
    .map(({ type, status }: AnyValue) => `${type} ${status}`)
    .join()
}

async function started(options = {}): Promise<TestServer> {
  const server = await startServer(options)
  stops.push(() => server.server.stop(0))
  return server
}

/** Of a webhook that has stopped to answer: an instance is stored in a version that is not the stored one any more. */
async function waitingForConversion() {
  const clock = new VirtualClock({ startMs: START_MS, settle: turn })
  const store = createMemoryStore(clock)
  const hook = await startWebhook(() => 'silence')
  stops.push(hook.stop)
  const server = await started({ clock, store })
  const { call } = server
  const clientConfig = { url: `${hook.url}/convert`, caBundle: hook.caBundle }
  const webhook = { conversionReviewVersions: ['v1'], clientConfig }
  const conversion = { strategy: 'Webhook', webhook }
  await call('POST', DEFINITIONS, definition('a.example.com', { conversion }))
  const path = '/apis/a.example.com/v1/as'
  await until(async () => (await call('GET', path)).status === 200)
  const instance = { apiVersion: 'a.example.com/v1', kind: 'A', metadata: { name: 'x' } }
  assert.equal((await call('POST', path, instance)).status, 201)
  const versions = [version('v1', false), version('v2', true)]
  const json = { 'content-type': 'application/merge-patch+json' }
  await call('PATCH', `${DEFINITIONS}/as.a.example.com`, { spec: { versions } }, json)
  await call('DELETE', `${DEFINITIONS}/as.a.example.com`)
  await until(async () => hook.calls.length > 0)
  return { server, clock, store, hook }
}

test('a definition whose instances wait for a webhook keeps no other waiting', async () => {
  const { server } = await waitingForConversion()
  await server.call('POST', DEFINITIONS, definition('b.example.com'))
  await until(async () => (await server.call('GET', '/apis/b.example.com/v1/as')).status === 200)
  assert.equal(
    await conditionsOf(server, 'a.example.com'),
    'NamesAccepted True,Established True,Terminating True',
  )
})

test('a server starts while instances of a definition wait for a webhook', async () => {
  const { server, clock, store, hook } = await waitingForConversion()
  await server.server.stop(0)
  const asked = hook.calls.length
  const next = await started({ clock, store })
  assert.equal(
    await conditionsOf(next, 'a.example.com'),
    'NamesAccepted True,Established True,Terminating True',
  )
  await until(async () => hook.calls.length > asked)
})

test('a webhook about APIServices that does not answer keeps no definition from being served', async () => {
  const hook = await startWebhook(() => 'silence')
  stops.push(hook.stop)
  const server = await started()
  const rules = {
    operations: ['*'],
    apiGroups: ['apiregistration.k8s.io'],
    apiVersions: ['*'],
    resources: ['apiservices'],
  }
  const answer = await server.call(
    'POST',
    '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations',
    {
      metadata: { name: 'silent' },
      webhooks: [
        {
          name: 'silent.example.com',
          clientConfig: { url: `${hook.url}/validate`, caBundle: hook.caBundle },
          rules: [rules],
          sideEffects: 'None',
          admissionReviewVersions: ['v1'],
          failurePolicy: 'Ignore',
        },
      ],
    },
  )
  assert.equal(answer.status, 201, answer.body.message)
  for (const group of ['a.example.com', 'b.example.com'])
    await server.call('POST', DEFINITIONS, definition(group))
  for (const group of ['a.example.com', 'b.example.com'])
    await until(async () => (await server.call('GET', `/apis/${group}/v1/as`)).status === 200)
  await until(async () => hook.calls.length === 2)
  const { status } = await server.call('GET', `${API_SERVICES}/v1.b.example.com`)
  assert.equal(status, 404)
})

const MERGE = { 'content-type': 'application/merge-patch+json' }

test('a definition of a built-in group takes nothing over, and takes nothing with it', async () => {
  const server = await started()
  const { call } = server
  const leases = '/apis/coordination.k8s.io/v1/namespaces/default/leases'
  const lease = (name: string, spec: object) => ({ metadata: { name }, spec })
  assert.equal((await call('POST', leases, lease('l', {}))).status, 201)
  const documents = async (): Promise<unknown[]> => [
    (await call('GET', '/apis/coordination.k8s.io')).body,
    (await call('GET', '/apis/coordination.k8s.io/v1')).body,
    (await call('GET', '/openapi/v3/apis/coordination.k8s.io/v1')).body,
  ]
  const before = await documents()
  const made = await call('POST', DEFINITIONS, {
    metadata: {
      name: 'leases.coordination.k8s.io',
      annotations: { 'api-approved.kubernetes.io': 'unapproved, test' },
    },
    spec: {
      group: 'coordination.k8s.io',
      scope: 'Namespaced',
      names: { plural: 'leases', kind: 'Lease' },
      versions: [version('v1', true), version('v1x', false)],
    },
  })
  assert.equal(made.status, 201, made.body.message)
  const path = `${DEFINITIONS}/leases.coordination.k8s.io`
  await until(async () =>
    (await call('GET', path)).body.status?.conditions?.some(
      ({ type, status }: AnyValue) => type === 'Established' && status === 'True',
    ),
  )
  assert.deepEqual(await documents(), before)
  assert.equal((await call('POST', leases, lease('bad', { leaseDurationSeconds: -5 }))).status, 422)
  const unknown = await call('GET', '/apis/coordination.k8s.io/v1x/namespaces/default/leases')
  assert.deepEqual(
    [unknown.status, unknown.body.message],
    [404, 'the server could not find the requested resource'],
  )
  await call('DELETE', path)
  await until(async () => (await call('GET', path)).status === 404)
  assert.equal((await call('GET', `${leases}/l`)).status, 200)
  assert.deepEqual(await documents(), before)
})

test('instances of a definition that serves no version go with it', async () => {
  const server = await started()
  const { call } = server
  await call('POST', DEFINITIONS, definition('u.example.com'))
  const instances = '/apis/u.example.com/v1/as'
  await until(async () => (await call('GET', instances)).status === 200)
  for (const metadata of [{ name: 'a' }, { name: 'kept', finalizers: ['example.com/f'] }]) {
    const body = { apiVersion: 'u.example.com/v1', kind: 'A', metadata }
    assert.equal((await call('POST', instances, body)).status, 201)
  }
  const path = `${DEFINITIONS}/as.u.example.com`
  const served = async (is: boolean): Promise<void> => {
    const versions = [
      { ...version('v1', true), served: is },
      { ...version('v2', false), served: is },
    ]
    await call('PATCH', path, { spec: { versions } }, MERGE)
  }
  await served(false)
  await call('DELETE', path)
  await until(async () => server.stored('as.u.example.com', 'a') === undefined)
  assert.match(await conditionsOf(server, 'u.example.com'), /Terminating True/)
  await served(true)
  await call('PATCH', `${instances}/kept`, { metadata: { finalizers: null } }, MERGE)
  await until(async () => (await call('GET', path)).status === 404)
})

test('discovery tells of a definition that goes only what helps with that; its documents stay', async () => {
  const server = await started()
  const { call } = server
  const versions = [
    { ...version('v1', true), subresources: { status: {} } },
    { ...version('v2', false), subresources: { status: {} } },
  ]
  await call('POST', DEFINITIONS, definition('w.example.com', { versions }))
  const instances = '/apis/w.example.com/v1/as'
  await until(async () => (await call('GET', instances)).status === 200)
  const metadata = { name: 'kept', finalizers: ['example.com/f'] }
  const body = { apiVersion: 'w.example.com/v1', kind: 'A', metadata }
  assert.equal((await call('POST', instances, body)).status, 201)
  const told = async (): Promise<unknown[]> => {
    const { resources } = (await call('GET', '/apis/w.example.com/v1')).body
    const accept = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList'
    const { items } = JSON.parse((await call('GET', '/apis', undefined, { accept })).body)
    const group = items.find(({ metadata: { name } }: AnyValue) => name === 'w.example.com')
    const [resource] = group.versions.find(({ version: name }: AnyValue) => name === 'v1').resources
    return [
      ...resources.map(({ verbs }: AnyValue) => verbs),
      resource.verbs,
      resource.subresources[0].verbs,
    ]
  }
  const status = ['get', 'patch', 'update']
  const all = ['delete', 'deletecollection', 'get', 'list', 'patch', 'create', 'update', 'watch']
  assert.deepEqual(await told(), [all, status, all, status])
  const document = async () => (await call('GET', '/openapi/v3/apis/w.example.com/v1')).body
  const before = await document()
  await call('DELETE', `${DEFINITIONS}/as.w.example.com`)
  await until(async () =>
    (await conditionsOf(server, 'w.example.com')).includes('Terminating True'),
  )
  const going = ['delete', 'deletecollection', 'get', 'list', 'watch']
  assert.deepEqual(await told(), [going, status, going, status])
  assert.equal(await document(), before)
  assert.equal(
    (await call('PATCH', `${instances}/kept`, { metadata: { labels: { a: 'b' } } }, MERGE)).status,
    200,
  )
})
