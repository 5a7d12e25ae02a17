import assert from 'node:assert/strict'
import { test } from 'node:test'
import { resourcesOnRequest } from '@gyropilot/api'
import type { ClusterTrustBundleProjection } from '@gyropilot/api'
import { generateKeyPair, issueCertificate } from '@gyropilot/foundation/x509'
import { FakeServer } from '@gyropilot/runtime/testing'
import { projectedAnchors } from './trust-bundles.ts'

const SIGNER = 'example.com/s'

function authority(commonName: string): string {
  const { publicKey, privateKey } = generateKeyPair()
  const subject = { commonName }
  const times = { notBeforeMs: 0, notAfterMs: 1_000, serialNumber: Uint8Array.of(1) }
  const request = { subject, publicKey, usage: 'authority', ...times } as const
  return issueCertificate(request, { subject, privateKey })
}
const A = authority('a')
const B = authority('b')

const server = new FakeServer()
for (const [name, signerName, labels, trustBundle] of [
  ['plain', undefined, {}, `text\n${A}more text`],
  ['example.com:s:1', SIGNER, { live: 'yes' }, A + B],
  ['example.com:s:2', SIGNER, { live: 'yes' }, A],
  ['example.com:s:3', SIGNER, { live: 'no' }, B],
] as const) {
  server.put(resourcesOnRequest.clustertrustbundles, {
    metadata: { name, labels },
    spec: { trustBundle, ...(signerName !== undefined && { signerName }) },
  })
}
/** As one sorted list: which of two comes first is decided by their bytes. */
const read = async (source: Omit<ClusterTrustBundleProjection, 'path'>) =>
  (await projectedAnchors(server, { path: 'ca.pem', ...source }))
    .split(/(?<=-----END CERTIFICATE-----\n)/)
    .filter((block) => block !== '')
    .toSorted()

test('a bundle by its name: its anchors without the text around them', async () => {
  assert.deepEqual(await read({ name: 'plain' }), [A])
})

test('bundles of a signer by their labels: each anchor once', async () => {
  const labelled = { signerName: SIGNER, labelSelector: { matchLabels: { live: 'yes' } } }
  assert.deepEqual(await read(labelled), [A, B].toSorted())
  assert.deepEqual(await read({ signerName: SIGNER, labelSelector: {} }), [A, B].toSorted())
  const first = await projectedAnchors(server, { path: 'p', ...labelled })
  assert.equal(await projectedAnchors(server, { path: 'p', ...labelled }), first)
})

for (const [title, source, problem] of [
  [
    'one that is missing',
    { name: 'none' },
    'while getting ClusterTrustBundle: clustertrustbundle.certificates.k8s.io "none" not found',
  ],
  [
    'a signer without bundles',
    { signerName: 'example.com/t', labelSelector: {} },
    'combination of signerName and labelSelector matched zero ClusterTrustBundles',
  ],
  [
    'a signer without selector',
    { signerName: SIGNER },
    'combination of signerName and labelSelector matched zero ClusterTrustBundles',
  ],
] as const) {
  test(`${title} is a problem, unless it is optional`, async () => {
    await assert.rejects(read(source), { message: problem })
    assert.deepEqual(await read({ ...source, optional: true }), [])
  })
}
