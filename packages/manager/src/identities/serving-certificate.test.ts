import assert from 'node:assert/strict'
import { X509Certificate } from 'node:crypto'
import { test } from 'node:test'
import { SeededRandom } from '@gyropilot/foundation'
import { FakeHost } from '@gyropilot/foundation/testing'
import { testClock } from '@gyropilot/runtime/testing'
import { namedCertificates, servingCertificate } from './serving-certificate.ts'
import type { ServingCertificateOptions } from './serving-certificate.ts'

function world(more: Partial<ServingCertificateOptions> = {}) {
  const host = new FakeHost()
  const serve = () =>
    servingCertificate({
      certFile: '',
      keyFile: '',
      certDir: '',
      pairName: 'kube-controller-manager',
      bindAddress: '0.0.0.0',
      host,
      clock: testClock(),
      random: new SeededRandom('certificate'),
      async write(certFile, keyFile, { certificatePem, privateKeyPem }) {
        host.files.set(certFile, certificatePem)
        host.files.set(keyFile, privateKeyPem)
      },
      ...more,
    })
  return { host, serve }
}

test('without files a certificate for localhost and the bind address is made in memory', async () => {
  const { host, serve } = world({ bindAddress: '10.0.0.7' })
  const { pair, reload } = await serve()
  const certificate = new X509Certificate(pair.certificatePem)
  assert.equal(
    certificate.subjectAltName,
    'DNS:localhost, IP Address:127.0.0.1, IP Address:10.0.0.7',
  )
  assert.equal(await reload(), pair)
  assert.equal(host.files.size, 0)
})

test('an unspecified bind address adds no name', async () => {
  const { pair } = await world().serve()
  const { subjectAltName } = new X509Certificate(pair.certificatePem)
  assert.equal(subjectAltName, 'DNS:localhost, IP Address:127.0.0.1')
})

test('--cert-dir gets a pair when there is none, and keeps it', async () => {
  const { host, serve } = world({ certDir: '/var/run/kcm' })
  const first = await serve()
  assert.deepEqual(
    [...host.files.keys()],
    ['/var/run/kcm/kube-controller-manager.crt', '/var/run/kcm/kube-controller-manager.key'],
  )
  assert.deepEqual((await serve()).pair, first.pair)
  host.files.set('/var/run/kcm/kube-controller-manager.crt', 'another')
  assert.equal((await first.reload()).certificatePem, 'another')
})

test('one file of two in --cert-dir is not written over', async () => {
  const { host, serve } = world({ certDir: '/var/run/kcm' })
  host.files.set('/var/run/kcm/kube-controller-manager.key', 'precious')
  await assert.rejects(serve(), {
    code: 'SERVING_FAILED',
    message: /found .*\.key but not .*\.crt, both are required/,
  })
  assert.equal(host.files.size, 1)
})

test('--tls-cert-file wins over --cert-dir, is read again, and must be there', async () => {
  const { host, serve } = world({ certFile: '/tls.crt', keyFile: '/tls.key', certDir: '/unused' })
  await assert.rejects(serve(), /unable to load server certificate: open \/tls.crt: no such file/)
  host.files.set('/tls.crt', 'one').set('/tls.key', 'key')
  const { pair, reload } = await serve()
  assert.deepEqual(pair, { certificatePem: 'one', privateKeyPem: 'key' })
  host.files.set('/tls.crt', 'two')
  assert.equal((await reload()).certificatePem, 'two')
})

test('--tls-sni-cert-key names further pairs, which must be there', async () => {
  const { host } = world()
  const uses = ['/a.crt,/a.key', '/b.crt,/b.key:b.example']
  await assert.rejects(namedCertificates(host, uses), {
    code: 'SERVING_FAILED',
    message: /failed to load SNI cert and key: open \/a.crt: no such file/,
  })
  host.files.set('/a.crt', 'a').set('/a.key', 'A').set('/b.crt', 'b').set('/b.key', 'B')
  assert.deepEqual(await namedCertificates(host, uses), [
    { certificatePem: 'a', privateKeyPem: 'A', names: [] },
    { certificatePem: 'b', privateKeyPem: 'B', names: ['b.example'] },
  ])
})
