import assert from 'node:assert/strict'
import { X509Certificate, generateKeyPairSync } from 'node:crypto'
import type { KeyObject } from 'node:crypto'
import { test } from 'node:test'
import { signingRequestPem } from '../testing/signing-request.ts'
import { parseSigningRequest } from './certificate-request.ts'
import { generateKeyPair, issueCertificate, privateKeyPem } from './certificate.ts'
import type { CertificateAndKey } from './certificate.ts'
import * as der from './der.ts'
import { TAG, childrenOf, onlyElement } from './der-reader.ts'
import { SigningAuthority } from './signing-authority.ts'
import { writeSubject } from './subject.ts'

const NOW_MS = Date.UTC(2026, 5, 1)
const DAY_MS = 24 * 3_600_000

function authorityPair(): CertificateAndKey {
  const { publicKey, privateKey } = generateKeyPair()
  const subject = { commonName: 'authority' }
  const certificatePem = issueCertificate(
    {
      subject,
      publicKey,
      usage: 'authority',
      serialNumber: Uint8Array.of(1),
      notBeforeMs: NOW_MS - DAY_MS,
      notAfterMs: NOW_MS + DAY_MS,
    },
    { subject, privateKey },
  )
  return { certificatePem, privateKeyPem: privateKeyPem(privateKey) }
}

const LEAF = {
  serialNumber: Buffer.alloc(16, 0xfe),
  notBeforeMs: NOW_MS,
  notAfterMs: NOW_MS + 3_600_000,
  keyUsageBits: [0, 2],
  extendedKeyUsages: ['1.3.6.1.5.5.7.3.2'],
}

test('what a request asks for is signed, byte for byte as upstream lays it out', () => {
  const pair = authorityPair()
  const authority = new SigningAuthority(pair)
  const request = parseSigningRequest(
    signingRequestPem({
      commonName: 'bob ü',
      organizations: ['zeta', 'alpha'],
      dnsNames: ['a.example'],
      emailAddresses: ['x@y.z'],
      ipAddresses: ['10.0.0.5', 'fd00::1'],
      uris: ['spiffe://a/b'],
    }),
  )
  const pem = authority.sign({ ...request, ...LEAF })
  const certificate = new X509Certificate(pem)
  const issuer = new X509Certificate(pair.certificatePem)
  assert.ok(certificate.checkIssued(issuer) && certificate.verify(issuer.publicKey))
  assert.equal(certificate.serialNumber, 'FE'.repeat(16))
  assert.equal(certificate.validFromDate.getTime(), NOW_MS)
  assert.equal(certificate.validToDate.getTime(), NOW_MS + 3_600_000)
  assert.equal(pem.match(/BEGIN/g)?.length, 1)
  const [toBeSigned] = childrenOf(onlyElement(certificate.raw), TAG.sequence)
  const fields = childrenOf(toBeSigned, TAG.sequence)
  // Recorded from kube-controller-manager 1.36.2, but for the authority's key identifier.
  assert.equal(
    Buffer.from(fields[5]!.raw).toString('hex'),
    '302e311b300b060355040a13047a657461300c060355040a1305616c706861310f300d06035504030c06626f6220c3bc',
  )
  const extensions = childrenOf(onlyElement(fields.at(-1)!.content), TAG.sequence)
  const shown = extensions.map(({ raw }) => Buffer.from(raw).toString('hex'))
  assert.deepEqual(
    [...shown.slice(0, 3), shown[4]],
    [
      '300e0603551d0f0101ff0404030205a0',
      '30130603551d25040c300a06082b06010505070302',
      '300c0603551d130101ff04023000',
      '30410603551d11043a30388209612e6578616d706c6581057840792e7a87040a0000058710fd000000000000000000000000000001860c7370696666653a2f2f612f62',
    ],
  )
  assert.match(shown[3]!, /^301f0603551d230418301680140*/)
})

test('attributes of a subject are in the order of upstream, each kind in one set, others are lost', () => {
  const attributes = new Map([
    ['2.5.4.5', ['7']],
    ['2.5.4.3', ['first', 'last']],
    ['2.5.4.10', ['bb', 'a']],
    ['2.5.4.11', ['U']],
    ['2.5.4.7', ['Munich']],
    ['2.5.4.8', ['Bavaria']],
    ['2.5.4.17', ['1']],
    ['2.5.4.6', ['DE']],
    ['2.5.4.12', ['a title']],
  ])
  const sets = childrenOf(onlyElement(writeSubject({ attributes })), TAG.sequence)
  const shown = sets.map((set) =>
    childrenOf(set, TAG.set).map((entry) => {
      const [type, value] = childrenOf(entry, TAG.sequence)
      return `${type!.content.at(-1)}=${Buffer.from(value!.content).toString()}`
    }),
  )
  assert.deepEqual(shown, [
    ['6=DE'],
    ['8=Bavaria'],
    ['7=Munich'],
    ['17=1'],
    ['10=a', '10=bb'],
    ['11=U'],
    ['3=last'],
    ['5=7'],
  ])
})

test('Extensions requested inside the CSR (key usage, basic constraints, CA) must not leak into the certificate', () => {
  const isAuthority = der.sequence(
    der.objectIdentifier('2.5.29.19'),
    der.boolean(true),
    der.octetString(der.sequence(der.boolean(true))),
  )
  const request = parseSigningRequest(signingRequestPem({ extensions: [isAuthority] }))
  const certificate = new X509Certificate(
    new SigningAuthority(authorityPair()).sign({ ...request, ...LEAF }),
  )
  assert.equal(certificate.ca, false)
})

test('keyUsage is absent when no bit is set, and alternative names are critical where there is no subject', () => {
  const request = parseSigningRequest(signingRequestPem({ dnsNames: ['a.example'] }))
  const leaf = { ...request, ...LEAF, keyUsageBits: [], extendedKeyUsages: [] }
  const certificate = new X509Certificate(new SigningAuthority(authorityPair()).sign(leaf))
  const hex = certificate.raw.toString('hex')
  assert.ok(!hex.includes('0603551d0f') && !hex.includes('0603551d25'))
  assert.ok(hex.includes('0603551d110101ff'))
  const named = parseSigningRequest(signingRequestPem({ commonName: 'a', dnsNames: ['b.c'] }))
  const other = new SigningAuthority(authorityPair()).sign({ ...named, ...LEAF })
  assert.ok(new X509Certificate(other).raw.toString('hex').includes('0603551d1104'))
})

test('the ninth bit of the key usage takes a second byte', () => {
  const request = parseSigningRequest(signingRequestPem({ commonName: 'a' }))
  const leaf = { ...request, ...LEAF, keyUsageBits: [4, 8] }
  const certificate = new X509Certificate(new SigningAuthority(authorityPair()).sign(leaf))
  assert.ok(certificate.raw.toString('hex').includes('0603551d0f0101ff04050303070880'))
})

function selfSigned(key: KeyObject, publicKey: KeyObject): CertificateAndKey {
  const { privateKey } = generateKeyPair()
  const certificatePem = issueCertificate(
    {
      subject: { commonName: 'x' },
      publicKey,
      usage: 'client',
      serialNumber: Uint8Array.of(1),
      notBeforeMs: NOW_MS,
      notAfterMs: NOW_MS + DAY_MS,
    },
    { subject: { commonName: 'y' }, privateKey },
  )
  return { certificatePem, privateKeyPem: privateKeyPem(key) }
}

const keyPairs = [
  generateKeyPairSync('rsa', { modulusLength: 2048 }),
  generateKeyPairSync('ec', { namedCurve: 'secp224r1' }),
  generateKeyPairSync('ec', { namedCurve: 'secp384r1' }),
  generateKeyPairSync('ec', { namedCurve: 'secp521r1' }),
  generateKeyPairSync('ed25519'),
]
test('authorities sign with RSA, with ECDSA on any curve of Go, and with Ed25519', () => {
  const request = parseSigningRequest(signingRequestPem({ commonName: 'a' }))
  for (const { publicKey, privateKey } of keyPairs) {
    const authority = new SigningAuthority(selfSigned(privateKey, publicKey))
    const certificate = new X509Certificate(authority.sign({ ...request, ...LEAF }))
    assert.ok(certificate.verify(publicKey), String(publicKey.asymmetricKeyType))
  }
})

test('the file must hold exactly one certificate and a private key that can sign', () => {
  const pair = authorityPair()
  const other = authorityPair()
  const montgomery = generateKeyPairSync('x25519')
  const cases: readonly (readonly [CertificateAndKey, RegExp])[] = [
    [{ ...pair, certificatePem: '' }, /exactly one certificate, found 0/],
    [
      { ...pair, certificatePem: pair.certificatePem + other.certificatePem },
      /exactly one certificate, found 2/,
    ],
    [{ ...pair, privateKeyPem: other.privateKeyPem }, /private key does not match public key/],
    [{ ...pair, privateKeyPem: 'nothing' }, /./],
    [{ ...pair, privateKeyPem: privateKeyPem(montgomery.privateKey) }, /x25519 cannot sign/],
  ]
  for (const [bad, problem] of cases) assert.throws(() => new SigningAuthority(bad), problem)
})
