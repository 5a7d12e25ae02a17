import assert from 'node:assert/strict'
import { X509Certificate } from 'node:crypto'
import { test } from 'node:test'
import { resources } from '@gyropilot/api'
import type { CertificateSigningRequest } from '@gyropilot/api'
import { generateKeyPair, issueCertificate, privateKeyPem } from '@gyropilot/foundation/x509'
import type { CertificateAndKey } from '@gyropilot/foundation/x509'
import { drive, testContext } from '@gyropilot/runtime/testing'
import type { DriveOptions } from '@gyropilot/runtime/testing'
import { APPROVED, NODE, certificateRequest } from '../fixtures.ts'
import type { RequestOptions } from '../fixtures.ts'
import { defaultControllersConfiguration } from '../../configuration.ts'
import { refused } from '../../workload-support/fixtures.ts'
import { FollowedAuthority } from './authority.ts'
import type { AuthoritySource, SignerName } from './config.ts'
import { certificateSigningController, certificateSigningLogic } from './index.ts'

const NOW_MS = Date.UTC(2026, 0, 1)
const DAY_MS = 24 * 3_600_000

function authorityPair(
  commonName = 'authority',
  endsMs = NOW_MS + 1000 * DAY_MS,
): CertificateAndKey {
  const { publicKey, privateKey } = generateKeyPair()
  const subject = { commonName }
  const times = { notBeforeMs: NOW_MS - 100 * DAY_MS, notAfterMs: endsMs }
  const request = { subject, publicKey, usage: 'authority', ...times } as const
  const certificatePem = issueCertificate(
    { ...request, serialNumber: Uint8Array.of(1) },
    { subject, privateKey },
  )
  return { certificatePem, privateKeyPem: privateKeyPem(privateKey) }
}

const PAIR = authorityPair()
const sourceOf = (pair: CertificateAndKey): AuthoritySource => ({
  read: () => Promise.resolve(pair),
})

const CLIENT = 'kubernetes.io/kube-apiserver-client'
const KUBELET_CLIENT = 'kubernetes.io/kube-apiserver-client-kubelet'
const SERVING = 'kubernetes.io/kubelet-serving'
const LEGACY = 'kubernetes.io/legacy-unknown'

interface Run extends DriveOptions {
  readonly signer?: SignerName
  readonly pair?: CertificateAndKey
  readonly durationMs?: number
}

async function run(object: CertificateSigningRequest, given: Run = {}) {
  const { signer = KUBELET_CLIENT, pair = PAIR, durationMs = 365 * DAY_MS } = given
  const certificateSigning = { durationMs, authorities: {} }
  const configuration = { ...defaultControllersConfiguration, certificateSigning }
  const context = testContext({ configuration })
  const authority = await FollowedAuthority.of(sourceOf(pair), context.logger)
  const logic = certificateSigningLogic(signer, authority, context)
  return { ...drive(logic.reconcile(object), { nowMs: NOW_MS, ...given }), logic }
}

const approved = (options: RequestOptions = {}): CertificateSigningRequest =>
  certificateRequest({ status: { conditions: [APPROVED] }, ...options })

async function issued(
  object: CertificateSigningRequest,
  given: Run = {},
): Promise<X509Certificate> {
  const { writes, result } = await run(object, given)
  const [write] = writes
  assert.ok(write?.verb === 'update' && write.subresource === 'status', JSON.stringify(result))
  const { certificate } = (write.object as CertificateSigningRequest).status ?? {}
  return new X509Certificate(Buffer.from(certificate ?? '', 'base64'))
}

async function failure(object: CertificateSigningRequest, given: Run = {}): Promise<object> {
  const { writes, result } = await run(object, given)
  assert.equal(result, undefined)
  const [write] = writes
  assert.ok(write?.verb === 'update' && write.subresource === 'status')
  const { conditions = [], certificate } = (write.object as CertificateSigningRequest).status ?? {}
  assert.equal(certificate, undefined)
  return conditions.at(-1)!
}

const bob = (signerName: SignerName, usages: CertificateSigningRequest['spec']['usages']) =>
  approved({ request: { commonName: 'bob' }, spec: { signerName, usages } })

test('Given an approved CSR per signer, valid or not, then certificate, or Failed SignerValidationFailure, or no action', async () => {
  const serving = { signerName: SERVING, usages: ['digital signature', 'server auth'] } as const
  const valid: readonly [SignerName, CertificateSigningRequest][] = [
    [KUBELET_CLIENT, approved()],
    [SERVING, approved({ request: { ...NODE, dnsNames: ['n1'] }, spec: serving })],
    [CLIENT, bob(CLIENT, ['client auth'])],
    [CLIENT, bob(CLIENT, ['client auth', 'key encipherment', 'digital signature'])],
    [LEGACY, bob(LEGACY, ['any', 'cert sign'])],
  ]
  for (const [signer, object] of valid) {
    const certificate = await issued(object, { signer })
    assert.ok(certificate.verify(new X509Certificate(PAIR.certificatePem).publicKey))
  }
  const bad: readonly [SignerName, CertificateSigningRequest, string][] = [
    [KUBELET_CLIENT, approved({ request: {} }), 'subject organization is not system:nodes'],
    [SERVING, approved({ spec: serving }), 'DNS or IP subjectAltName is required'],
    [
      CLIENT,
      bob(CLIENT, ['client auth', 'signing']),
      'invalid usage for client certificate: signing',
    ],
    [
      CLIENT,
      bob(CLIENT, ['digital signature']),
      'missing required usage for client certificate: client auth',
    ],
  ]
  for (const [signer, object, message] of bad) {
    assert.deepEqual(await failure(object, { signer }), {
      type: 'Failed',
      status: 'True',
      reason: 'SignerValidationFailure',
      message,
      lastUpdateTime: '2026-01-01T00:00:00Z',
    })
  }
})

test('nothing is signed that is not approved, denied, failed, issued or for another signer', async () => {
  const of = (...types: readonly string[]) =>
    certificateRequest({ status: { conditions: types.map((type) => ({ type, status: 'True' })) } })
  const failedAs = (status: string) =>
    certificateRequest({ status: { conditions: [APPROVED, { type: 'Failed', status }] } })
  const idle = [
    of(),
    of('Approved', 'Denied'),
    of('Denied'),
    failedAs('True'),
    failedAs(''),
    certificateRequest({ status: { certificate: 'eA==', conditions: [APPROVED] } }),
    // The signerName check comes before parsing.
    approved({ request: 'nothing', spec: { signerName: 'a.b/c' } }),
  ]
  for (const object of idle) assert.deepEqual((await run(object)).effects, [])
  await issued(failedAs('False'))
})

test('Given a CSR, then issuer, usages, SANs, dates as above', async () => {
  const object = approved({
    request: {
      commonName: 'bob',
      organizations: ['devs'],
      dnsNames: ['a.example'],
      emailAddresses: ['x@y.z'],
      ipAddresses: ['10.0.0.5'],
      uris: ['spiffe://a/b'],
    },
    spec: {
      signerName: LEGACY,
      usages: ['timestamping', 'server auth', 'signing', 'crl sign', 's/mime', 'email protection'],
    },
  })
  const certificate = await issued(object, { signer: LEGACY })
  assert.equal(certificate.issuer, 'CN=authority')
  assert.equal(certificate.subject, 'O=devs\nCN=bob')
  assert.equal(
    certificate.subjectAltName,
    'DNS:a.example, email:x@y.z, IP Address:10.0.0.5, URI:spiffe://a/b',
  )
  assert.deepEqual(certificate.keyUsage, [
    '1.3.6.1.5.5.7.3.1',
    '1.3.6.1.5.5.7.3.4',
    '1.3.6.1.5.5.7.3.8',
  ])
  assert.ok(certificate.raw.toString('hex').includes('0603551d0f0101ff040403020182'))
  assert.equal(certificate.validFromDate.getTime(), NOW_MS - 5 * 60_000)
  assert.equal(certificate.validToDate.getTime(), NOW_MS + 365 * DAY_MS - 5 * 60_000)
  assert.match(certificate.serialNumber, /^[0-9A-F]{26,32}$/)
})

test('a parse or CA failure is retried', async () => {
  const forged = approved({ request: { ...NODE, tampered: true } })
  const ended = authorityPair('ended', NOW_MS - 5 * 60_000)
  const endsNow = authorityPair('ends now', NOW_MS)
  const cases: readonly (readonly [CertificateSigningRequest, Run, RegExp])[] = [
    [approved({ request: 'nothing' }), {}, /unable to parse csr "csr": PEM block type/],
    [forged, {}, /x509: ECDSA verification failure/],
    [
      approved(),
      { pair: ended },
      /the signer has expired: NotAfter=2025-12-31 23:55:00 \+0000 UTC/,
    ],
    [
      approved(),
      { pair: endsNow },
      /refusing to sign a certificate that expired in the past: NotAfter=2026-01-01 00:00:00 \+0000 UTC/,
    ],
    [
      bob(LEGACY, ['teleport' as 'any']),
      { signer: LEGACY },
      /unrecognized usage values: \["teleport"\]/,
    ],
    [
      bob(LEGACY, ['constructor' as 'any']),
      { signer: LEGACY },
      /unrecognized usage values: \["constructor"\]/,
    ],
  ]
  for (const [object, given, problem] of cases) {
    const { writes, result } = await run(object, given)
    assert.deepEqual(writes, [])
    assert.match(String(result?.error), problem)
  }
  const { result } = await run(approved(), { onWrite: () => refused(409, 'Conflict') })
  assert.ok(result?.error)
})

test('The certificate never outlives its CA', async () => {
  const endsMs = NOW_MS + DAY_MS
  const certificate = await issued(approved(), { pair: authorityPair('short', endsMs) })
  assert.equal(certificate.validToDate.getTime(), endsMs)
})

const slice = (authorities: Partial<Record<SignerName, AuthoritySource>>) => ({
  ...defaultControllersConfiguration,
  certificateSigning: { durationMs: DAY_MS, authorities },
})

test('No files at all: signing controller is skipped; With any specific pair, signers without own files are not run', async () => {
  assert.equal(
    await certificateSigningController.build(testContext({ configuration: slice({}) })),
    undefined,
  )
  let reads = 0
  const counted: AuthoritySource = {
    read: () => {
      reads++
      return Promise.resolve(PAIR)
    },
  }
  const context = testContext({
    configuration: slice({ [SERVING]: counted, [LEGACY]: counted }),
  })
  assert.ok(await certificateSigningController.build(context))
  assert.equal(reads, 1)
  const { logic } = await run(approved())
  assert.deepEqual(
    [logic.queueName, logic.workers, logic.rateLimiter?.whenMs('a')],
    ['certificate', 5, 200],
  )
})

test('a pair that cannot sign ends the start', async () => {
  const bad = sourceOf({ ...PAIR, certificatePem: '' })
  const context = testContext({ configuration: slice({ [LEGACY]: bad }) })
  await assert.rejects(
    async () => certificateSigningController.build(context),
    /^Error: failed to init kubernetes.io\/legacy-unknown certificate controller: the certificate authority cannot sign: expected exactly one certificate, found 0$/,
  )
})

test('CA rotation must not need a restart and must use certificate and key of the same version', async () => {
  const other = authorityPair('other')
  let now: CertificateAndKey | Error = PAIR
  const context = testContext({ configuration: undefined })
  const source: AuthoritySource = {
    read: async () => {
      if (now instanceof Error) throw now
      return now
    },
    rereadEveryMs: 1_000,
  }
  const authority = await FollowedAuthority.of(source, context.logger)
  const lifetime = new AbortController()
  const following = authority.follow(context.clock, lifetime.signal)
  const before = authority.current()
  await context.clock.advance(1_500)
  assert.equal(authority.current(), before, 'the same content is not read as another one')
  now = { ...PAIR, certificatePem: other.certificatePem }
  await context.clock.advance(1_000)
  assert.throws(() => authority.current(), /private key does not match public key/)
  now = new Error('gone for a moment')
  await context.clock.advance(1_000)
  now = other
  await context.clock.advance(1_000)
  assert.notEqual(authority.current(), before)
  now = new Error('gone for a moment')
  const kept = authority.current()
  await context.clock.advance(1_000)
  assert.equal(authority.current(), kept, 'what cannot be read changes nothing')
  lifetime.abort()
  await following
})

test('requests are read from the cache', async () => {
  const object = approved()
  const configuration = slice({})
  const context = testContext({ configuration, cached: [object] })
  const authority = await FollowedAuthority.of(sourceOf(PAIR), context.logger)
  const { observe, watches } = certificateSigningLogic(KUBELET_CLIENT, authority, context)
  assert.deepEqual([observe('csr'), observe('other')], [object, undefined])
  assert.deepEqual(watches[0]?.type, resources.certificatesigningrequests)
})

test('names are those of the page', () => {
  const { name, aliases, serviceAccount, enabledByDefault } = certificateSigningController
  assert.deepEqual(
    [name, aliases, serviceAccount, enabledByDefault],
    [
      'certificatesigningrequest-signing-controller',
      ['csrsigning'],
      'certificate-controller',
      true,
    ],
  )
})
