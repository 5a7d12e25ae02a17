import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PrometheusRegistry } from '@gyropilot/foundation'
import { FakeHost, RecordingLogger, virtualClock } from '@gyropilot/foundation/testing'
import type { RestConfig } from '../kubeconfig/rest-config.ts'
import { fakeTransport, jsonAnswer } from '../testing/index.ts'
import { TransportPool } from './connect.ts'
import { authenticatedTransport, basicCredentials, bearerToken } from './credentials.ts'
import { impersonatingTransport, impersonationHeaders } from './impersonation.ts'
import { proxyFromEnvironment } from './proxy.ts'
import { TokenFile } from './token-file.ts'

const get = { method: 'GET', path: '/', headers: {} } as const

test('token and basic credentials become an Authorization header; a request that has one is not changed', async () => {
  const inner = fakeTransport([() => jsonAnswer({})], { repeatLast: true })
  await authenticatedTransport(inner, bearerToken('t')).send(get)
  await authenticatedTransport(inner, basicCredentials('a', 'b:c')).send(get)
  await authenticatedTransport(inner, bearerToken('t')).send({
    ...get,
    headers: { authorization: 'own' },
  })
  assert.deepEqual(
    inner.requests.map(({ headers }) => headers['authorization']),
    ['Bearer t', `Basic ${Buffer.from('a:b:c').toString('base64')}`, 'own'],
  )
})

test('who gives up does not wait for a credential that never comes', async () => {
  const transport = authenticatedTransport(fakeTransport([() => assert.fail('sent')]), {
    headers: () => new Promise(() => {}),
  })
  const stop = new AbortController()
  const sent = transport.send({ method: 'GET', path: '/x?y', headers: {}, signal: stop.signal })
  stop.abort()
  await assert.rejects(sent, { name: 'TransportError', code: 'ABORTED', message: /^GET \/x: / })
})

test('impersonation sets its headers, keys escaped and lower case', async () => {
  const inner = fakeTransport([() => jsonAnswer({})], { repeatLast: true })
  const as = {
    user: 'bob',
    uid: '7',
    groups: ['g1', 'g2'],
    extra: { 'Acme.com/Scope': ['x', 'y'] },
  }
  await impersonatingTransport(inner, as).send(get)
  assert.deepEqual(inner.requests[0]!.headers, {
    'impersonate-user': 'bob',
    'impersonate-uid': '7',
    'impersonate-group': ['g1', 'g2'],
    'impersonate-extra-acme.com%2Fscope': ['x', 'y'],
  })
})

test('who is impersonated is named in UTF-8', () => {
  const as = { user: 'jörg', uid: 'ü', groups: ['Süd'], extra: { scope: ['王'] } }
  const bytes = (text: string): string => Buffer.from(text).toString('latin1')
  assert.deepEqual(impersonationHeaders(as), {
    'impersonate-user': bytes('jörg'),
    'impersonate-uid': bytes('ü'),
    'impersonate-group': [bytes('Süd')],
    'impersonate-extra-scope': [bytes('王')],
  })
})

test('Given a rotated token file, then used within 1 min; unreadable file keeps the old one.', async () => {
  const clock = virtualClock()
  const host = new FakeHost({ '/t': 'one\n' })
  const logger = new RecordingLogger()
  const tokens = new TokenFile('/t', host, clock, logger)
  const current = async (): Promise<unknown> => (await tokens.headers())['authorization']
  assert.equal(await current(), 'Bearer one')
  host.files.set('/t', 'two')
  await clock.advance(49_999)
  assert.equal(await current(), 'Bearer one')
  await clock.advance(1)
  assert.equal(await current(), 'Bearer two')
  host.files.set('/t', 'three')
  await clock.advance(49_999)
  assert.equal(await current(), 'Bearer two', 'each reading counts for 50 s')
  host.files.delete('/t')
  await clock.advance(60_000)
  assert.equal(await current(), 'Bearer two')
  assert.deepEqual(logger.messages(), ['Unable to rotate token'])
  host.files.set('/t', ' ')
  assert.equal(await current(), 'Bearer two')
  await assert.rejects(new TokenFile('/gone', host, clock).headers(), {
    code: 'CREDENTIALS_UNREADABLE',
  })
})

test('Given a 401, then the token file is read again for the next request, unless a newer token is in use already.', async () => {
  const host = new FakeHost({ '/t': 'one' })
  const answers = [401, 200, 401, 200]
  const inner = fakeTransport([() => ({ ...jsonAnswer({}), status: answers.shift()! })], {
    repeatLast: true,
  })
  const tokens = new TokenFile('/t', host, virtualClock())
  const transport = authenticatedTransport(inner, tokens)
  await transport.send(get)
  host.files.set('/t', 'two')
  await transport.send(get)
  tokens.rejected({ authorization: 'Bearer one' })
  host.files.delete('/t')
  await transport.send(get)
  await assert.rejects(transport.send(get), { code: 'CREDENTIALS_UNREADABLE' })
  assert.deepEqual(
    inner.requests.map(({ headers }) => headers['authorization']),
    ['Bearer one', 'Bearer two', 'Bearer two'],
  )
})

const PROXIES: [string, string, Record<string, string>, string | undefined][] = [
  [
    'https by HTTPS_PROXY',
    'https://api.example.com',
    { HTTPS_PROXY: 'http://p:1', HTTP_PROXY: 'http://q' },
    'http://p:1',
  ],
  ['lower case, without scheme', 'https://api.example.com', { https_proxy: 'p:1' }, 'http://p:1'],
  ['http by HTTP_PROXY', 'http://api.example.com', { HTTP_PROXY: 'http://q' }, 'http://q'],
  ['none', 'https://api.example.com', {}, undefined],
  ['loopback', 'https://127.0.0.1:6443', { HTTPS_PROXY: 'http://p' }, undefined],
  [
    'NO_PROXY name',
    'https://api.example.com',
    { HTTPS_PROXY: 'http://p', NO_PROXY: 'x, example.com' },
    undefined,
  ],
  [
    'NO_PROXY subdomains only',
    'https://example.com',
    { HTTPS_PROXY: 'http://p', NO_PROXY: '.example.com' },
    'http://p',
  ],
  [
    'NO_PROXY block',
    'https://10.1.2.3',
    { HTTPS_PROXY: 'http://p', no_proxy: '10.0.0.0/8' },
    undefined,
  ],
  [
    'NO_PROXY block of IPv6',
    'https://[fd00:10::1]:6443',
    { HTTPS_PROXY: 'http://p', NO_PROXY: 'fd00:10::/32' },
    undefined,
  ],
  [
    'NO_PROXY other block of IPv6',
    'https://[fd01:10::1]:6443',
    { HTTPS_PROXY: 'http://p', NO_PROXY: 'fd00:10::/32' },
    'http://p',
  ],
  [
    'NO_PROXY address of IPv6 in another form',
    'https://[fd00::1]',
    { HTTPS_PROXY: 'http://p', NO_PROXY: 'fd00:0:0::1' },
    undefined,
  ],
  [
    'NO_PROXY block and a name',
    'https://api.example.com',
    { HTTPS_PROXY: 'socks5://p', NO_PROXY: '0.0.0.0/0' },
    'socks5://p',
  ],
  [
    'NO_PROXY block of the other family with the same first bits',
    'https://[2001::1]',
    { HTTPS_PROXY: 'http://p', NO_PROXY: '32.0.0.0/8' },
    'http://p',
  ],
  [
    'NO_PROXY blocks that are none',
    'https://10.1.2.3',
    { HTTPS_PROXY: 'http://p', NO_PROXY: '10.0.0.0/,10.0.0.0/x,10.0.0.0/33,x/0' },
    'http://p',
  ],
  [
    'NO_PROXY other port',
    'https://10.1.2.3:6443',
    { HTTPS_PROXY: 'http://p', no_proxy: '10.1.2.3:443' },
    'http://p',
  ],
  [
    'NO_PROXY everything',
    'https://10.1.2.3',
    { HTTPS_PROXY: 'http://p', no_proxy: '*' },
    undefined,
  ],
]
for (const [title, server, variables, expected] of PROXIES) {
  test(`proxy: ${title}`, () =>
    assert.equal(proxyFromEnvironment(server, new FakeHost({}, variables)), expected))
}

test('without a plug-in the time to live is exposed as +Inf', () => {
  const metrics = new PrometheusRegistry()
  const pool = new TransportPool({ host: new FakeHost(), clock: virtualClock(), metrics })
  pool.transport({ server: 'https://s', tls: {} })
  assert.match(metrics.expose(), /^rest_client_exec_plugin_ttl_seconds \+Inf$/m)
})

test('clients with equal TLS settings share a transport; removed and unknown auth providers are refused', () => {
  const metrics = new PrometheusRegistry()
  const pool = new TransportPool({ host: new FakeHost(), clock: virtualClock(), metrics })
  pool.transport({ server: 'https://s', tls: {}, bearerToken: 'a' })
  pool.transport({ server: 'https://s', tls: {}, bearerToken: 'b' })
  pool.transport({ server: 'https://s', tls: { serverName: 'x' } })
  const text = metrics.expose()
  assert.match(text, /create_calls_total\{result="hit"\} 1/)
  assert.match(text, /create_calls_total\{result="miss"\} 2/)
  assert.match(text, /^rest_client_transport_cache_entries 2$/m)
  const provider = (name: string): RestConfig => ({
    server: 'https://s',
    tls: {},
    authProvider: { name, config: {} },
  })
  assert.throws(() => pool.transport(provider('gcp')), /The gcp auth plugin has been removed/)
  assert.throws(() => pool.transport(provider('x')), /no Auth Provider found for name "x"/)
})
