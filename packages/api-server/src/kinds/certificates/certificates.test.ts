import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { test } from 'node:test'
import { signingRequestPem } from '@gyropilot/foundation/testing'
import type { Draft } from '../../registry/kind-rules.ts'
import { createErrors, statusErrors } from '../fixtures.ts'
import type { KindName } from '../fixtures.ts'

const kind = (name: string, namespaced = false): KindName => ({
  group: 'certificates.k8s.io',
  version: 'v1',
  kind: name,
  namespaced,
})
const CERTIFICATE_SIGNING_REQUEST = kind('CertificateSigningRequest')

test('what a create is refused for', () => {
  const cases: readonly (readonly [KindName, Draft, readonly string[]])[] = [
    [
      CERTIFICATE_SIGNING_REQUEST,
      { spec: { signerName: 'x', request: '', usages: ['a', 'a'] } },
      [
        'spec.request: Invalid value: "": PEM block type must be CERTIFICATE REQUEST',
        'spec.usages[0]: Unsupported value: "a": supported values: "any", "cert sign", "client auth", "code signing", "content commitment", "crl sign", "data encipherment", "decipher only", "digital signature", "email protection", "encipher only", "ipsec end system", "ipsec tunnel", "ipsec user", "key agreement", "key encipherment", "microsoft sgc", "netscape sgc", "ocsp signing", "s/mime", "server auth", "signing", "timestamping"',
        'spec.usages[1]: Unsupported value: "a": supported values: "any", "cert sign", "client auth", "code signing", "content commitment", "crl sign", "data encipherment", "decipher only", "digital signature", "email protection", "encipher only", "ipsec end system", "ipsec tunnel", "ipsec user", "key agreement", "key encipherment", "microsoft sgc", "netscape sgc", "ocsp signing", "s/mime", "server auth", "signing", "timestamping"',
        'spec.usages[1]: Duplicate value: "a"',
        `spec.signerName: Invalid value: "x": must be a fully qualified domain and path of the form 'example.com/signer-name'`,
      ],
    ],
    [
      CERTIFICATE_SIGNING_REQUEST,
      { spec: { signerName: 'A.b/c_d', request: '', usages: ['any'] } },
      [
        'spec.request: Invalid value: "": PEM block type must be CERTIFICATE REQUEST',
        "spec.signerName: Invalid value: \"A.b\": validating label \"A\": a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')",
        "spec.signerName: Invalid value: \"c_d\": validating label \"c_d\": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
      ],
    ],
  ]
  for (const [type, object, errors] of cases)
    assert.deepEqual(createErrors(type, object), errors, JSON.stringify(object))
})

const asked = (pem: string): Draft => ({
  spec: {
    signerName: 'a.b/c',
    request: Buffer.from(pem).toString('base64'),
    usages: ['any'],
  },
})

test('a request that is not signed with its own key, or with one that nobody knows, is refused at once', () => {
  const curve = generateKeyPairSync('ec', { namedCurve: 'secp256k1' }).privateKey
  const cases: readonly (readonly [string, string])[] = [
    [signingRequestPem({ commonName: 'a', tampered: true }), 'x509: ECDSA verification failure'],
    [signingRequestPem({ privateKey: curve }), 'x509: unsupported elliptic curve'],
  ]
  for (const [pem, problem] of cases) {
    const object = asked(pem)
    assert.deepEqual(createErrors(CERTIFICATE_SIGNING_REQUEST, object), [
      `spec.request: Invalid value: ${JSON.stringify(object['spec'].request)}: ${problem}`,
    ])
  }
  const good = asked(signingRequestPem({ commonName: 'a' }))
  assert.deepEqual(createErrors(CERTIFICATE_SIGNING_REQUEST, good), [])
})

test('what a status is refused for: another certificate, decisions, what is taken back', () => {
  const status = (given: Draft): Draft => ({
    ...asked(signingRequestPem({ commonName: 'a' })),
    status: given,
  })
  const condition = (type: string): Draft => ({ type, status: 'True', reason: 'r' })
  const approved = status({ conditions: [condition('Approved')], certificate: 'YQ==' })
  const changes = (given: Draft): string[] =>
    statusErrors(CERTIFICATE_SIGNING_REQUEST, approved, status(given))
  const kept = { conditions: [condition('Approved')], certificate: 'YQ==' }
  assert.deepEqual(changes(kept), [])
  assert.deepEqual(changes({ certificate: 'Yg==' }), [
    'status.certificate: Invalid value: "<certificate data>": must contain at least one CERTIFICATE PEM block',
    'status.conditions: Forbidden: updates may not remove a condition of type "Approved"',
    'status.certificate: Forbidden: updates may not modify existing certificate content',
  ])
  assert.deepEqual(changes({ conditions: kept.conditions }), [
    'status.certificate: Forbidden: updates may not modify existing certificate content',
  ])
  assert.deepEqual(changes({ certificate: 'YQ==' }), [
    'status.conditions: Forbidden: updates may not remove a condition of type "Approved"',
  ])
  assert.deepEqual(
    statusErrors(CERTIFICATE_SIGNING_REQUEST, status({}), status({ conditions: kept.conditions })),
    ['status.conditions: Forbidden: updates may not add a condition of type "Approved"'],
  )
})
