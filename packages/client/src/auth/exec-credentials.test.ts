import assert from 'node:assert/strict'
import { X509Certificate } from 'node:crypto'
import { test } from 'node:test'
import { FileError, PrometheusRegistry, goFloat, sleep } from '@gyropilot/foundation'
import type { CommandResult } from '@gyropilot/foundation'
import { FakeHost, virtualClock } from '@gyropilot/foundation/testing'
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
import { authenticatedTransport } from './credentials.ts'
import { ExecCredentials } from './exec-credentials.ts'
import { tlsFromFiles } from './tls-files.ts'

const get = { method: 'GET', path: '/', headers: {} } as const

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

function plugin(
  answers: readonly CommandResult[],
  config: RestConfig = CONFIG,
  metrics = new PrometheusRegistry(),
) {
  const host = new FakeHost()
  const script = [...answers]
  host.onCommand = () => script.shift()!
  const clock = virtualClock()
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
  const all = await Promise.all([exec.headers(), exec.headers(), exec.headers()])
  assert.equal(host.commands.length, 1)
  await Promise.all(all.slice(1).map((headers) => exec.rejected(headers)))
  await exec.rejected(all[0]!)
  assert.equal(host.commands.length, 2)
})

test('requests that are refused one after the other run the plug-in once, though it answers the same token or a certificate', async () => {
  const pair = { clientCertificateData: aliceCertificate, clientKeyData: aliceKey }
  for (const answer of [{ token: 'one' }, pair]) {
    const { host, exec, clock } = plugin(Array<CommandResult>(30).fill(credential(answer)))
    let sent = 0
    const refusing = {
      async send() {
        await sleep(clock, ++sent * 60)
        return statusAnswer(401, 'Unauthorized')
      },
      close: async () => {},
    }
    const transport = authenticatedTransport(refusing, exec)
    const answers = Promise.all(Array.from({ length: 20 }, () => transport.send(get)))
    await clock.advance(2_000)
    await answers
    assert.equal(host.commands.length, 2)
    // One that was sent with what the plug-in said last has something to tell.
    const again = transport.send(get)
    await clock.advance(2_000)
    await again
    assert.equal(host.commands.length, 3)
  }
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

test('the plug-in is given the authorities of the file that the configuration names', async () => {
  const config = { ...CONFIG, tls: { caFile: '/ca.crt' } }
  const { host, exec } = plugin([credential({ token: 't' })], config)
  await assert.rejects(
    exec.headers(),
    /^.*failed to load CA bundle for execProvider: open \/ca\.crt/,
  )
  host.files.set('/ca.crt', authority)
  await exec.headers()
  const { spec } = JSON.parse(host.commands[0]!.env['KUBERNETES_EXEC_INFO']!)
  assert.equal(
    spec.cluster['certificate-authority-data'],
    Buffer.from(authority).toString('base64'),
  )
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
  await exec.rejected(await exec.headers())
  assert.equal(changes, 0)
  await exec.rejected(await exec.headers())
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

test('the shortest time that a certificate of a plug-in is valid is exposed, +Inf without any, and how old one became', async () => {
  const metrics = new PrometheusRegistry()
  const [alice, bob] = [
    { clientCertificateData: aliceCertificate, clientKeyData: aliceKey },
    { clientCertificateData: bobCertificate, clientKeyData: bobKey },
  ]
  const expirationTimestamp = '2026-01-01T00:01:00Z'
  const first = plugin(
    [credential({ ...alice, expirationTimestamp }), credential(bob)],
    CONFIG,
    metrics,
  )
  const second = plugin([credential({ token: 'a', expirationTimestamp })], CONFIG, metrics)
  const ttl = (): number => {
    const [, text] = /^rest_client_exec_plugin_ttl_seconds (\S+)$/m.exec(metrics.expose())!
    return text === '+Inf' ? Infinity : Number(text)
  }
  const validity = (pem: string) => {
    const { validFromDate, validToDate } = new X509Certificate(pem)
    const nowMs = first.clock.nowMs()
    return [(nowMs - validFromDate.getTime()) / 1000, (validToDate.getTime() - nowMs) / 1000]
  }
  await second.exec.headers()
  assert.equal(ttl(), Infinity, 'tokens do not count, nor when they expire')
  await first.exec.headers()
  assert.equal(ttl(), validity(aliceCertificate)[1])
  await first.clock.advance(60_000)
  await first.exec.headers()
  assert.equal(ttl(), validity(bobCertificate)[1])
  const [age] = validity(aliceCertificate)
  assert.ok(
    metrics
      .expose()
      .includes(`rest_client_exec_plugin_certificate_rotation_age_sum ${goFloat(age!)}\n`),
  )
})

test('clients of one plug-in share its transport, and what one run of it says', async () => {
  const host = new FakeHost()
  const metrics = new PrometheusRegistry()
  let runs = 0
  host.onCommand = () => {
    runs++
    return { exitCode: 1, stdout: '' }
  }
  const pool = new TransportPool({ host, clock: virtualClock(), metrics })
  const ask = (config: RestConfig) => pool.transport(config).send(get).catch(String)
  await Promise.all([ask(CONFIG), ask({ ...CONFIG })])
  assert.equal(runs, 1)
  await ask({ ...CONFIG, server: 'https://other' })
  assert.equal(runs, 2)
  pool.transport({ ...CONFIG, exec: { ...EXEC, args: ['--verbose'] } })
  const text = metrics.expose()
  assert.match(text, /create_calls_total\{result="hit"\} 1/)
  assert.match(text, /create_calls_total\{result="miss"\} 3/)
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
