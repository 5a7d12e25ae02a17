import assert from 'node:assert/strict'
import { createServer } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { makeNamespace, startServer } from '../../bootstrap/fixtures.ts'
import type { TestServer } from '../../bootstrap/fixtures.ts'
import type { AnyValue } from '../../testing/test-server.ts'
import { review, startWebhook } from '../../testing/webhook-server.ts'
import type { WebhookServer } from '../../testing/webhook-server.ts'

let hook: WebhookServer
let server: TestServer
let ns: string

before(async () => {
  hook = await startWebhook((body: AnyValue) => review(body, { allowed: true }))
  server = await startServer()
  ns = await makeNamespace(server, 'a')
  await server.call('POST', `${ns}/services`, {
    metadata: { name: 'svc' },
    spec: { type: 'ExternalName', externalName: 'localhost' },
  })
})
after(async () => {
  await hook.stop()
  await server.server.stop()
})

/** The answer to a request that the webhook is asked about. */
async function ask(clientConfig: object, timeoutSeconds = 7) {
  const configurations = '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations'
  const webhook = {
    name: 'check.example.com',
    admissionReviewVersions: ['v1'],
    sideEffects: 'None',
    timeoutSeconds,
    clientConfig: { caBundle: hook.caBundle, ...clientConfig },
    rules: [{ apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'], operations: ['*'] }],
  }
  const made = await server.call('POST', configurations, {
    metadata: { name: 'v' },
    webhooks: [webhook],
  })
  assert.equal(made.status, 201, made.body.message)
  const answer = await server.call('POST', `${ns}/configmaps?dryRun=All`, {
    metadata: { name: 'x' },
  })
  await server.call('DELETE', `${configurations}/v`)
  return answer
}

const failure = (text: string): string =>
  `Internal error occurred: failed calling webhook "check.example.com": ${text}`

describe('who may answer for a webhook', () => {
  test('a caBundle that is the serving certificate itself is trusted, as Go trusts it', async () => {
    assert.equal((await ask({ url: hook.url, caBundle: hook.ownCertificate })).status, 201)
  })

  test('a caBundle that is no PEM text is told when the webhook is called', async () => {
    const { body } = await ask({ url: hook.url, caBundle: Buffer.from('no').toString('base64') })
    const text =
      'could not get REST client: unable to load root certificates: unable to parse bytes as PEM block'
    assert.equal(body.message, failure(text))
  })

  test('a caBundle with one good certificate is used, one without any is not', async () => {
    const encoded = (text: string): string => Buffer.from(text).toString('base64')
    const good = Buffer.from(hook.caBundle, 'base64').toString()
    const damaged = '-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n'
    assert.equal((await ask({ url: hook.url, caBundle: encoded(good + damaged) })).status, 201)
    for (const [pem, why] of [
      [damaged, 'failed to parse certificate: x509: malformed certificate'],
      [
        '-----BEGIN KEY-----\nMIIB\n-----END KEY-----\n',
        'no valid certificate authority data seen',
      ],
    ] as const) {
      const { body } = await ask({ url: hook.url, caBundle: encoded(pem) })
      const text = `could not get REST client: unable to load root certificates: ${why}`
      assert.equal(body.message, failure(text))
    }
  })

  test('a listener that never shakes hands costs the timeout, and its connection is closed', async () => {
    const accepted = Promise.withResolvers<Socket>()
    const mute = createServer((socket) => accepted.resolve(socket.on('error', () => {}).resume()))
    await new Promise<void>((resolve) => {
      mute.listen(0, '127.0.0.1', resolve)
    })
    const url = `https://127.0.0.1:${(mute.address() as AddressInfo).port}/`
    const answer = ask({ url }, 1)
    const socket = await accepted.promise
    const gone = new Promise((resolve) => socket.on('close', resolve))
    await server.clock.advance(1000)
    const { body } = await answer
    const call = `failed to call webhook: Post "${url}?timeout=1s": context deadline exceeded`
    assert.equal(body.message, failure(call))
    await server.clock.advance(9000)
    await gone
    mute.close()
  })
})

describe('the path that arrives', () => {
  const ROWS: readonly (readonly [string, string])[] = [
    ['', '/'],
    ['/', '/'],
    ['//x', '/x'],
    ['/a//b', '/a/b'],
    ['/a/b//', '/a/b'],
    ['/a/./b', '/a/b'],
    ['/a/../b', '/b'],
    ['/../b', '/b'],
    ['/a/b/..', '/a'],
    ['/a%2Fb', '/a/b'],
    ['/a/%2e%2e/b', '/b'],
    ['/a%2e%2e/b', '/a../b'],
    ['/a%20b', '/a%20b'],
    ['/ä', '/%C3%A4'],
    ['/a;b:c@d', '/a;b:c@d'],
    [`/a'b!(c)*`, '/a%27b%21%28c%29%2A'],
    ['/...', '/...'],
    ['/x?', '/x'],
  ]
  for (const [path, arrives] of ROWS) {
    test(`of the url ${path || 'without one'} is ${arrives}`, async () => {
      assert.equal((await ask({ url: `${hook.url}${path}` })).status, 201)
      assert.equal(hook.calls.at(-1)!.path, `${arrives}?timeout=7s`)
    })
  }

  test('of a service is its path without the last slash, or the root', async () => {
    for (const [path, arrives] of [
      [undefined, '/'],
      ['/a/b/', '/a/b'],
    ]) {
      const service = { namespace: 'a', name: 'svc', port: hook.port, ...(path ? { path } : {}) }
      const { body } = await ask({ service })
      // The certificate is not for this name, so the address is told.
      const problem = 'tls: failed to verify certificate: x509: certificate is valid for '
      const address = `https://svc.a.svc:${hook.port}${arrives}?timeout=7s`
      const start = failure(`failed to call webhook: Post "${address}": ${problem}`)
      assert.ok(body.message.startsWith(start), body.message)
      assert.ok(body.message.endsWith(', not svc.a.svc'), body.message)
    }
  })
})
