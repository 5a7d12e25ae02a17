/** A kind that a server serves with a version on request and a gate: both, or nothing of it. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTestServer } from '../testing/test-server.ts'
import { generateKeyPair, issueCertificate } from '@gyropilot/foundation/x509'

const VERSION = 'certificates.k8s.io/v1beta1'
const PATH = `/apis/${VERSION}/clustertrustbundles`
const ROLES = '/apis/rbac.authorization.k8s.io/v1'
const ON = {
  runtimeConfig: { [VERSION]: true },
  featureGates: { ClusterTrustBundle: true, ClusterTrustBundleProjection: true },
}

function authority(): string {
  const { publicKey, privateKey } = generateKeyPair()
  const subject = { commonName: 'ca' }
  const times = { notBeforeMs: 0, notAfterMs: 1_000, serialNumber: Uint8Array.of(1) }
  const request = { subject, publicKey, usage: 'authority', ...times } as const
  return issueCertificate(request, { subject, privateKey })
}
const trustBundle = authority()
const bundle = (name: string, signerName?: string): object => ({
  metadata: { name },
  spec: { trustBundle, ...(signerName !== undefined && { signerName }) },
})

for (const [title, options] of [
  ['the version alone', { runtimeConfig: ON.runtimeConfig }],
  ['the gate alone', { featureGates: ON.featureGates }],
] as const) {
  test(`${title} serves no bundles`, async () => {
    const { request } = await createTestServer(options)
    const { versions } = (await request('GET', '/apis/certificates.k8s.io')).value
    assert.equal(versions.length, 1)
    assert.equal((await request('GET', PATH)).status, 404)
    const services = '/apis/apiregistration.k8s.io/v1/apiservices'
    assert.equal((await request('GET', `${services}/v1beta1.certificates.k8s.io`)).status, 404)
  })
}

test('with both they are told of, stored, selected by their signer and shown', async () => {
  const { request } = await createTestServer(ON)
  const [resource] = (await request('GET', `/apis/${VERSION}`)).value.resources
  assert.deepEqual([resource.name, resource.namespaced], ['clustertrustbundles', false])
  for (const body of [bundle('a'), bundle('example.com:s:a', 'example.com/s')])
    assert.equal((await request('POST', PATH, body)).status, 201)
  const namesOf = async (selector: string): Promise<readonly string[]> => {
    const { value } = await request('GET', `${PATH}?fieldSelector=${encodeURIComponent(selector)}`)
    return value.items.map(({ metadata }: { metadata: { name: string } }) => metadata.name)
  }
  assert.deepEqual(await namesOf('spec.signerName=example.com/s'), ['example.com:s:a'])
  assert.deepEqual(await namesOf('spec.signerName='), ['a'])
  const table = await request('GET', PATH, undefined, {
    accept: 'application/json;as=Table;v=v1;g=meta.k8s.io',
  })
  assert.deepEqual(
    table.value.rows.map(({ cells }: { cells: unknown }) => cells),
    [
      ['a', '<none>'],
      ['example.com:s:a', 'example.com/s'],
    ],
  )
})

test('who writes the bundle of a signer must be allowed to attest for it', async () => {
  const { request } = await createTestServer(ON)
  const allow = async (name: string, rule: object): Promise<void> => {
    await request('POST', `${ROLES}/clusterroles`, { metadata: { name }, rules: [rule] })
    const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name }
    const subjects = [{ kind: 'User', name: 'ann', apiGroup: 'rbac.authorization.k8s.io' }]
    await request('POST', `${ROLES}/clusterrolebindings`, { metadata: { name }, roleRef, subjects })
  }
  const apiGroups = ['certificates.k8s.io']
  await allow('bundles', { apiGroups, resources: ['clustertrustbundles'], verbs: ['*'] })
  const as = { 'impersonate-user': 'ann' }
  const linked = bundle('example.com:s:a', 'example.com/s')
  const before = await request('POST', PATH, linked, as)
  assert.deepEqual(
    [before.status, before.value.message],
    [
      403,
      'clustertrustbundles.certificates.k8s.io "example.com:s:a" is forbidden: user not permitted to attest for signerName "example.com/s"',
    ],
  )
  assert.equal((await request('POST', PATH, bundle('a'), as)).status, 201)
  await request('POST', PATH, linked)
  const patch = { ...as, 'content-type': 'application/merge-patch+json' }
  const label = { metadata: { labels: { a: 'b' } } }
  const one = `${PATH}/example.com:s:a`
  assert.equal((await request('PATCH', one, label, patch)).status, 403)
  await allow('attest', {
    apiGroups,
    resources: ['signers'],
    resourceNames: ['example.com/*'],
    verbs: ['attest'],
  })
  assert.equal((await request('PATCH', one, label, patch)).status, 200)
  const other = bundle('example.org:s:a', 'example.org/s')
  assert.equal((await request('POST', PATH, other, as)).status, 403)
})

const READ = {
  verbs: ['get', 'list', 'watch'],
  apiGroups: ['certificates.k8s.io'],
  resources: ['clustertrustbundles'],
}
const DISCOVERY = 'system:cluster-trust-bundle-discovery'
const PUBLISHER = 'system:controller:kube-apiserver-serving-clustertrustbundle-publisher'

test('gates bring roles: who may read bundles, who publishes them, and what a node may', async () => {
  const { request } = await createTestServer(ON)
  const read = async (kind: string, name: string) =>
    (await request('GET', `${ROLES}/${kind}/${name}`)).value
  assert.deepEqual((await read('clusterroles', DISCOVERY)).rules, [READ])
  assert.deepEqual((await read('clusterrolebindings', DISCOVERY)).subjects, [
    { kind: 'Group', apiGroup: 'rbac.authorization.k8s.io', name: 'system:serviceaccounts' },
  ])
  const [attest, bundles] = (await read('clusterroles', PUBLISHER)).rules
  assert.deepEqual(attest.resourceNames, ['kubernetes.io/kube-apiserver-serving'])
  assert.deepEqual(bundles.verbs, ['create', 'delete', 'list', 'update', 'watch'])
  assert.equal((await read('clusterrolebindings', PUBLISHER)).subjects[0].kind, 'ServiceAccount')
  assert.deepEqual((await read('clusterroles', 'system:node')).rules.at(-2), READ)
})

test('without gates there are no such roles', async () => {
  const { request } = await createTestServer()
  for (const name of [DISCOVERY, PUBLISHER])
    assert.equal((await request('GET', `${ROLES}/clusterroles/${name}`)).status, 404)
  const { rules } = (await request('GET', `${ROLES}/clusterroles/system:node`)).value
  assert.equal(JSON.stringify(rules).includes('clustertrustbundles'), false)
})

test('a document tells of the kinds whose gates are on', async () => {
  for (const [featureGates, wanted] of [
    [{ ClusterTrustBundle: true }, ['ClusterTrustBundle']],
    [{ PodCertificateRequest: true }, ['PodCertificateRequest']],
    [
      { ClusterTrustBundle: true, PodCertificateRequest: true },
      ['ClusterTrustBundle', 'PodCertificateRequest'],
    ],
  ] as const) {
    const { request } = await createTestServer({ runtimeConfig: ON.runtimeConfig, featureGates })
    const text: string = (await request('GET', `/openapi/v3/apis/${VERSION}`)).value
    const { paths, components } = JSON.parse(text)
    const kinds = Object.keys(components.schemas)
      .map((name) => /v1beta1\.(\w+(?:Bundle|Request))$/.exec(name)?.[1])
      .filter((kind) => kind !== undefined)
    assert.deepEqual(kinds, wanted)
    const told = Object.keys(paths).join('\n')
    for (const resource of ['ClusterTrustBundle', 'PodCertificateRequest'] as const)
      assert.equal(
        told.includes(`${resource.toLowerCase()}s`),
        (wanted as readonly string[]).includes(resource),
      )
  }
})
