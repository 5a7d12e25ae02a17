import assert from 'node:assert/strict'
import { createServer } from 'node:https'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { TLSSocket } from 'node:tls'
import { after, before, beforeEach, test } from 'node:test'
import { SystemClock, SystemRandom } from '@gyropilot/foundation'
import { makeNamespace, startServer } from '../bootstrap/fixtures.ts'
import type { TestServer } from '../bootstrap/fixtures.ts'
import { turn, until } from '../testing/test-server.ts'
import type { AnyValue } from '../testing/test-server.ts'
import { createClusterCertificates } from '../tls/index.ts'

const GROUP = 'metrics.example.com'
const GROUP_VERSION = `/apis/${GROUP}/v1`
const API_SERVICES = '/apis/apiregistration.k8s.io/v1/apiservices'
const AGGREGATED = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList'
const certificates = createClusterCertificates({
  clock: new SystemClock(),
  random: new SystemRandom(),
  serverNames: ['backend.a.svc'],
})
const LIST = {
  kind: 'APIResourceList',
  apiVersion: 'v1',
  groupVersion: `${GROUP}/v1`,
  resources: [
    { name: 'loads', singularName: 'load', namespaced: true, kind: 'Load', verbs: ['get', 'list'] },
    { name: 'loads/scale', singularName: '', namespaced: true, kind: 'Scale', verbs: ['get'] },
    { name: 'lone/part', singularName: '', namespaced: false, kind: 'Part', verbs: ['create'] },
  ],
}

type Respond = (request: IncomingMessage, response: ServerResponse, body: string) => void

/** The other API server. What it answers beside its discovery is each test's. */
const backend = {
  respond: ((_, response) => response.end('{}')) as Respond,
  /** Of `/apis` in the aggregated form; undefined: it has none. */
  aggregated: undefined as object | undefined,
  asked: [] as string[],
  /** How often it was asked what it has; each waits for `ready`. */
  looks: 0,
  ready: Promise.resolve(),
  close: () => {},
}
let port = 0
let world: TestServer

before(async () => {
  const { certificatePem: cert, privateKeyPem: key } = certificates.serving
  const tls = { cert, key, requestCert: true, rejectUnauthorized: false }
  const server = createServer(tls, async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    response.setHeader('content-type', 'application/json')
    if (request.url === GROUP_VERSION) {
      backend.looks++
      await backend.ready
      return void response.end(JSON.stringify(LIST))
    }
    if (request.url === '/apis') {
      if (backend.aggregated === undefined) response.statusCode = 404
      return void response.end(JSON.stringify(backend.aggregated ?? {}))
    }
    backend.asked.push(`${request.method} ${request.url}`)
    backend.respond(request, response, Buffer.concat(chunks).toString())
  })
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  ;({ port } = server.address() as AddressInfo)
  backend.close = () => {
    server.close()
    server.closeAllConnections()
  }
})
after(() => backend.close())

beforeEach(async () => {
  backend.asked.length = 0
  backend.aggregated = undefined
  backend.looks = 0
  backend.ready = Promise.resolve()
  world = await startServer({
    proxyClient: certificates.frontProxyClient,
    resolveService: () => ({ host: '127.0.0.1', port }),
  })
  await makeNamespace(world, 'a')
  const spec = { type: 'ExternalName', externalName: 'backend.example' }
  await world.call('POST', '/api/v1/namespaces/a/services', { metadata: { name: 'backend' }, spec })
})

async function announce(trust: object): Promise<void> {
  const answer = await world.call('POST', API_SERVICES, {
    metadata: { name: `v1.${GROUP}` },
    spec: {
      group: GROUP,
      version: 'v1',
      groupPriorityMinimum: 100,
      versionPriority: 10,
      service: { namespace: 'a', name: 'backend' },
      ...trust,
    },
  })
  assert.equal(answer.status, 201, JSON.stringify(answer.body))
}

const trusted = { caBundle: Buffer.from(certificates.authority.certificatePem).toString('base64') }

/** Enough for what a socket brings. */
async function turns(count: number): Promise<void> {
  for (let at = 0; at < count; at++) await turn()
}

async function condition(reason: string): Promise<AnyValue> {
  return until(async () => {
    const { body } = await world.call('GET', `${API_SERVICES}/v1.${GROUP}`)
    const found = body.status?.conditions?.[0]
    return found?.reason === reason && found
  })
}

async function available(): Promise<void> {
  await announce(trusted)
  const { status, message } = await condition('Passed')
  assert.deepEqual([status, message], ['True', 'all checks passed'])
}

test('what is below its group version is answered by the server behind the Service, who is told who asks', async () => {
  await available()
  let seen: AnyValue
  backend.respond = (request, response, body) => {
    const { subject } = (request.socket as TLSSocket).getPeerCertificate()
    seen = { headers: request.headers, subject, body }
    response.writeHead(201, { 'content-type': 'application/json', 'x-own': 'yes' })
    response.end('{"kind":"Load"}')
  }
  const path = `${GROUP_VERSION}/namespaces/a/loads?fieldManager=x`
  const answer = await world.call('POST', path, { kind: 'Load', metadata: { name: 'x' } })
  assert.deepEqual([answer.status, answer.body], [201, '{"kind":"Load"}'])
  assert.equal(answer.headers['x-own'], 'yes')
  assert.deepEqual(backend.asked, [`POST ${path}`])
  assert.equal(seen.subject.CN, 'front-proxy-client')
  assert.equal(seen.body, '{"kind":"Load","metadata":{"name":"x"}}')
  assert.equal(seen.headers['x-remote-user'], 'admin')
  assert.equal(seen.headers['x-remote-group'], 'system:masters, system:authenticated')
  assert.equal(seen.headers['authorization'], undefined)
  assert.equal(seen.headers['x-forwarded-uri'], path.split('?')[0])
})

test('who may not ask is refused here', async () => {
  await available()
  const refused = await world.as('jane', 'GET', `${GROUP_VERSION}/namespaces/a/loads`)
  assert.equal(refused.status, 403)
  assert.match(
    refused.body.message,
    /User "jane" cannot list resource "loads" in API group "metrics\.example\.com"/,
  )
  assert.deepEqual(backend.asked, [])
})

test('its resources are discovered with those of this server, from the one form or the other', async () => {
  const discovered = async () => {
    const { body } = await world.call('GET', '/apis', undefined, { accept: AGGREGATED })
    return JSON.parse(body).items.at(-1)
  }
  await available()
  const listed = await world.call('GET', '/apis')
  assert.equal(listed.body.groups.at(-1).name, GROUP)
  const entry = {
    resource: 'loads',
    responseKind: { group: '', version: '', kind: 'Load' },
    scope: 'Namespaced',
    singularResource: 'load',
    verbs: ['get', 'list'],
    subresources: [
      {
        subresource: 'scale',
        responseKind: { group: '', version: '', kind: 'Scale' },
        verbs: ['get'],
      },
    ],
  }
  const lone = {
    resource: 'lone',
    responseKind: { group: '', version: '', kind: '' },
    scope: 'Cluster',
    singularResource: '',
    verbs: null,
    subresources: [
      {
        subresource: 'part',
        responseKind: { group: '', version: '', kind: 'Part' },
        verbs: ['create'],
      },
    ],
  }
  assert.deepEqual(await discovered(), {
    metadata: { name: GROUP },
    versions: [{ version: 'v1', resources: [entry, lone], freshness: 'Current' }],
  })
  const own = await world.call('GET', GROUP_VERSION)
  assert.deepEqual(JSON.parse(own.body), LIST)

  const resources = [{ resource: 'others', verbs: ['list'] }]
  backend.aggregated = {
    kind: 'APIGroupDiscoveryList',
    items: [{ metadata: { name: GROUP }, versions: [{ version: 'v1', resources }] }],
  }
  await world.clock.advance(30_000)
  const renewed = await until(async () => {
    const { versions } = await discovered()
    return versions[0].resources[0].resource === 'others' && versions
  })
  assert.deepEqual(renewed, [{ version: 'v1', resources, freshness: 'Current' }])
})

test('a watch goes on as its events come, and ends there when its reader leaves', async () => {
  await available()
  const left = Promise.withResolvers<void>()
  let send: (event: string) => void = () => {}
  backend.respond = (_, response) => {
    send = (event) => void response.write(event)
    response.on('close', () => left.resolve())
    response.flushHeaders()
  }
  const leaving = new AbortController()
  const { body } = await world.server.handle({
    method: 'GET',
    path: `${GROUP_VERSION}/loads?watch=true`,
    headers: { authorization: 'Bearer admin-token' },
    longRunning: true,
    signal: leaving.signal,
  })
  assert.ok(body.kind === 'bytes')
  const chunks = body.chunks[Symbol.asyncIterator]()
  for (const event of ['{"type":"ADDED"}\n', '{"type":"DELETED"}\n']) {
    send(event)
    assert.equal(Buffer.from((await chunks.next()).value!).toString(), event)
  }
  await chunks.return?.()
  leaving.abort()
  await left.promise
})

test('one that is lost is told of with the request, and with the next look for all', async () => {
  await available()
  const lost = port
  port = 1
  const first = await world.call('GET', `${GROUP_VERSION}/loads`)
  assert.equal(first.status, 503)
  assert.equal(
    first.body,
    'error trying to reach service: dial tcp 127.0.0.1:1: connect: connection refused\n',
  )
  await world.clock.advance(30_000)
  const { message } = await condition('FailedDiscoveryCheck')
  assert.match(message, /^failing or missing response from https:\/\/backend\.example:443\//)
  const second = await world.call('GET', `${GROUP_VERSION}/loads`)
  assert.deepEqual([second.status, second.body], [503, 'service unavailable\n'])
  port = lost
  await world.clock.advance(30_000)
  await condition('Passed')
})

test('a server that stops while it asks does not look again', async () => {
  const answering = Promise.withResolvers<void>()
  backend.ready = answering.promise
  await announce(trusted)
  await until(async () => backend.looks === 1)
  const { clock, server } = world
  const after = clock.after.bind(clock)
  const waitsMs: number[] = []
  clock.after = (ms, callback) => {
    waitsMs.push(ms)
    return after(ms, callback)
  }
  const stopped = server.stop()
  answering.resolve()
  await turns(1_000)
  await clock.advance(60_000)
  await stopped
  assert.ok(!waitsMs.includes(30_000), String(waitsMs))
})

test('a certificate that the caBundle does not vouch for is not believed, unless any will do', async () => {
  const other = createClusterCertificates({ clock: new SystemClock(), random: new SystemRandom() })
  const caBundle = Buffer.from(other.authority.certificatePem).toString('base64')
  await announce({ caBundle })
  const { message } = await condition('FailedDiscoveryCheck')
  assert.match(
    message,
    /tls: failed to verify certificate: x509: certificate signed by unknown authority/,
  )
  await world.call('DELETE', `${API_SERVICES}/v1.${GROUP}`)
  await announce({ insecureSkipTLSVerify: true })
  await condition('Passed')
})
