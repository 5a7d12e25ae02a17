/** As kube-apiserver 1.36.2 answered. */
import assert from 'node:assert/strict'
import { generateKeyPairSync, sign } from 'node:crypto'
import type { KeyObject } from 'node:crypto'
import { test } from 'node:test'
import { formatTime } from '@gyropilot/foundation'
import { generateKeyPair, issueCertificate } from '@gyropilot/foundation/x509'
import { createTestServer } from '../../testing/test-server.ts'
import { context, createErrors, statusErrors, updateErrors } from '../fixtures.ts'

const REQUEST = { group: 'certificates.k8s.io', version: 'v1beta1', kind: 'PodCertificateRequest' }
const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS

const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const infoOf = (key: KeyObject): string =>
  key.export({ format: 'der', type: 'spki' }).toString('base64')
const proof = (uid: string): string =>
  sign('sha256', Buffer.from(uid), privateKey).toString('base64')
const KEY = { pkixPublicKey: infoOf(publicKey), proofOfPossession: proof('pu') }
/** Ed25519, for a node. */
const STUB =
  'MIGvMGMCAQAwMDEVMBMGA1UECgwMc3lzdGVtOm5vZGVzMRcwFQYDVQQDDA5zeXN0ZW06bm9kZTpuMTAqMAUGAytlcAMhABbn16qSzDmCgJ2nHWWMzRr6zzjmGbASvrpyGMrDB8izoAAwBQYDK2VwA0EAWn2NirDVaxJGEmlLI9lFrmLvC8H0+zeNwwow6JoZmnG+P5KD+wtYYY7y1EmOknczUDwWa1eaIebfdGTUGbZdAg=='
const NAMES = {
  signerName: 'example.com/s',
  podName: 'p',
  podUID: 'pu',
  serviceAccountName: 'sa',
  serviceAccountUID: 'su',
  nodeName: 'n',
  nodeUID: 'nu',
}
const asking = (spec: object = {}): object => ({ spec: { ...NAMES, ...KEY, ...spec } })
const stubbed = (stubPKCS10Request: string): object => ({ spec: { ...NAMES, stubPKCS10Request } })
const RANGE = 'must be in the range'
const FORMS =
  'spec: Invalid value: exactly one of (stubPKCS10Request) or (pkixPublicKey, proofOfPossession) must be set'
const weak = (type: 'rsa' | 'ec', options: object): string =>
  infoOf(generateKeyPairSync(type as 'rsa', options as never).publicKey)

const CASES: readonly (readonly [string, object, readonly (string | RegExp)[]])[] = [
  ['a key with its proof', asking(), []],
  ['a signed request', stubbed(STUB), []],
  ['both', asking({ stubPKCS10Request: STUB }), [FORMS]],
  ['neither', { spec: NAMES }, [FORMS]],
  ['a key without proof', asking({ proofOfPossession: '' }), [FORMS]],
  [
    'no request at all',
    stubbed('AAAA'),
    ['spec.stubPKCS10Request: Invalid value: must be a valid PKCS#10 CSR'],
  ],
  [
    'a request that somebody changed',
    stubbed(
      STUB.replace('c3lzdGVtOm5vZGU6bjE', 'c3lzdGVtOm5vZGU6bjI')
        .replace('n1AqMA', 'n2AqMA')
        .replace(/ZdAg==$/, 'ZdAw=='),
    ),
    ['spec.stubPKCS10Request: Invalid value: invalid signature'],
  ],
  [
    'the proof of another pod',
    asking({ proofOfPossession: proof('other') }),
    ['spec.proofOfPossession: Invalid value: could not verify proof-of-possession signature'],
  ],
  [
    'no key',
    asking({ pkixPublicKey: 'AAAA' }),
    ['spec.pkixPublicKey: Invalid value: "AAAA": must be a valid PKIX-serialized public key'],
  ],
  [
    'a short key',
    asking({ pkixPublicKey: weak('rsa', { modulusLength: 2048 }) }),
    [
      'spec.pkixPublicKey: Invalid value: "2048-bit modulus": RSA keys must have modulus size 3072 or 4096',
    ],
  ],
  [
    'a short curve',
    asking({ pkixPublicKey: weak('ec', { namedCurve: 'secp224r1' }) }),
    [
      'spec.pkixPublicKey: Invalid value: "curve P-224": elliptic public keys must use curve P256 or P384',
    ],
  ],
  [
    'an hour less a second',
    asking({ maxExpirationSeconds: 3599 }),
    [`spec.maxExpirationSeconds: Invalid value: 3599: ${RANGE} [3600, 7862400]`],
  ],
  [
    'more than a day of a signer of its own',
    asking({ maxExpirationSeconds: 86401, signerName: 'kubernetes.io/s' }),
    [`spec.maxExpirationSeconds: Invalid value: 86401: ${RANGE} [3600, 86400]`],
  ],
  [
    'annotations without a domain',
    asking({ unverifiedUserAnnotations: { C: 'd', 'a.b/c': 'd' } }),
    [
      'spec.unverifiedUserAnnotations: Invalid value: "c": must be a domain-prefixed key (such as "acme.io/foo")',
    ],
  ],
  [
    'names that are none',
    asking({ signerName: '', podName: 'P_', podUID: '', nodeUID: 'u'.repeat(129) }),
    [
      'spec.signerName: Required value',
      /^spec\.podName: Invalid value: "P_": a lowercase RFC 1123 subdomain must/,
      'spec.podUID: Invalid value: "": must not be empty',
      'spec.nodeUID: Too long: may not be more than 128 bytes',
      'spec.proofOfPossession: Invalid value: could not verify proof-of-possession signature',
    ],
  ],
]
for (const [title, object, wanted] of CASES) {
  test(`a request: ${title}`, () => {
    const found = createErrors(REQUEST, object)
    assert.equal(found.length, wanted.length, found.join('\n'))
    for (const [index, text] of wanted.entries())
      if (typeof text === 'string') assert.equal(found[index], text)
      else assert.match(found[index]!, text)
  })
}

test('what is asked cannot change', () => {
  const [found] = updateErrors(REQUEST, asking(), asking({ maxExpirationSeconds: 7200 }))
  assert.match(
    found!,
    /^spec: Invalid value: \{"SignerName":"example\.com\/s",.*"MaxExpirationSeconds":7200,"PKIXPublicKey":.*"StubPKCS10Request":null,"UnverifiedUserAnnotations":null\}: field is immutable$/,
  )
})

const condition = (type: string, status = 'True'): object => ({
  type,
  status,
  reason: 'R',
  message: '',
  lastTransitionTime: '2024-01-01T00:00:00Z',
})
const NOW_MS = context.nowMs
const authority = generateKeyPair()

function certificate(
  key: KeyObject,
  fromMs = NOW_MS,
  lifeMs = 24 * HOUR_MS,
  dnsNames: readonly string[] = [],
): string {
  return issueCertificate(
    {
      subject: { commonName: 'p' },
      publicKey: key,
      usage: 'client',
      notBeforeMs: fromMs,
      notAfterMs: fromMs + lifeMs,
      serialNumber: Uint8Array.of(7),
      dnsNames,
    },
    { subject: { commonName: 'ca' }, privateKey: authority.privateKey },
  )
}

const at = (minutes: number): string => formatTime(NOW_MS + minutes * MINUTE_MS)
const DAY = { notBefore: at(0), notAfter: at(24 * 60), beginRefreshAt: at(12 * 60) }
const CHAIN = certificate(publicKey)
const KEY_BLOCK = '-----BEGIN KEY-----\nAAAA\n-----END KEY-----\n'
const BROKEN = '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n'
const issued = (more: object = {}): object => ({
  conditions: [condition('Issued')],
  certificateChain: CHAIN,
  ...DAY,
  ...more,
})
const ENDS = 'supported values: "Issued", "Denied", "Failed"'
const FULL =
  'status: Invalid value: non-condition status fields must be empty when denying or failing the PodCertificateRequest'

const STATUSES: readonly (readonly [string, object, readonly (string | RegExp)[]])[] = [
  ['issued', issued(), []],
  ['issued with its authority', issued({ certificateChain: `before\n${CHAIN}${CHAIN}` }), []],
  ['denied', { conditions: [condition('Denied')] }, []],
  ['denied with a certificate', { ...issued(), conditions: [condition('Denied')] }, [FULL]],
  [
    'neither',
    { conditions: [condition('Other')] },
    [`status.conditions.[0].type: Unsupported value: "Other": ${ENDS}`],
  ],
  [
    'two ends',
    { conditions: [condition('Denied'), condition('Failed', 'False')] },
    [
      'status.conditions.[1].type: Invalid value: "Failed": There may be at most one condition with type "Issued", "Denied", or "Failed"',
      'status.conditions.[1].status: Unsupported value: "False": supported values: "True"',
    ],
  ],
  [
    'a certificate without an end',
    { certificateChain: CHAIN, ...DAY },
    [
      'status: Invalid value: status is immutable unless transitioning to "Issued", "Denied", or "Failed"',
    ],
  ],
  [
    'issued without a certificate',
    issued({ certificateChain: '' }),
    [
      'status.certificateChain: Invalid value: "": issued certificate chain must contain at least one certificate',
    ],
  ],
  [
    'a key in the chain',
    issued({ certificateChain: `${CHAIN}${KEY_BLOCK}` }),
    [/: issued certificate chain must consist entirely of CERTFICATE PEM blocks$/],
  ],
  [
    'a key in front',
    issued({ certificateChain: `${KEY_BLOCK}${CHAIN}` }),
    [/: issued certificate chain must consist entirely of CERTIFICATE PEM blocks$/],
  ],
  [
    'no certificate behind the first one, which is told last',
    issued({ certificateChain: `${CHAIN}${BROKEN}`, beginRefreshAt: at(9) }),
    [/: must be at least 10 minutes after status\.notBefore$/],
  ],
  [
    'no certificate behind the first one',
    issued({ certificateChain: `${CHAIN}${BROKEN}` }),
    [/: intermediate certificate does not parse as valid X\.509$/],
  ],
  [
    'a long chain',
    issued({ certificateChain: 'x'.repeat(102_401) }),
    ['status.certificateChain: Too long: may not be more than 102400 bytes'],
  ],
  [
    'names that are none, told along with the key',
    issued({
      certificateChain: certificate(authority.publicKey, NOW_MS, HOUR_MS, ['a.b', '..', '.a']),
    }),
    [
      `status.certificateChain: Invalid value: "..": leaf certificate's DNSName should not contain '..'`,
      `status.certificateChain: Invalid value: "..": leaf certificate's DNSName should not start or end with '.'`,
      `status.certificateChain: Invalid value: ".a": leaf certificate's DNSName should not start or end with '.'`,
      /: leaf certificate was not issued to the requested public key$/,
    ],
  ],
  [
    'an empty name, told before times are compared',
    issued({ certificateChain: certificate(publicKey, NOW_MS, HOUR_MS, ['']) }),
    [
      'status.certificateChain: Invalid value: "": leaf certificate should not contain empty DNSName',
    ],
  ],
  [
    'a certificate of somebody else',
    issued({ certificateChain: certificate(authority.publicKey) }),
    [/: leaf certificate was not issued to the requested public key$/],
  ],
  [
    'issued without times',
    { conditions: [condition('Issued')], certificateChain: CHAIN },
    [
      'status.notBefore: Required value: must be present and consistent with the issued certificate',
      'status.notAfter: Required value: must be present and consistent with the issued certificate',
      'status.beginRefreshAt: Required value: must be present and in the range [notbefore+10min, notafter-10min]',
    ],
  ],
  [
    'another beginning',
    issued({ notBefore: at(1) }),
    [/: must be set to the NotBefore time encoded in the leaf certificate$/],
  ],
  [
    'another end',
    issued({ notAfter: at(1) }),
    [/: must be set to the NotAfter time encoded in the leaf certificate$/],
  ],
  [
    'a certificate of some time ago',
    issued({
      certificateChain: certificate(publicKey, NOW_MS - 6 * MINUTE_MS),
      notBefore: at(-6),
      notAfter: at(24 * 60 - 6),
    }),
    [/: must be set to within 5 minutes of kube-apiserver's current time$/],
  ],
  [
    'a longer life than was asked for',
    issued({
      certificateChain: certificate(publicKey, NOW_MS, 25 * HOUR_MS),
      notAfter: at(25 * 60),
    }),
    [
      'status.certificateChain: Invalid value: 90000000000000: leaf certificate lifetime must be <= spec.maxExpirationSeconds (86400)',
    ],
  ],
  [
    'a short life',
    issued({ certificateChain: certificate(publicKey, NOW_MS, HOUR_MS / 2), notAfter: at(30) }),
    [
      'status.certificateChain: Invalid value: 1800000000000: leaf certificate lifetime must be >= 1 hour',
    ],
  ],
  [
    'an early refresh',
    issued({ beginRefreshAt: at(9) }),
    [/: must be at least 10 minutes after status\.notBefore$/],
  ],
  [
    'a late refresh',
    issued({ beginRefreshAt: at(24 * 60 - 9) }),
    [/: must be at least 10 minutes before status\.notAfter$/],
  ],
]
for (const [title, status, wanted] of STATUSES) {
  test(`the status of a request: ${title}`, () => {
    const found = statusErrors(REQUEST, asking(), { ...asking(), status })
    assert.equal(found.length, wanted.length, found.join('\n'))
    for (const [index, text] of wanted.entries())
      if (typeof text === 'string') assert.equal(found[index], text)
      else assert.match(found[index]!, text)
  })
}

test('a request ends once', () => {
  const before = { ...asking(), status: { conditions: [condition('Denied')] } }
  assert.deepEqual(statusErrors(REQUEST, before, before), [])
  assert.deepEqual(statusErrors(REQUEST, before, { ...asking(), status: issued() }), [
    'status: Invalid value: immutable after PodCertificateRequest is issued, denied, or failed',
  ])
})

const PATH = '/apis/certificates.k8s.io/v1beta1/namespaces/default/podcertificaterequests'
const ROLES = '/apis/rbac.authorization.k8s.io/v1'
const ON = {
  runtimeConfig: { 'certificates.k8s.io/v1beta1': true },
  featureGates: { PodCertificateRequest: true },
}

test('with its gate it is stored for a day, selected and shown; without it there is none', async () => {
  const { request } = await createTestServer(ON)
  const body = { metadata: { name: 'a' }, ...stubbed(STUB) }
  const { value } = await request('POST', PATH, body)
  const { maxExpirationSeconds, pkixPublicKey, proofOfPossession } = value.spec
  assert.deepEqual([maxExpirationSeconds, pkixPublicKey, proofOfPossession], [86400, null, null])
  const countOf = async (selector: string): Promise<number> =>
    (await request('GET', `${PATH}?fieldSelector=${encodeURIComponent(selector)}`)).value.items
      .length
  assert.equal(await countOf('spec.nodeName=n,spec.podName=p,spec.signerName=example.com/s'), 1)
  assert.equal(await countOf('spec.nodeName=m'), 0)
  const table = await request('GET', PATH, undefined, {
    accept: 'application/json;as=Table;v=v1;g=meta.k8s.io',
  })
  const cells = ['a', 'p', 'sa', 'n', 'example.com/s', 'Pending', '<none>']
  assert.deepEqual(table.value.rows[0].cells, cells)
  const role = `${ROLES}/clusterroles/system:controller:podcertificaterequestcleaner`
  assert.equal((await request('GET', role)).status, 200)
  const without = await createTestServer({ runtimeConfig: ON.runtimeConfig })
  assert.equal((await without.request('GET', PATH)).status, 404)
  assert.equal((await without.request('GET', role)).status, 404)
})

test('who says what becomes of a request must be allowed to sign for its signer', async () => {
  const { request } = await createTestServer(ON)
  const allow = async (name: string, rule: object): Promise<void> => {
    await request('POST', `${ROLES}/clusterroles`, { metadata: { name }, rules: [rule] })
    const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name }
    const subjects = [{ kind: 'User', name: 'ann', apiGroup: 'rbac.authorization.k8s.io' }]
    await request('POST', `${ROLES}/clusterrolebindings`, { metadata: { name }, roleRef, subjects })
  }
  const apiGroups = ['certificates.k8s.io']
  await allow('write', {
    apiGroups,
    resources: ['podcertificaterequests', 'podcertificaterequests/status'],
    verbs: ['*'],
  })
  await request('POST', PATH, { metadata: { name: 'a' }, ...stubbed(STUB) })
  const write = async (body: object) =>
    request('PATCH', `${PATH}/a/status`, body, {
      'impersonate-user': 'ann',
      'content-type': 'application/merge-patch+json',
    })
  const denial = { status: { conditions: [condition('Denied')] } }
  const before = await write(denial)
  assert.deepEqual(
    [before.status, before.value.message],
    [
      422,
      'PodCertificateRequest.certificates.k8s.io "a" is invalid: spec.signerName: Forbidden: User "ann" is not permitted to "sign" for signer "example.com/s"',
    ],
  )
  assert.equal((await write({ metadata: { labels: { a: '-' } } })).status, 200)
  await allow('sign', {
    apiGroups,
    resources: ['signers'],
    resourceNames: ['example.com/*'],
    verbs: ['sign'],
  })
  const after = await write(denial)
  assert.deepEqual([after.status, after.value.metadata.labels], [200, undefined])
})
