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
  const host = `127.0.0.1:${backend.port}`
  const { host: asked, ...headers } = seen.headers
  assert.deepEqual([asked, headers['x-forwarded-host']], [host, host])
  assert.equal(headers['x-forwarded-proto'], 'https')
  assert.equal(headers['x-forwarded-uri'], path.split('?')[0])
})

test('path and query are passed on as they were understood here, and where the request came from is added', async () => {
  await available()
  let forwarded: unknown
  backend.respond = ({ headers }, response) => {
    forwarded = [headers['x-forwarded-for'], headers['x-forwarded-uri']]
    response.end('{}')
  }
  await world.server.handle({
    method: 'GET',
    path: `${GROUP_VERSION}/namespaces/a%2Fb/loads/../x%20(y)//?b=1&a=%20&%=;`,
    headers: { authorization: 'Bearer admin-token', 'x-forwarded-for': '192.0.2.1' },
    clientAddress: '192.0.2.2',
  })
  assert.deepEqual(backend.asked, [
    `GET ${GROUP_VERSION}/namespaces/a/b/loads/../x%20%28y%29//?a=+&b=1`,
  ])
  const cleaned = `${GROUP_VERSION}/namespaces/a/b/x%20%28y%29/`
  assert.deepEqual(forwarded, ['192.0.2.1, 192.0.2.2', cleaned])
})

test('what is deleted may say how, in a body; and another request follows on the same connection', async () => {
  await available()
  const bodies: string[] = []
  const sockets = new Set<unknown>()
  backend.respond = ({ socket }, response, body) => {
    bodies.push(body)
    sockets.add(socket)
    response.end('{}')
  }
  const path = `${GROUP_VERSION}/namespaces/a/loads/x`
  for (const propagationPolicy of ['Foreground', 'Orphan']) {
    const { status } = await world.call('DELETE', path, { propagationPolicy })
    assert.equal(status, 200)
  }
  assert.deepEqual(bodies, ['{"propagationPolicy":"Foreground"}', '{"propagationPolicy":"Orphan"}'])
  assert.equal(sockets.size, 1)
})

test('a body that is larger than allowed is refused, not cut', async () => {
  await available()
  const { status } = await world.server.handle({
    method: 'POST',
    path: `${GROUP_VERSION}/loads`,
    headers: { authorization: 'Bearer admin-token' },
    body: { bytes: new Uint8Array(3_145_729) },
  })
  assert.equal(status, 413)
  assert.deepEqual(backend.asked, [])
})

test('a redirection is not passed back', async () => {
  await available()
  for (const [code, location, expected] of [
    [301, '/elsewhere', 502],
    [399, 'https://other.example/', 502],
    [304, undefined, 304],
  ] as const) {
    backend.respond = (_, response) => {
      response.writeHead(code, location === undefined ? {} : { location })
      response.end()
    }
    const { status, body, headers } = await world.call('GET', `${GROUP_VERSION}/loads`)
    assert.deepEqual([status, headers['location']], [expected, undefined])
    if (expected === 502)
      assert.equal(body, 'the backend attempted to redirect this request, which is not permitted')
  }
})

test('an answer keeps its length and lacks what it lacked; what pages of other origins may do is not for it to say', async () => {
  await available()
  backend.respond = (_, response) => {
    response.removeHeader('content-type')
    response.setHeader('access-control-allow-origin', '*')
    response.setHeader('access-control-max-age', '5')
    response.setHeader('x-large', 'x'.repeat(100_000))
    response.setHeader('content-length', 5)
    response.end('hello')
  }
  const { headers, body } = await world.call('GET', `${GROUP_VERSION}/loads`)
  assert.equal(body, 'hello')
  assert.equal(headers['content-length'], '5')
  assert.equal(headers['x-large']?.length, 100_000)
  assert.equal(headers['access-control-max-age'], '5')
  for (const absent of ['content-type', 'access-control-allow-origin'])
    assert.equal(headers[absent], undefined)
})

test('a kept connection that is closed at once is no answer to what may be asked again', async () => {
  await available()
  let isClosing = false
  backend.respond = (request, response) => {
    if (isClosing) request.socket.destroy()
    else response.end('{}')
    isClosing = false
  }
  await world.call('GET', `${GROUP_VERSION}/loads`)
  isClosing = true
  assert.equal((await world.call('GET', `${GROUP_VERSION}/loads`)).status, 200)
  isClosing = true
  assert.equal((await world.call('POST', `${GROUP_VERSION}/loads`, {})).status, 503)
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
  const responseKind = { group: '', version: '', kind: '' }
  const whole = { scope: '', singularResource: '', responseKind, ...resources[0] }
  assert.deepEqual(renewed, [{ version: 'v1', resources: [whole], freshness: 'Current' }])
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

test('any answer of success will do for a look, whatever it says', async () => {
  backend.list = 'hello'
  await announce({ insecureSkipTLSVerify: true })
  await condition('Passed')
  const { body } = await world.call('GET', '/apis', undefined, { accept: AGGREGATED })
  assert.deepEqual(JSON.parse(body).items.at(-1), {
    metadata: { name: GROUP },
    versions: [{ version: 'v1', freshness: 'Stale' }],
  })
})

test('the list of resources is waited for no longer than 5 s, for whoever asks', async () => {
  await available()
  const asked = backend.looks
  backend.ready = new Promise(() => {})
  const late = world.call('GET', GROUP_VERSION)
  await until(async () => backend.looks > asked)
  await world.clock.advance(5_000)
  const { status, body } = await late
  assert.deepEqual(
    [status, body],
    [503, 'error trying to reach service: context deadline exceeded\n'],
  )
})

test('a look that takes too long is told of in the words of a client that has given up', async () => {
  backend.ready = new Promise(() => {})
  await announce({ insecureSkipTLSVerify: true })
  await until(async () => backend.looks === 1)
  await world.clock.advance(5_000)
  const { message } = await condition('FailedDiscoveryCheck')
  assert.match(
    message,
    /: net\/http: request canceled \(Client\.Timeout exceeded while awaiting headers\)$/,
  )
})

test('the condition is written again when somebody else has written it, and follows the spec', async () => {
  await available()
  const path = `${API_SERVICES}/v1.${GROUP}`
  const patch = { 'content-type': 'application/merge-patch+json' }
  await world.call('PATCH', `${path}/status`, { status: { conditions: null } }, patch)
  await condition('Passed')
  const spec = { service: null, caBundle: null }
  await world.call('PATCH', path, { spec }, patch)
  const { status, message } = await condition('Local')
  assert.deepEqual([status, message], ['True', 'Local APIServices are always available'])
  await world.call('PATCH', `${path}/status`, { status: { conditions: null } }, patch)
  await condition('Local')
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
