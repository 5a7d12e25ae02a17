import assert from 'node:assert/strict'
import type { TLSSocket } from 'node:tls'
import { test } from 'node:test'
import { SystemClock, SystemRandom } from '@gyropilot/foundation'
import { turn, until } from '../testing/test-server.ts'
import type { AnyValue } from '../testing/test-server.ts'
import { createClusterCertificates } from '../tls/index.ts'
import {
  API_SERVICES,
  GROUP,
  GROUP_VERSION,
  LIST,
  announce,
  available,
  backend,
  condition,
  metrics,
  withBackend,
  world,
} from '../testing/backend-server.ts'

const AGGREGATED = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList'

withBackend()

/** Enough for what a socket brings. */
async function turns(count: number): Promise<void> {
  for (let at = 0; at < count; at++) await turn()
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
  backend.reachedAt = 1
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
  await world.call('GET', GROUP_VERSION)
  const told = metrics.expose().split('\n')
  assert.ok(
    told.includes(
      `aggregator_unavailable_apiservice_total{name="v1.${GROUP}",reason="FailedDiscoveryCheck"} 1`,
    ),
  )
  const counted = (subject: string): string =>
    `apiserver_request_terminations_total{code="503",component="aggregator",${subject}} 1`
  assert.deepEqual(
    told.filter((line) => line.includes(GROUP) && !line.startsWith('aggregator_')),
    [
      counted(`group="",resource="",scope="",subresource="${GROUP_VERSION}",verb="GET",version=""`),
      counted(
        `group="${GROUP}",resource="loads",scope="cluster",subresource="",verb="LIST",version="v1"`,
      ),
    ],
  )
  backend.reachedAt = backend.port
  await world.clock.advance(30_000)
  await condition('Passed')
})

test('a server that stops while it asks does not look again', async () => {
  const answering = Promise.withResolvers<void>()
  backend.ready = answering.promise
  await announce({ insecureSkipTLSVerify: true })
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
