import assert from 'node:assert/strict'
import { test } from 'node:test'
import { generateKeyPair, issueCertificate, pem, publicKeyPem } from '@gyropilot/foundation/x509'
import { createErrors, updateErrors } from '../fixtures.ts'

const BUNDLE = {
  group: 'certificates.k8s.io',
  version: 'v1beta1',
  kind: 'ClusterTrustBundle',
  namespaced: false,
}
const SIGNER = 'example.com/s'
const NAME = 'example.com:s:a'
const SUBDOMAIN =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
const FORM = "must be a fully qualified domain and path of the form 'example.com/signer-name'"
const NONE =
  'spec.trustBundle: Invalid value: "<value omitted>": at least one trust anchor must be provided'

const pair = generateKeyPair()
const certificate = (usage: 'authority' | 'server'): string => {
  const subject = { commonName: usage }
  const times = { notBeforeMs: 0, notAfterMs: 1_000, serialNumber: Uint8Array.of(1) }
  const { publicKey, privateKey } = pair
  return issueCertificate({ subject, publicKey, usage, ...times }, { subject, privateKey })
}
const AUTHORITY = certificate('authority')
const LEAF = certificate('server')
const KEY = publicKeyPem(pair.publicKey)
const WITH_HEADER = AUTHORITY.replace('-----\n', '-----\nProc-Type: 4,ENCRYPTED\n\n')

const bundle = (name: string, spec: object): object => ({ metadata: { name }, spec })
const refused = (name: string, problem: string): readonly string[] => [
  `metadata.name: Invalid value: ${JSON.stringify(name)}: ${problem}`,
]

/** As kube-apiserver 1.36.2 answered. */
const NAMES: readonly (readonly [string, string | undefined, string, string | undefined])[] = [
  ['of a signer', SIGNER, NAME, undefined],
  ['of a signer, with dots', SIGNER, 'example.com:s:a.b-c', undefined],
  ['of a signer, as long as may be', SIGNER, `example.com:s:${'a'.repeat(253)}`, undefined],
  ['without signer', undefined, 'a', undefined],
  [
    'of a signer, not said',
    SIGNER,
    'a',
    'ClusterTrustBundle for signerName example.com/s must be named with prefix example.com:s:',
  ],
  [
    'a colon without signer',
    undefined,
    'a:b',
    'ClusterTrustBundle without signer name must not have ":" in its name',
  ],
  ['nothing behind the signer', SIGNER, 'example.com:s:', SUBDOMAIN],
  ['capitals', SIGNER, 'example.com:s:A', SUBDOMAIN],
  ['colons behind the signer', SIGNER, 'example.com:s:a:b', SUBDOMAIN],
  ['a percent sign', undefined, 'a%b', SUBDOMAIN],
]
for (const [title, signerName, name, problem] of NAMES) {
  test(`the name of a bundle: ${title}`, () => {
    const object = bundle(name, { trustBundle: AUTHORITY, ...(signerName && { signerName }) })
    assert.deepEqual(
      createErrors(BUNDLE, object),
      problem === undefined ? [] : refused(name, problem),
    )
  })
}

test('the signer of a bundle is judged as that of a request is', () => {
  assert.deepEqual(
    createErrors(BUNDLE, bundle('x', { signerName: 'abc', trustBundle: AUTHORITY })),
    [
      ...refused('x', 'ClusterTrustBundle for signerName abc must be named with prefix abc:'),
      `spec.signerName: Invalid value: "abc": ${FORM}`,
    ],
  )
})

const anchors = (problem: string): string =>
  `spec.trustBundle: Invalid value: "<value omitted>": ${problem}`

const TEXTS: readonly (readonly [string, string, readonly string[]])[] = [
  ['nothing', '', [NONE]],
  ['no PEM', 'garbage', [NONE]],
  ['a key', KEY + AUTHORITY, [anchors('entry 0 has bad block type: PUBLIC KEY')]],
  ['headers', WITH_HEADER, [anchors('entry 0 has PEM block headers')]],
  [
    'no certificate in it',
    pem('CERTIFICATE', Buffer.alloc(30)),
    [anchors('entry 0 does not parse as X.509')],
  ],
  ['no authority', AUTHORITY + LEAF, [anchors('entry 1 does not have the CA bit set')]],
  ['one twice', AUTHORITY + AUTHORITY, [anchors('duplicate trust anchor (indices [0 1])')]],
  [
    'several mistakes',
    KEY + WITH_HEADER,
    [anchors('entry 0 has bad block type: PUBLIC KEY'), anchors('entry 1 has PEM block headers')],
  ],
  ['text around it', `hello\n${AUTHORITY}good bye\n`, []],
  ['half a block behind it', `${AUTHORITY}-----BEGIN CERTIFICATE-----\nabc\n`, []],
  ['line ends of another system', AUTHORITY.replaceAll('\n', '\r\n'), []],
  ['as long as may be', AUTHORITY.padEnd(1_048_576, 'x'), []],
  [
    'too long',
    AUTHORITY.padEnd(1_048_577, 'x'),
    ['spec.trustBundle: Too long: may not be more than 1048576 bytes'],
  ],
]
for (const [title, trustBundle, errors] of TEXTS) {
  test(`what a bundle holds: ${title}`, () => {
    assert.deepEqual(createErrors(BUNDLE, bundle('a', { trustBundle })), errors)
  })
}

test('a bundle keeps its signer', () => {
  const before = bundle(NAME, { signerName: SIGNER, trustBundle: AUTHORITY })
  const change = (spec: object) => updateErrors(BUNDLE, before, bundle(NAME, spec))
  assert.deepEqual(change({ signerName: SIGNER, trustBundle: `${AUTHORITY}other text` }), [])
  assert.deepEqual(change({ signerName: 'example.com/other', trustBundle: AUTHORITY }), [
    'spec.signerName: Invalid value: "example.com/other": field is immutable',
  ])
  assert.deepEqual(change({ trustBundle: AUTHORITY }), [
    'spec.signerName: Invalid value: "": field is immutable',
  ])
})

test('a prefix of a generated name is judged as it will begin a name', () => {
  const fieldsOf = (generateName: string, signerName?: string): readonly string[] => {
    const spec = { trustBundle: AUTHORITY, ...(signerName !== undefined && { signerName }) }
    const metadata = { name: `${generateName}x`, generateName }
    return createErrors(BUNDLE, { metadata, spec }).map((error) => error.split(':')[0]!)
  }
  assert.deepEqual(fieldsOf('gen-'), [])
  assert.deepEqual(fieldsOf('gen--'), [])
  assert.deepEqual(fieldsOf('example.com:s:gen-', SIGNER), [])
  assert.deepEqual(fieldsOf('_x-'), ['metadata.generateName', 'metadata.name'])
  assert.deepEqual(fieldsOf('example.com:s:_-', SIGNER), ['metadata.name'])
  assert.deepEqual(fieldsOf('gen-', SIGNER), ['metadata.generateName', 'metadata.name'])
})
