/** Against an issuer and an API server on the loopback interface. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { SystemClock } from '@gyropilot/foundation'
import { FakeHost, virtualClock } from '@gyropilot/foundation/testing'
import { ApiClient } from '../api-client.ts'
import { LoopbackServer } from '../http-transport/loopback-server.ts'
import * as certificates from '../http-transport/test-certificates.ts'
import { loadClientConfig } from '../kubeconfig/load.ts'
import { TransportPool } from './connect.ts'
import { OidcCredentials } from './oidc-credentials.ts'

const cleanups: (() => Promise<void>)[] = []
after(async () => {
  for (const cleanup of cleanups.reverse()) await cleanup()
})

const nowSeconds = Math.floor(new SystemClock().nowMs() / 1000)

function idToken(expiresInSeconds: number, subject = 'a'): string {
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')
  return `${part({ alg: 'none' })}.${part({ sub: subject, exp: nowSeconds + expiresInSeconds })}.x`
}

interface Issuer {
  readonly url: string
  /** Requests to it, as `path authorization body`. */
  readonly asked: string[]
}

async function issuer(
  answer: (form: URLSearchParams, authorization: string | undefined) => [number, object],
): Promise<Issuer> {
  const asked: string[] = []
  const server = await LoopbackServer.start((request, response) => {
    let body = ''
    request.on('data', (piece: Buffer) => (body += piece.toString()))
    request.on('end', () => {
      const { authorization } = request.headers
      asked.push([request.url, authorization, body].filter(Boolean).join(' '))
      const [status, value] =
        request.url === '/realm/.well-known/openid-configuration'
          ? [200, { token_endpoint: `${server.url}/token?realm=1` }]
          : answer(new URLSearchParams(body), authorization)
      response.writeHead(status, { 'content-type': 'application/json' })
      response.end(JSON.stringify(value))
    })
  })
  cleanups.push(() => server.stop())
  return { url: `${server.url}/realm/`, asked }
}

/** A client by a kubeconfig whose user has these fields, and what the API server saw of it. */
async function setup(
  fields: Readonly<Record<string, string>>,
): Promise<{ client: ApiClient; seen: (string | undefined)[]; host: FakeHost }> {
  const seen: (string | undefined)[] = []
  const server = await LoopbackServer.start((request, response) => {
    seen.push(request.headers['authorization'])
    response.end('{}')
  })
  cleanups.push(() => server.stop())
  const base64 = Buffer.from(certificates.authority).toString('base64')
  const config = { 'client-id': 'kubectl', 'idp-certificate-authority-data': base64, ...fields }
  const lines = Object.entries(config).map(([name, value]) => `        ${name}: ${value}`)
  const host = new FakeHost({
    '/config': `# mine
current-context: c
contexts: [{ name: c, context: { cluster: c, user: alice } }]
clusters: [{ name: c, cluster: { server: '${server.url}', certificate-authority-data: ${base64} } }]
users:
- name: alice # the one
  user:
    auth-provider:
      name: oidc
      config:
${lines.join('\n')}
`,
  })
  const clock = new SystemClock()
  const pool = new TransportPool({ host, clock })
  cleanups.push(() => pool.close())
  const transport = pool.transport(await loadClientConfig({ kubeconfig: '/config' }, host))
  return { client: new ApiClient({ transport, clock, qps: -1 }), seen, host }
}

const get = { method: 'GET', path: '/' } as const

test('an id-token that is valid for more than 10 s is sent, and nobody is asked', async () => {
  const { url, asked } = await issuer(() => [500, {}])
  const token = idToken(60)
  const { client, seen } = await setup({ 'idp-issuer-url': url, 'id-token': token })
  await client.raw(get)
  assert.deepEqual(seen, [`Bearer ${token}`])
  assert.deepEqual(asked, [])
})

test('an id-token about to expire is replaced once for all who wait, and the new tokens are kept in the kubeconfig', async () => {
  const fresh = idToken(3600, 'fresh')
  const { url, asked } = await issuer(() => [200, { id_token: fresh, refresh_token: 'r2' }])
  const { client, seen, host } = await setup({
    'idp-issuer-url': url,
    'id-token': idToken(8),
    'refresh-token': 'r1',
    'client-secret': 's:1',
  })
  await Promise.all([client.raw(get), client.raw(get), client.raw(get)])
  assert.deepEqual(new Set(seen), new Set([`Bearer ${fresh}`]))
  const basic = Buffer.from('kubectl:s%3A1').toString('base64')
  assert.deepEqual(asked, [
    '/realm/.well-known/openid-configuration',
    `/token?realm=1 Basic ${basic} grant_type=refresh_token&refresh_token=r1`,
  ])
  const text = host.files.get('/config')!
  assert.match(text, /^# mine\n[^]*alice # the one\n/)
  const config = await loadClientConfig({ kubeconfig: '/config' }, host)
  assert.equal(config.authProvider?.config['id-token'], fresh)
  assert.equal(config.authProvider?.config['refresh-token'], 'r2')
  assert.equal(config.authProvider?.config['client-secret'], 's:1')
})

test('an issuer that has moved is followed; the authorization of its client is not taken to other sites', async () => {
  const fresh = idToken(3600)
  const moved = await issuer(() => [200, { id_token: fresh }])
  // The token endpoint that it names moves on to a name of another site.
  const gate = await LoopbackServer.start((request, response) => {
    const elsewhere = moved.url.replace('127.0.0.1', 'localhost').replace('/realm/', '')
    response.writeHead(308, { location: `${elsewhere}${request.url}` })
    response.end()
  })
  cleanups.push(() => gate.stop())
  const old = await LoopbackServer.start((request, response) => {
    if (request.url !== '/moved') {
      response.writeHead(301, { location: '/moved' })
      response.end()
    } else response.end(JSON.stringify({ token_endpoint: `${gate.url}/token` }))
  })
  cleanups.push(() => old.stop())
  const fields = { 'refresh-token': 'r1', 'client-secret': 's' }
  const { client, seen } = await setup({ 'idp-issuer-url': `${old.url}/realm`, ...fields })
  await client.raw(get)
  assert.deepEqual(seen, [`Bearer ${fresh}`])
  const form = 'grant_type=refresh_token&refresh_token=r1'
  assert.deepEqual(moved.asked, [`/token ${form}`])
})

test('an issuer that takes no secret in a header is given it in the body', async () => {
  const fresh = idToken(3600)
  const { url, asked } = await issuer((form) =>
    form.get('client_secret') === 's' ? [200, { id_token: fresh }] : [401, { error: 'no' }],
  )
  const { client, seen } = await setup({
    'idp-issuer-url': url,
    'refresh-token': 'r1',
    'client-secret': 's',
  })
  await client.raw(get)
  assert.deepEqual(seen, [`Bearer ${fresh}`])
  assert.equal(
    asked.at(-1),
    '/token?realm=1 grant_type=refresh_token&refresh_token=r1&client_id=kubectl&client_secret=s',
  )
})

test('an issuer that never answers is given up after 30 s, and asked anew by the next request', async () => {
  const clock = virtualClock()
  let asked = Promise.withResolvers<void>()
  const server = await LoopbackServer.start(() => asked.resolve())
  cleanups.push(() => server.stop())
  const config = {
    'idp-issuer-url': server.url,
    'client-id': 'kubectl',
    'refresh-token': 'r1',
    'idp-certificate-authority-data': Buffer.from(certificates.authority).toString('base64'),
  }
  const credentials = new OidcCredentials({ name: 'oidc', config }, { host: new FakeHost(), clock })
  for (let i = 0; i < 2; i++) {
    asked = Promise.withResolvers<void>()
    const headers = assert.rejects(credentials.headers(), {
      code: 'AUTH_PROVIDER_FAILED',
      message: /oidc: no answer of https:\/\/127\.0\.0\.1:\d+ in 30s/,
    })
    await asked.promise
    await clock.advance(30_000)
    await headers
  }
})

const FAULTS: readonly [
  title: string,
  fields: Readonly<Record<string, string>>,
  answer: [number, object],
  message: RegExp,
][] = [
  [
    'no refresh-token',
    { 'id-token': idToken(-1) },
    [200, {}],
    /cannot refresh without refresh-token/,
  ],
  ['no JWT', { 'id-token': 'abc' }, [200, {}], /ID Token is not a valid JWT/],
  [
    'a refusal',
    { 'refresh-token': 'r' },
    [400, { error: 'used' }],
    /failed to refresh token: .*400 .*used/,
  ],
  ['no id_token in the answer', { 'refresh-token': 'r' }, [200, {}], /did not contain an id_token/],
  ['no client', { 'client-id': '""' }, [200, {}], /Must provide client-id/],
]
for (const [title, fields, answer, message] of FAULTS) {
  test(`no request is sent: ${title}`, async () => {
    const { url } = await issuer(() => answer)
    const { client, seen } = await setup({ 'idp-issuer-url': url, ...fields })
    await assert.rejects(client.raw(get), { code: 'AUTH_PROVIDER_FAILED', message })
    assert.deepEqual(seen, [])
  })
}
