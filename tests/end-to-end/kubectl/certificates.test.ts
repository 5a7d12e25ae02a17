/** Certificates for people: asked for, approved or denied, and used. Contract: docs/behaviour/api-server/kubectl.md. */
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { signingRequestPem } from '@gyropilot/foundation/testing'
import { generateKeyPair, privateKeyPem } from '@gyropilot/foundation/x509'
import { begin, expectAll, finish, folder, gyro } from './session.ts'

before(begin)
after(finish)

const key = generateKeyPair().privateKey

function ask(name: string): void {
  const pem = signingRequestPem({ commonName: name, privateKey: key })
  gyro.apply({
    apiVersion: 'certificates.k8s.io/v1',
    kind: 'CertificateSigningRequest',
    metadata: { name },
    spec: {
      request: Buffer.from(pem).toString('base64'),
      signerName: 'kubernetes.io/kube-apiserver-client',
      expirationSeconds: 86_400,
      usages: ['client auth'],
    },
  })
}

test('a certificate that was approved makes a user of kubectl', async () => {
  ask('jane')
  expectAll([
    ['get csr jane', /jane +\S+ +kubernetes\.io\/kube-apiserver-client +\S+ +24h +Pending\n$/],
    ['certificate approve jane', 'certificatesigningrequest.certificates.k8s.io/jane approved\n'],
  ])
  const text = await gyro.until(
    'the certificate',
    30_000,
    '/apis/certificates.k8s.io/v1/certificatesigningrequests',
    (objects) => objects.find(({ metadata }) => metadata.name === 'jane')?.status?.certificate,
  )
  expectAll([['get csr jane', / Approved,Issued\n$/]])
  const certFile = join(folder, 'jane.crt')
  const keyFile = join(folder, 'jane.key')
  writeFileSync(certFile, Buffer.from(String(text), 'base64'))
  writeFileSync(keyFile, privateKeyPem(key))
  gyro.ok(
    'config',
    'set-credentials',
    'jane',
    `--client-certificate=${certFile}`,
    `--client-key=${keyFile}`,
  )
  gyro.ok(
    'config',
    'set-context',
    'jane',
    `--cluster=${gyro.json('config', 'view').clusters[0].name}`,
    '--user=jane',
  )
  const who = gyro.json('--context=jane', 'auth', 'whoami')
  assert.equal(who.status.userInfo.username, 'jane')
})

test('a request that was denied stays without a certificate', () => {
  ask('mallory')
  expectAll([
    ['certificate deny mallory', 'certificatesigningrequest.certificates.k8s.io/mallory denied\n'],
    ['get csr mallory', / Denied\n$/],
  ])
})
