import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { test } from 'node:test'
import { signatureAlgorithms, signingRequestPem } from '../testing/signing-request.ts'
import { parseSigningRequest } from './certificate-request.ts'
import * as der from './der.ts'
import { generateKeyPair } from './certificate.ts'

const keys = {
  rsa: generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey,
  p224: generateKeyPairSync('ec', { namedCurve: 'secp224r1' }).privateKey,
  p256: generateKeyPair().privateKey,
  p384: generateKeyPairSync('ec', { namedCurve: 'secp384r1' }).privateKey,
  p521: generateKeyPairSync('ec', { namedCurve: 'secp521r1' }).privateKey,
  ed25519: generateKeyPairSync('ed25519').privateKey,
}

test('subject, names and key of a request are read', () => {
  const request = parseSigningRequest(
    signingRequestPem({
      commonName: 'bob ü',
      organizations: ['zeta', 'alpha'],
      dnsNames: ['a.example', 'b.example'],
      emailAddresses: ['x@y.z'],
      ipAddresses: ['10.0.0.5', 'fd00::1'],
      uris: ['spiffe://a/b'],
    }),
  )
  assert.equal(request.subject.commonName, 'bob ü')
  assert.deepEqual(request.subject.organizations, ['zeta', 'alpha'])
  assert.deepEqual(request.dnsNames, ['a.example', 'b.example'])
  assert.deepEqual(request.emailAddresses, ['x@y.z'])
  assert.deepEqual(
    request.ipAddresses.map((bytes) => Buffer.from(bytes).toString('hex')),
    ['0a000005', 'fd000000000000000000000000000001'],
  )
  assert.deepEqual(request.uris, ['spiffe://a/b'])
  assert.equal(request.signatureProblem(), undefined)
})

test('requests are signed with RSA, with ECDSA on four curves, and with Ed25519', () => {
  for (const [name, privateKey] of Object.entries(keys)) {
    const request = parseSigningRequest(signingRequestPem({ commonName: name, privateKey }))
    assert.equal(request.signatureProblem(), undefined, name)
  }
})

const forged = [
  ['rsa', 'crypto/rsa: verification error'],
  ['p256', 'x509: ECDSA verification failure'],
  ['ed25519', 'x509: Ed25519 verification failure'],
] as const
test('Request signature must verify', () => {
  for (const [name, problem] of forged) {
    const text = signingRequestPem({ privateKey: keys[name], tampered: true })
    assert.equal(parseSigningRequest(text).signatureProblem(), problem)
  }
})

test('an algorithm of another kind of key, or one that nobody should use, does not verify', () => {
  const { identifier } = signatureAlgorithms.ec
  const other = signingRequestPem({
    privateKey: keys.rsa,
    algorithm: { identifier, digest: 'sha256' },
  })
  assert.equal(
    parseSigningRequest(other).signatureProblem(),
    'x509: signature algorithm specifies an ECDSA public key, but have public key of type *rsa.PublicKey',
  )
  const md5 = der.sequence(der.objectIdentifier('1.2.840.113549.1.1.4'), der.nothing())
  const weak = signingRequestPem({
    privateKey: keys.rsa,
    algorithm: { identifier: md5, digest: 'md5' },
  })
  assert.equal(
    parseSigningRequest(weak).signatureProblem(),
    'x509: cannot verify signature: algorithm unimplemented',
  )
})

test('what is no request is refused', () => {
  const good = signingRequestPem({ commonName: 'a' })
  const curve = generateKeyPairSync('ec', { namedCurve: 'secp256k1' }).privateKey
  const bytes = Buffer.from(good.replace(/-.*-\n/g, ''), 'base64')
  const withBytes = (content: Uint8Array): string =>
    `-----BEGIN CERTIFICATE REQUEST-----\n${Buffer.from(content).toString('base64')}\n-----END CERTIFICATE REQUEST-----\n`
  const cases: readonly (readonly [string, RegExp])[] = [
    ['', /PEM block type must be CERTIFICATE REQUEST/],
    [good.replaceAll('CERTIFICATE REQUEST', 'CERTIFICATE'), /PEM block type/],
    [withBytes(Uint8Array.of(0, 0, 0)), /trailing data/],
    [withBytes(Buffer.concat([bytes, Uint8Array.of(0)])), /trailing data/],
    [withBytes(bytes.subarray(0, -1)), /data truncated/],
    [signingRequestPem({ privateKey: curve }), /x509: unsupported elliptic curve/],
    [signingRequestPem({ dnsNames: ['ü.example'] }), /x509: SAN dNSName is malformed/],
    [signingRequestPem({ uris: ['http://[broken'] }), /x509: cannot parse URI/],
  ]
  for (const [text, problem] of cases) assert.throws(() => parseSigningRequest(text), problem)
})

test('a request that is cut off anywhere is refused, and never read past its end', () => {
  const text = signingRequestPem({ commonName: 'a', dnsNames: ['a.example'] })
  const bytes = Buffer.from(text.replace(/-.*-\n/g, ''), 'base64')
  for (let length = 0; length < bytes.length; length++) {
    const cut = `-----BEGIN CERTIFICATE REQUEST-----\n${bytes.subarray(0, length).toString('base64')}\n-----END CERTIFICATE REQUEST-----\n`
    assert.throws(() => parseSigningRequest(cut), /./, String(length))
  }
})

/** Written by OpenSSL 3.0: names of every kind, and basic constraints, key usage and an extension of nobody's. */
const WITH_NAMES = `-----BEGIN CERTIFICATE REQUEST-----
MIIBzDCCAXICAQAwgZAxCzAJBgNVBAYTAkRFMRAwDgYDVQQIDAdCYXZhcmlhMQ8w
DQYDVQQHDAZNdW5pY2gxCjAIBgNVBAsMAVUxCjAIBgNVBAUTATcxDzANBgNVBAMM
BmJvYiDDvDENMAsGA1UECgwEemV0YTEOMAwGA1UECgwFYWxwaGExCjAIBgNVBBEM
ATExCjAIBgNVBAwMAXgwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAASxT2vrPEip
Z6gav2XAqMx6XoXUZduGCl3WqWdHjA+fVjgyTlpBWpYQMq0L9U5O1oFXh+rvj32u
rCcGAr0LPf8DoH8wfQYJKoZIhvcNAQkOMXAwbjAPBgNVHRMBAf8EBTADAQH/MAsG
A1UdDwQEAwICBDBBBgNVHREEOjA4gglhLmV4YW1wbGWHBAoAAAWBBXhAeS56hgxz
cGlmZmU6Ly9hL2KHEP0AAAAAAAAAAAAAAAAAAAEwCwYDKgMEBAQMAmhpMAoGCCqG
SM49BAMCA0gAMEUCIQCyCV0EGn6yp1FOwPTkzFp8YgxP75Gp4bGNaOoNFt6SSwIg
N04fsfmunFlvJByQS31C3VNruPUdNOlJyjYmBABrW1E=
-----END CERTIFICATE REQUEST-----
`
const PSS_WITH_SALT_OF_32 = `-----BEGIN CERTIFICATE REQUEST-----
MIICiTCCAT0CAQAwEDEOMAwGA1UEAwwFcHNzMzIwggEiMA0GCSqGSIb3DQEBAQUA
A4IBDwAwggEKAoIBAQCSge33RYzirXL3Ps2ZF0KSjX4j2CWKwk5n7iljsGO+K2A4
ObgivWy4CFrvzQ0dcsRsL8w0hm8o6c/6Z+BnjMpiE4X+UoXjH1GMjcYswFNjHIGl
PlgJE6I0vr7ZsrT0DPnvDW7qc+AKJG3hfUtjFMXPTpBBAqhbGpO8e9wgVYRcRyun
DOQg8fUSbXdLRz571FIElUqQIMQOOwk61Jf4IOoMLa+ReJi+ugfzPbqwLdruXsbm
ElZ83xHy7AM4Xk1hJPpUlbpoa29zu42i/ma91BqFfKrG8s0er3Y4uP1T0Sl9MnsE
eLJ36vColoVCQbDFc7EegZUnvNrDyGdqR/Nr7GBnAgMBAAGgADBBBgkqhkiG9w0B
AQowNKAPMA0GCWCGSAFlAwQCAQUAoRwwGgYJKoZIhvcNAQEIMA0GCWCGSAFlAwQC
AQUAogMCASADggEBAB/qjkSTnldMrG8OfUFL3ofEuANYXK/2GNmFuRwSpl0FcOsG
WiBUXnHR9EznPjfHyL+H6ZRkwhFW7dakRJwsa4JpX/+k/UCuPR76McqOLQEJWI1X
/oG3AU5XUa+0Myw3p93yuqMXhnlmQWEFGPmgQ1g2i+PqonZVAksu3anDXg67QihY
ApzGDX0Q7Os5NV7Kz+c00WJkVXbbA5ClRj+T+rRMweQsKV2rqLGcz65EHrNI6F8r
vIVQ/fCPelSvZNjcXaNbmO0NzIIB4anAf9X5jjEyS+f+LU65QYaY8cphBHIhExPe
uWpUi86YWZKA8sJ220937lSlXAN1fUHFkgYOCUc=
-----END CERTIFICATE REQUEST-----
`
const PSS_WITH_SALT_OF_20 = `-----BEGIN CERTIFICATE REQUEST-----
MIIChDCCAT0CAQAwEDEOMAwGA1UEAwwFcHNzMjAwggEiMA0GCSqGSIb3DQEBAQUA
A4IBDwAwggEKAoIBAQCSge33RYzirXL3Ps2ZF0KSjX4j2CWKwk5n7iljsGO+K2A4
ObgivWy4CFrvzQ0dcsRsL8w0hm8o6c/6Z+BnjMpiE4X+UoXjH1GMjcYswFNjHIGl
PlgJE6I0vr7ZsrT0DPnvDW7qc+AKJG3hfUtjFMXPTpBBAqhbGpO8e9wgVYRcRyun
DOQg8fUSbXdLRz571FIElUqQIMQOOwk61Jf4IOoMLa+ReJi+ugfzPbqwLdruXsbm
ElZ83xHy7AM4Xk1hJPpUlbpoa29zu42i/ma91BqFfKrG8s0er3Y4uP1T0Sl9MnsE
eLJ36vColoVCQbDFc7EegZUnvNrDyGdqR/Nr7GBnAgMBAAGgADA8BgkqhkiG9w0B
AQowL6APMA0GCWCGSAFlAwQCAQUAoRwwGgYJKoZIhvcNAQEIMA0GCWCGSAFlAwQC
AQUAA4IBAQAwtf2hM0qjxwNeJQ/PFLRDR3iFH40DUf6BhaMtlDaQR69pUqLxbUGb
rEV2mHsn0SdxI8ZJIXZ5kPGL+bme8BvhqMnVYPoB5BGhvkv9tkH559BGyzDNgSuW
zwkC4Nvcej/OI6wNKUo8CJcu722XAtAxayDCvaV2yNyFEAxNC5zaf4L2vKK67cJY
/GHCRNVViZJmXtGDH8TOMgBaart/AEbokG2jCitKsDQ2Wf7YZDN5WheCR5Tn3E68
mcW8IAGuQtpz+lzr5AplfNX7GbVudE963eWlemoe1jN+RNEWhir6LJoEtPz10Qgc
Euu16w1dxW3NuCyjG7xCQzGi52pSEwun
-----END CERTIFICATE REQUEST-----
`

test('requests that OpenSSL writes are read', () => {
  const request = parseSigningRequest(WITH_NAMES)
  assert.equal(request.signatureProblem(), undefined)
  assert.equal(request.subject.commonName, 'bob ü')
  assert.deepEqual(request.subject.organizations, ['zeta', 'alpha'])
  assert.deepEqual(request.dnsNames, ['a.example'])
  assert.deepEqual(request.emailAddresses, ['x@y.z'])
  assert.deepEqual(request.uris, ['spiffe://a/b'])
  assert.deepEqual(
    request.ipAddresses.map((bytes) => bytes.length),
    [4, 16],
  )
})

test('PSS signatures count with a salt as long as their digest only', () => {
  assert.equal(parseSigningRequest(PSS_WITH_SALT_OF_32).signatureProblem(), undefined)
  assert.equal(
    parseSigningRequest(PSS_WITH_SALT_OF_20).signatureProblem(),
    'x509: cannot verify signature: algorithm unimplemented',
  )
})
