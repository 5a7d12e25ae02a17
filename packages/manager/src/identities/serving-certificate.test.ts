import assert from 'node:assert/strict'
import { X509Certificate } from 'node:crypto'
import { test } from 'node:test'
import { FileError, SeededRandom, errorText } from '@gyropilot/foundation'
import type { CertificateAndKey } from '@gyropilot/foundation/x509'
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

test('the certificate made in memory is valid from an hour ago, for clocks that are behind, and for a year', async () => {
  const clock = testClock()
  const { pair } = await world({ clock }).serve()
  const { validFrom, validTo } = new X509Certificate(pair.certificatePem)
  const secondsFromNow = (time: string): number =>
    Math.round((Date.parse(time) - clock.nowMs()) / 1000)
  assert.deepEqual([validFrom, validTo].map(secondsFromNow), [-3600, 365 * 24 * 3600])
})

for (const bindAddress of ['0.0.0.0', '::', 'node-1', '1st-node'])
  test(`the bind address ${bindAddress} adds no name`, async () => {
    const { pair } = await world({ bindAddress }).serve()
    const { subjectAltName } = new X509Certificate(pair.certificatePem)
    assert.equal(subjectAltName, 'DNS:localhost, IP Address:127.0.0.1')
  })

/** Another at each call. */
async function somePair(seed: string): Promise<CertificateAndKey> {
  return (await world({ random: new SeededRandom(seed) }).serve()).pair
}

test('--cert-dir gets a pair when there is none, and keeps it', async () => {
  const { host, serve } = world({ certDir: '/var/run/kcm' })
  const first = await serve()
  assert.deepEqual(
    [...host.files.keys()],
    ['/var/run/kcm/kube-controller-manager.crt', '/var/run/kcm/kube-controller-manager.key'],
  )
  assert.deepEqual((await serve()).pair, first.pair)
  const another = await somePair('another')
  host.files.set('/var/run/kcm/kube-controller-manager.crt', another.certificatePem)
  await assert.rejects(first.reload(), /^Error: tls: private key does not match public key$/)
  host.files.set('/var/run/kcm/kube-controller-manager.key', another.privateKeyPem)
  assert.deepEqual(await first.reload(), another)
})

test('one file of two in --cert-dir is not written over', async () => {
  const { host, serve } = world({ certDir: '/var/run/kcm' })
  host.files.set('/var/run/kcm/kube-controller-manager.key', 'precious')
  await assert.rejects(serve(), {
    code: 'SERVING_FAILED',
    message:
      'error creating self-signed certificates: error reading /var/run/kcm/kube-controller-manager.crt, certificate and key must be supplied as a pair',
  })
  assert.equal(host.files.size, 1)
})

test('files in --cert-dir that may not be read are not taken for absent, nor written over', async () => {
  const written: string[] = []
  const refusing = {
    readTextFile: (path: string) => Promise.reject(new FileError('open', path, 'EACCES')),
  }
  const write = async (certFile: string): Promise<void> => void written.push(certFile)
  await assert.rejects(world({ certDir: '/pki', host: refusing, write }).serve(), {
    code: 'SERVING_FAILED',
    message: /permission denied$/,
  })
  assert.deepEqual(written, [])
})

test('a folder that cannot be written to ends the start', async () => {
  const write = () => Promise.reject(new Error('mkdir /proc/x: no such file or directory'))
  await assert.rejects(world({ certDir: '/proc/x', write }).serve(), {
    code: 'SERVING_FAILED',
    message: 'error creating self-signed certificates: mkdir /proc/x: no such file or directory',
  })
})

test('--tls-cert-file wins over --cert-dir, is read again, and must be there', async () => {
  const { host, serve } = world({ certFile: '/tls.crt', keyFile: '/tls.key', certDir: '/unused' })
  await assert.rejects(serve(), /^GyropilotError: open \/tls.crt: no such file/)
  const one = await somePair('one')
  host.files.set('/tls.crt', one.certificatePem).set('/tls.key', one.privateKeyPem)
  const { pair, reload } = await serve()
  assert.deepEqual(pair, one)
  const two = await somePair('two')
  host.files.set('/tls.crt', two.certificatePem).set('/tls.key', two.privateKeyPem)
  assert.deepEqual(await reload(), two)
})

const NO_PAIRS: readonly (readonly [string, string, string, string])[] = [
  ['of two', 'CERT', 'OTHER KEY', 'tls: private key does not match public key'],
  ['no certificate', 'x', 'KEY', 'tls: failed to find any PEM data in certificate input'],
  ['no key', 'CERT', 'x', 'tls: failed to find any PEM data in key input'],
  [
    'an empty certificate',
    '',
    'KEY',
    'missing content for serving cert "<use>::/tls.crt::/tls.key"',
  ],
  ['an empty key', 'CERT', '', 'missing content for serving cert "<use>::/tls.crt::/tls.key"'],
]
for (const [title, certificate, key, problem] of NO_PAIRS)
  test(`what is no pair ends the start: ${title}`, async () => {
    const { host, serve } = world({ certFile: '/tls.crt', keyFile: '/tls.key' })
    const [pair, other] = await Promise.all([somePair('one'), somePair('two')])
    const contents: Readonly<Record<string, string>> = {
      CERT: pair.certificatePem,
      KEY: pair.privateKeyPem,
      'OTHER KEY': other.privateKeyPem,
    }
    host.files.set('/tls.crt', contents[certificate] ?? certificate)
    host.files.set('/tls.key', contents[key] ?? key)
    await assert.rejects(serve(), {
      code: 'SERVING_FAILED',
      message: problem.replace('<use>', 'serving-cert'),
    })
    await assert.rejects(namedCertificates(host, ['/tls.crt,/tls.key']), {
      code: 'SERVING_FAILED',
      message: `failed to load SNI cert and key: ${problem.replace('<use>', 'sni-serving-cert')}`,
    })
  })

test('--tls-sni-cert-key names further pairs, which must be there', async () => {
  const { host } = world()
  const uses = ['/a.crt,/a.key', '/b.crt,/b.key:b.example']
  await assert.rejects(namedCertificates(host, uses), {
    code: 'SERVING_FAILED',
    message: /failed to load SNI cert and key: open \/a.crt: no such file/,
  })
  const [a, b] = await Promise.all([somePair('a'), somePair('b')])
  host.files.set('/a.crt', a.certificatePem).set('/a.key', a.privateKeyPem)
  host.files.set('/b.crt', b.certificatePem).set('/b.key', b.privateKeyPem)
  assert.deepEqual(await namedCertificates(host, uses), [
    { ...a, names: [] },
    { ...b, names: ['b.example'] },
  ])
  // Read again: what cannot be read keeps what stood in its place, and no other pair.
  host.files.set('/a.crt', b.certificatePem).set('/b.crt', a.certificatePem)
  host.files.set('/b.key', a.privateKeyPem)
  const former = { ...a, names: ['former'] }
  const problems: unknown[] = []
  const again = await namedCertificates(host, uses, (place, error) => {
    problems.push(place, errorText(error))
    return former
  })
  assert.deepEqual(again, [former, { ...a, names: ['b.example'] }])
  assert.deepEqual(problems, [
    0,
    'failed to load SNI cert and key: tls: private key does not match public key',
  ])
})
