import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { X509Certificate, createPrivateKey } from 'node:crypto'
import { SeededRandom, VirtualClock } from '@gyropilot/foundation'
import { ApiError } from '../contracts.ts'
import type { UserInfo } from '../contracts.ts'
import type { Stored } from '@gyropilot/schema/objects'
import { createMemoryStore } from '../storage/memory-store.ts'
import {
  createClusterCertificates,
  generateKeyPair,
  issueCertificate,
  subjectOf,
} from '../tls/index.ts'
import { privateKeyPem } from '@gyropilot/foundation/x509'
import type { CertificateRequest } from '@gyropilot/foundation/x509'
import type { CertificateAndKey } from '../tls/index.ts'
import { createAuthentication } from './authentication.ts'
import { decodeToken, signToken, keyIdOf } from './json-web-token.ts'
import { ServiceAccountTokens } from './service-account-tokens.ts'

const START_MS = Date.UTC(2026, 10, 21)
const HOUR_MS = 3600_000

function world() {
  const clock = new VirtualClock({ startMs: START_MS, settle: () => Promise.resolve() })
  const store = createMemoryStore(clock)
  const certificates = createClusterCertificates({ clock, random: new SeededRandom(1) })
  const used: string[] = []
  const serviceAccountTokens = new ServiceAccountTokens({
    clock,
    random: new SeededRandom(2),
    store,
    key: certificates.serviceAccountKey,
    onFirstUseOfDay: ({ metadata }, date) => void used.push(`${metadata.name} ${date}`),
  })
  const admin: UserInfo = { name: 'admin', groups: ['system:masters'], extra: {} }
  const authentication = createAuthentication({
    clock,
    store,
    serviceAccountTokens,
    clientAuthorityPem: certificates.authority.certificatePem,
    frontProxyAuthorityPem: certificates.frontProxyAuthority.certificatePem,
    tokens: new Map([['fixed', admin]]),
  })
  const put = (collection: string, object: Stored): Stored => {
    const { namespace, name } = object['metadata']
    const key = namespace === undefined ? name : `${namespace}/${name}`
    return store.commit({ collection, key }, () => object).object
  }
  const remove = (collection: string, key: string): void =>
    void store.commit({ collection, key }, () => undefined)
  const bearer = (token: string): UserInfo | undefined =>
    authentication.authenticate({ headers: { authorization: `Bearer ${token}` } }) as UserInfo
  return {
    clock,
    store,
    certificates,
    used,
    tokens: serviceAccountTokens,
    authentication,
    put,
    remove,
    bearer,
  }
}

function refused(run: () => unknown): void {
  assert.throws(
    run,
    (error) => error instanceof ApiError && error.code === 401 && error.message === 'Unauthorized',
  )
}

const account = { metadata: { namespace: 'a', name: 'robot', uid: 'u1' } }
const runningPod = {
  metadata: { namespace: 'a', name: 'p', uid: 'pu' },
  spec: { nodeName: 'n1', serviceAccountName: 'robot' },
}

describe('client certificates', () => {
  test('give name and groups, and say which certificate it was', () => {
    const { certificates, authentication } = world()
    const { certificatePem } = certificates.issueClient({
      commonName: 'jane',
      organizations: ['devs'],
    })
    const user = authentication.authenticate({
      headers: {},
      clientCertificates: [new X509Certificate(certificatePem)],
    }) as UserInfo
    assert.equal(user.name, 'jane')
    assert.deepEqual(user.groups, ['devs', 'system:authenticated'])
    assert.match(
      user.extra['authentication.kubernetes.io/credential-id']![0]!,
      /^X509SHA256=[0-9a-f]{64}$/,
    )
  })

  test('of another authority, for servers, or out of their time are refused', async () => {
    const { certificates, authentication, clock } = world()
    const stranger = world().certificates.issueClient({ commonName: 'jane' })
    refused(() =>
      authentication.authenticate({
        headers: {},
        clientCertificates: [new X509Certificate(stranger.certificatePem)],
      }),
    )
    refused(() =>
      authentication.authenticate({
        headers: {},
        clientCertificates: [new X509Certificate(certificates.serving.certificatePem)],
      }),
    )
    const { certificatePem } = certificates.issueClient({ commonName: 'jane' })
    await clock.advance(366 * 24 * 3600 * 1000)
    refused(() =>
      authentication.authenticate({
        headers: {},
        clientCertificates: [new X509Certificate(certificatePem)],
      }),
    )
  })

  test('lead to the authority over others that were shown, which need not be shown again', async () => {
    const { certificates, authentication, clock } = world()
    const keys = generateKeyPair()
    const between = issueFrom(certificates.authority, 'between', {
      publicKey: keys.publicKey,
      usage: 'authority',
    })
    const pem = issueFrom(
      { certificatePem: between, privateKeyPem: privateKeyPem(keys.privateKey) },
      'jane',
      { notAfterMs: START_MS + 2 * HOUR_MS },
    )
    const [jane, upper] = [new X509Certificate(pem), new X509Certificate(between)]
    const ask = (...clientCertificates: X509Certificate[]) =>
      authentication.authenticate({ headers: {}, clientCertificates }) as UserInfo
    refused(() => ask(jane))
    assert.equal(ask(jane, upper).name, 'jane')
    assert.equal(ask(jane).name, 'jane')
    // The one between is over by then, until it is made anew.
    await clock.advance(HOUR_MS + 1000)
    refused(() => ask(jane, upper))
    const anew = issueFrom(certificates.authority, 'between', {
      publicKey: keys.publicKey,
      usage: 'authority',
      notAfterMs: START_MS + 2 * HOUR_MS,
    })
    assert.equal(ask(jane, new X509Certificate(anew)).name, 'jane')
  })

  test('that are refused leave the word to a token', () => {
    const { authentication } = world()
    const stranger = world().certificates.issueClient({ commonName: 'jane' })
    const clientCertificates = [new X509Certificate(stranger.certificatePem)]
    const ask = (token: string) =>
      authentication.authenticate({
        headers: { authorization: `Bearer ${token}` },
        clientCertificates,
      }) as UserInfo
    assert.equal(ask('fixed').name, 'admin')
    refused(() => ask('unknown'))
  })

  test('that name nobody are as good as none, and that name anonymous make nobody authenticated', () => {
    const { certificates, authentication } = world()
    const anonymous = new X509Certificate(issueFrom(certificates.authority, 'system:anonymous'))
    const credentials = { headers: {}, clientCertificates: [anonymous] }
    const user = authentication.authenticate(credentials) as UserInfo
    assert.deepEqual(user.groups, [])
    const nobody = new X509Certificate(issueFrom(certificates.authority, ''))
    assert.equal(
      authentication.authenticate({ headers: {}, clientCertificates: [nobody] }),
      undefined,
    )
  })

  test('of the front proxy name the user in headers; of the client authority they do not', () => {
    const { certificates, authentication } = world()
    const headers = {
      'x-remote-user': 'jane',
      'x-remote-group': ['devs', '', Buffer.from('Süd').toString('latin1')],
      'x-remote-uid': ['42', '43'],
      'x-remote-extra-team%2fid': ['7', ''],
      'x-remote-extra-%74eam%2fid': '8',
    }
    const proxy = issueFrom(certificates.frontProxyAuthority, 'front-proxy-client')
    const remote = authentication.authenticate({
      headers,
      clientCertificates: [new X509Certificate(proxy)],
    }) as UserInfo
    assert.deepEqual(remote, {
      name: 'jane',
      uid: '42',
      groups: ['devs', 'Süd', 'system:authenticated'],
      extra: { 'team/id': ['7', '', '8'] },
    })
    refused(() =>
      authentication.authenticate({
        headers,
        clientCertificates: [
          new X509Certificate(issueFrom(certificates.frontProxyAuthority, 'other')),
        ],
      }),
    )
    const client = certificates.issueClient({ commonName: 'front-proxy-client' })
    const user = authentication.authenticate({
      headers,
      clientCertificates: [new X509Certificate(client.certificatePem)],
    }) as UserInfo
    assert.equal(user.name, 'front-proxy-client')
  })
})

function issueFrom(
  authority: CertificateAndKey,
  commonName: string,
  changes: Partial<CertificateRequest> = {},
): string {
  return issueCertificate(
    {
      subject: { commonName },
      publicKey: generateKeyPair().publicKey,
      usage: 'client',
      serialNumber: new Uint8Array(16).fill(1),
      notBeforeMs: START_MS - 1000,
      notAfterMs: START_MS + HOUR_MS,
      ...changes,
    },
    {
      subject: subjectOf(authority.certificatePem),
      privateKey: createPrivateKey(authority.privateKeyPem),
    },
  )
}

describe('bearer tokens', () => {
  test('a static token is its user, an unknown one is refused, none is nobody', () => {
    const { bearer, authentication } = world()
    assert.deepEqual(bearer('fixed')?.groups, ['system:masters', 'system:authenticated'])
    refused(() => bearer('wrong'))
    assert.equal(authentication.authenticate({ headers: {} }), undefined)
    assert.equal(
      authentication.authenticate({ headers: { authorization: 'Basic eDp5' } }),
      undefined,
    )
  })

  test('a service account token carries account, pod and node', () => {
    const { tokens, put, bearer } = world()
    put('serviceaccounts', account)
    put('pods', runningPod)
    const node = { name: 'n1', uid: 'nu' }
    const { token } = tokens.issue({
      serviceAccount: account,
      audiences: tokens.audiences,
      expirationSeconds: 600,
      pod: runningPod,
      node,
    })
    const user = bearer(token)!
    assert.equal(user.name, 'system:serviceaccount:a:robot')
    assert.equal(user.uid, 'u1')
    assert.deepEqual(user.groups, [
      'system:serviceaccounts',
      'system:serviceaccounts:a',
      'system:authenticated',
    ])
    assert.deepEqual(user.extra['authentication.kubernetes.io/pod-name'], ['p'])
    assert.deepEqual(user.extra['authentication.kubernetes.io/node-uid'], ['nu'])
    assert.match(
      user.extra['authentication.kubernetes.io/credential-id']![0]!,
      /^JTI=[0-9a-f-]{36}$/,
    )
  })

  test('it ends at its time, and with its account', async () => {
    const { tokens, put, remove, bearer, clock } = world()
    put('serviceaccounts', account)
    const { token } = tokens.issue({
      serviceAccount: account,
      audiences: tokens.audiences,
      expirationSeconds: 600,
    })
    // A minute more, as clocks differ.
    await clock.advance(660_000)
    assert.ok(bearer(token))
    await clock.advance(1_000)
    refused(() => bearer(token))
    const next = tokens.issue({
      serviceAccount: account,
      audiences: tokens.audiences,
      expirationSeconds: 600,
    }).token
    assert.ok(bearer(next))
    remove('serviceaccounts', 'a/robot')
    refused(() => bearer(next))
    put('serviceaccounts', { metadata: { ...account.metadata, uid: 'another' } })
    refused(() => bearer(next))
  })

  test('Given TokenRequest for 3607 s bound to a pod, then exp is a year ahead and warnafter set; after the pod is gone for over a minute the token is 401.', async () => {
    const { tokens, put, bearer, clock } = world()
    put('serviceaccounts', account)
    put('pods', runningPod)
    const { token, expirationMs } = tokens.issue({
      serviceAccount: account,
      audiences: tokens.audiences,
      expirationSeconds: 3607,
      pod: runningPod,
    })
    const { claims } = decodeToken(token)!
    const nowSeconds = START_MS / 1000
    assert.equal(claims['exp'], nowSeconds + 365 * 24 * 3600)
    assert.equal((claims['kubernetes.io'] as Stored)['warnafter'], nowSeconds + 3607)
    assert.equal(expirationMs, START_MS + 3607_000)
    put('pods', {
      ...runningPod,
      metadata: { ...runningPod.metadata, deletionTimestamp: new Date(START_MS).toISOString() },
    })
    await clock.advance(60_000)
    assert.ok(bearer(token))
    await clock.advance(1_000)
    refused(() => bearer(token))
  })

  test('for another audience, of another key, or with changed claims is refused', () => {
    const { tokens, put, bearer } = world()
    put('serviceaccounts', account)
    const grant = { serviceAccount: account, audiences: ['vault'], expirationSeconds: 600 }
    const { token } = tokens.issue(grant)
    refused(() => bearer(token))
    const judged = tokens.judge(token, ['vault', 'x'])
    assert.deepEqual('audiences' in judged && judged.audiences, ['vault'])
    const good = tokens.issue({ ...grant, audiences: tokens.audiences }).token
    const { serviceAccountKey } = world().certificates
    refused(() =>
      bearer(
        signToken(
          decodeToken(good)!.claims,
          serviceAccountKey.privateKey,
          keyIdOf(serviceAccountKey.publicKey),
        ),
      ),
    )
    const [header, , signature] = good.split('.')
    const claims = { ...decodeToken(good)!.claims, sub: 'system:serviceaccount:kube-system:admin' }
    refused(() =>
      bearer(`${header}.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.${signature}`),
    )
  })

  test('the token of a secret holds as long as the secret carries it', () => {
    const { certificates, put, remove, bearer } = world()
    put('serviceaccounts', account)
    const { privateKey, publicKey } = certificates.serviceAccountKey
    const claims = {
      iss: 'kubernetes/serviceaccount',
      sub: 'system:serviceaccount:a:robot',
      'kubernetes.io/serviceaccount/namespace': 'a',
      'kubernetes.io/serviceaccount/secret.name': 's',
      'kubernetes.io/serviceaccount/service-account.name': 'robot',
      'kubernetes.io/serviceaccount/service-account.uid': 'u1',
    }
    const token = signToken(claims, privateKey, keyIdOf(publicKey))
    refused(() => bearer(token))
    put('secrets', {
      metadata: { namespace: 'a', name: 's' },
      data: { token: Buffer.from(token).toString('base64') },
    })
    assert.equal(bearer(token)?.name, 'system:serviceaccount:a:robot')
    remove('secrets', 'a/s')
    refused(() => bearer(token))
  })

  test('the first use on a day of a token in a secret is told, also of one that was given up and is refused', async () => {
    const { certificates, put, bearer, used, clock } = world()
    const { privateKey, publicKey } = certificates.serviceAccountKey
    const claims = {
      iss: 'kubernetes/serviceaccount',
      sub: 'system:serviceaccount:a:robot',
      'kubernetes.io/serviceaccount/namespace': 'a',
      'kubernetes.io/serviceaccount/secret.name': 's',
      'kubernetes.io/serviceaccount/service-account.name': 'robot',
      'kubernetes.io/serviceaccount/service-account.uid': 'u1',
    }
    const token = signToken(claims, privateKey, keyIdOf(publicKey))
    const data = { token: Buffer.from(token).toString('base64') }
    const labelled = (labels: object) =>
      put('secrets', { metadata: { namespace: 'a', name: 's', labels }, data })
    const lastUsed = { 'kubernetes.io/legacy-token-last-used': '2026-11-21' }
    const invalid = { 'kubernetes.io/legacy-token-invalid-since': '2026-11-01' }
    put('serviceaccounts', account)
    labelled({})
    assert.ok(bearer(token))
    assert.deepEqual(used, ['s 2026-11-21'])
    labelled(lastUsed)
    assert.ok(bearer(token))
    assert.deepEqual(used, ['s 2026-11-21'])
    labelled(invalid)
    refused(() => bearer(token))
    assert.deepEqual(used, ['s 2026-11-21', 's 2026-11-21'])
    labelled(lastUsed)
    await clock.advance(24 * 3_600_000)
    assert.ok(bearer(token))
    assert.equal(used.at(-1), 's 2026-11-22')
  })

  test('a bootstrap token is its secret, until it expires', async () => {
    const { put, bearer, clock } = world()
    const data = {
      'token-id': 'abcdef',
      'token-secret': '0123456789abcdef',
      'usage-bootstrap-authentication': 'true',
      expiration: '2026-11-21T01:00:00Z',
      'auth-extra-groups': 'system:bootstrappers:workers',
    }
    const encoded = Object.fromEntries(
      Object.entries(data).map(([key, value]) => [key, Buffer.from(value).toString('base64')]),
    )
    const metadata = { namespace: 'kube-system', name: 'bootstrap-token-abcdef' }
    put('secrets', { metadata, type: 'bootstrap.kubernetes.io/token', data: encoded })
    const user = bearer('abcdef.0123456789abcdef')
    assert.equal(user?.name, 'system:bootstrap:abcdef')
    assert.deepEqual(user?.groups, [
      'system:bootstrappers',
      'system:bootstrappers:workers',
      'system:authenticated',
    ])
    refused(() => bearer('abcdef.0123456789abcdee'))
    await clock.advance(3600_000)
    refused(() => bearer('abcdef.0123456789abcdef'))
  })
})

test('the key set and the discovery document let others verify tokens', () => {
  const { tokens } = world()
  const { keys } = tokens.keySet() as { keys: Record<string, string>[] }
  assert.deepEqual([keys[0]!['kty'], keys[0]!['alg'], keys[0]!['use']], ['EC', 'ES256', 'sig'])
  const configuration = tokens.openidConfiguration('https://127.0.0.1:6443') as Record<
    string,
    unknown
  >
  assert.equal(configuration['issuer'], 'https://kubernetes.default.svc')
  assert.equal(configuration['jwks_uri'], 'https://127.0.0.1:6443/openid/v1/jwks')
})
