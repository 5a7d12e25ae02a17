import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FileError, PrometheusRegistry } from '@gyropilot/foundation'
import type { CommandResult } from '@gyropilot/foundation'
import { FakeHost, RecordingLogger, virtualClock } from '@gyropilot/foundation/testing'
import {
  aliceCertificate,
  aliceKey,
  authority,
  bobCertificate,
  bobKey,
} from '../http-transport/test-certificates.ts'
import { staticTls } from '../http-transport/tls-source.ts'
import type { ExecConfig } from '../kubeconfig/kubeconfig.ts'
import type { RestConfig } from '../kubeconfig/rest-config.ts'
import { fakeTransport, jsonAnswer, statusAnswer } from '../testing/index.ts'
import { TransportPool } from './connect.ts'
import { authenticatedTransport, basicCredentials, bearerToken } from './credentials.ts'
import { ExecCredentials } from './exec-credentials.ts'
import { impersonatingTransport } from './impersonation.ts'
import { proxyFromEnvironment } from './proxy.ts'
import { tlsFromFiles } from './tls-files.ts'
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

const EXEC: ExecConfig = {
  command: 'login',
  args: ['--quiet'],
  env: [{ name: 'REGION', value: 'eu' }],
  apiVersion: 'client.authentication.k8s.io/v1',
  interactiveMode: 'IfAvailable',
  provideClusterInfo: true,
  installHint: 'Install it\n  with care.',
}
const CONFIG: RestConfig = {
  server: 'https://s',
  tls: { caData: authority },
  exec: EXEC,
  execClusterConfig: { audience: 'x' },
}

function credential(status: unknown, rest: object = {}): CommandResult {
  const answer = { kind: 'ExecCredential', apiVersion: EXEC.apiVersion, status, ...rest }
  return { exitCode: 0, stdout: JSON.stringify(answer) }
}

function plugin(answers: readonly CommandResult[], config: RestConfig = CONFIG) {
  const host = new FakeHost()
  const script = [...answers]
  host.onCommand = () => script.shift()!
  const clock = virtualClock()
  const metrics = new PrometheusRegistry()
  return { host, clock, metrics, exec: new ExecCredentials(config, { host, clock, metrics }) }
}

test('Given exec credentials, then token or certificate is used and refreshed after 401 or expiry.', async () => {
  const { host, clock, exec } = plugin([
    credential({ token: 'one', expirationTimestamp: '2026-01-01T00:10:00Z' }),
    credential({ token: 'two' }),
    credential({ token: 'three' }),
  ])
  const inner = fakeTransport([() => jsonAnswer({})], { repeatLast: true })
  const transport = authenticatedTransport(inner, exec)
  const sent = async (): Promise<unknown> => {
    await transport.send(get)
    return inner.requests.at(-1)!.headers['authorization']
  }
  assert.equal(await sent(), 'Bearer one')
  assert.equal(await sent(), 'Bearer one')
  await clock.advance(10 * 60_000)
  assert.equal(await sent(), 'Bearer two')
  assert.equal(host.commands.length, 2)

  const refusing = authenticatedTransport(fakeTransport([statusAnswer(401, 'Unauthorized')]), exec)
  assert.equal((await refusing.send(get)).status, 401)
  assert.equal(await sent(), 'Bearer three')
  assert.equal(host.commands.length, 3)
})

test('many requests at once run the plug-in once, and a 401 for an old token does not run it again', async () => {
  const { host, exec } = plugin([credential({ token: 'one' }), credential({ token: 'two' })])
  await Promise.all([exec.headers(), exec.headers(), exec.headers()])
  assert.equal(host.commands.length, 1)
  await Promise.all([1, 2].map(() => exec.rejected({ authorization: 'Bearer one' })))
  await exec.rejected({ authorization: 'Bearer one' })
  assert.equal(host.commands.length, 2)
})

test('the plug-in is given its arguments, variables and the cluster', async () => {
  const { host, exec } = plugin([credential({ token: 't' })])
  await exec.headers()
  const { command, args, env, interactive } = host.commands[0]!
  assert.deepEqual([command, args, env['REGION'], interactive], ['login', ['--quiet'], 'eu', false])
  assert.deepEqual(JSON.parse(env['KUBERNETES_EXEC_INFO']!), {
    kind: 'ExecCredential',
    apiVersion: EXEC.apiVersion,
    spec: {
      cluster: {
        server: 'https://s',
        'certificate-authority-data': Buffer.from(authority).toString('base64'),
        config: { audience: 'x' },
      },
      interactive: false,
    },
  })
})

test('a certificate is used for TLS, and listeners hear only of another certificate', async () => {
  const [a, b] = [
    { cert: aliceCertificate, key: aliceKey },
    { cert: bobCertificate, key: bobKey },
  ]
  const pair = ({ cert, key }: typeof a): object => ({
    clientCertificateData: cert,
    clientKeyData: key,
  })
  const { exec } = plugin([credential(pair(a)), credential(pair(a)), credential(pair(b))])
  const tls = exec.tls(staticTls({ ca: 'CA' }))
  let changes = 0
  tls.onChange!(() => changes++)
  assert.deepEqual(await tls.load(), { ca: 'CA', ...a })
  assert.deepEqual(await exec.headers(), {})
  await exec.rejected({})
  assert.equal(changes, 0)
  await exec.rejected({})
  assert.equal(changes, 1)
  assert.deepEqual(await tls.load(), { ca: 'CA', ...b })
})

const BAD: [string, CommandResult, RegExp][] = [
  ['exit code', { exitCode: 3, stdout: '' }, /executable login failed with exit code 3/],
  ['no JSON', { exitCode: 0, stdout: 'hello' }, /decoding stdout/],
  [
    'another version',
    credential({}, { apiVersion: 'client.authentication.k8s.io/v1beta1' }),
    /is configured to use API version .*v1, plugin returned version .*v1beta1/,
  ],
  ['no status', credential(null), /didn't return a status field/],
  [
    'an expiry that is no time, which must not count as none',
    credential({ token: 'a', expirationTimestamp: 'tomorrow' }),
    /decoding stdout: "tomorrow" is no time/,
  ],
  ['nothing in it', credential({}), /didn't return a token or cert\/key pair/],
  [
    'a certificate alone',
    credential({ clientCertificateData: 'c' }),
    /only certificate or key, not both/,
  ],
  [
    'the key of another certificate',
    credential({ clientCertificateData: aliceCertificate, clientKeyData: bobKey }),
    /failed parsing client key\/certificate: tls: private key does not match public key$/,
  ],
]
for (const [title, answer, message] of BAD) {
  test(`exec plug-in: ${title}`, () =>
    assert.rejects(plugin([answer]).exec.headers(), { code: 'EXEC_PLUGIN_FAILED', message }))
}

test('a missing plug-in shows its install hint on one line, and Always needs a terminal', async () => {
  const { host, exec, metrics } = plugin([])
  host.onCommand = ({ command }) => {
    throw new FileError('exec', command, 'ENOENT')
  }
  await assert.rejects(exec.headers(), {
    code: 'EXEC_PLUGIN_NOT_FOUND',
    message: /executable login not found: .*; Install it with care\.$/,
  })
  assert.match(
    metrics.expose(),
    /rest_client_exec_plugin_call_total\{call_status="plugin_not_found_error",code="1"\} 1/,
  )
  const always = plugin([], { ...CONFIG, exec: { ...EXEC, interactiveMode: 'Always' } })
  await assert.rejects(always.exec.headers(), /cannot support interactive mode/)
})

test('the time to live is exposed, +Inf without expiry', async () => {
  const { exec, metrics } = plugin([
    credential({ token: 'a', expirationTimestamp: '2026-01-01T00:01:00Z' }),
  ])
  assert.match(metrics.expose(), /^rest_client_exec_plugin_ttl_seconds \+Inf$/m)
  await exec.headers()
  assert.match(metrics.expose(), /^rest_client_exec_plugin_ttl_seconds 60$/m)
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
  pool.transport(CONFIG)
  const text = metrics.expose()
  assert.match(text, /create_calls_total\{result="hit"\} 1/)
  assert.match(text, /create_calls_total\{result="miss"\} 2/)
  assert.match(text, /create_calls_total\{result="uncacheable"\} 1/)
  assert.match(text, /^rest_client_transport_cache_entries 2$/m)
  const provider = (name: string): RestConfig => ({
    server: 'https://s',
    tls: {},
    authProvider: { name, config: {} },
  })
  assert.throws(() => pool.transport(provider('gcp')), /The gcp auth plugin has been removed/)
  assert.throws(() => pool.transport(provider('x')), /no Auth Provider found for name "x"/)
})

test('a plug-in of an unknown version is refused at once, and who has a token needs none', () => {
  const metrics = new PrometheusRegistry()
  const pool = new TransportPool({ host: new FakeHost(), clock: virtualClock(), metrics })
  const alpha = { ...EXEC, apiVersion: 'client.authentication.k8s.io/v1alpha1' }
  assert.throws(() => pool.transport({ ...CONFIG, exec: alpha }), {
    code: 'KUBECONFIG_INVALID',
    message: 'exec plugin: invalid apiVersion "client.authentication.k8s.io/v1alpha1"',
  })
  pool.transport({ ...CONFIG, bearerToken: 't' })
  pool.transport({ ...CONFIG, bearerTokenFile: '/t' })
  // Connections are not shared where a plug-in may show certificates in them.
  assert.doesNotMatch(metrics.expose(), /result="uncacheable"/)
})

const DAMAGED = '-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n'
const AUTHORITIES: readonly (readonly [string, string, RegExp | undefined])[] = [
  ['a certificate', authority, undefined],
  ['one between other text and keys', `# ours\n${bobKey}${authority}`, undefined],
  ['one behind a damaged one', `${DAMAGED}${authority}`, undefined],
  ['nothing at all: those of the machine count', '', undefined],
  ['no PEM text', 'not a certificate', /: unable to parse bytes as PEM block$/],
  ['a key', bobKey, /: no valid certificate authority data seen$/],
  ['a damaged certificate', DAMAGED, /: failed to parse certificate: x509: malformed certificate$/],
]
for (const [title, pem, problem] of AUTHORITIES)
  test(`certificate authority: ${title}`, async () => {
    const pool = new TransportPool({ host: new FakeHost(), clock: virtualClock() })
    const config = { server: 'https://s', tls: { caData: pem } }
    const files = tlsFromFiles({ caFile: '/ca' }, new FakeHost({ '/ca': pem }))
    if (problem === undefined) {
      pool.transport(config)
      assert.equal((await files.load()).ca, pem)
      return
    }
    assert.throws(
      () => pool.transport(config),
      /^GyropilotError: unable to load root certificates: /,
    )
    await assert.rejects(files.load(), problem)
  })

const PAIRS: readonly (readonly [string, string, string, RegExp | undefined])[] = [
  ['a pair', aliceCertificate, aliceKey, undefined],
  ['of two', aliceCertificate, bobKey, /: tls: private key does not match public key$/],
  ['no certificate', 'x', bobKey, /: tls: failed to find any PEM data in certificate input$/],
  ['an empty certificate', '', bobKey, /: tls: failed to find any PEM data in certificate input$/],
  ['an empty key', aliceCertificate, '', /: tls: failed to find any PEM data in key input$/],
]
for (const [title, cert, key, problem] of PAIRS)
  test(`files of a client certificate and its key: ${title}`, async () => {
    const host = new FakeHost({ '/cert': cert, '/key': key })
    const loaded = tlsFromFiles({ certFile: '/cert', keyFile: '/key' }, host).load()
    if (problem === undefined) assert.equal((await loaded).cert, cert)
    else await assert.rejects(loaded, problem)
  })
