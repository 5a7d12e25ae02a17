import assert from 'node:assert/strict'
import { X509Certificate, createPrivateKey } from 'node:crypto'
import { once } from 'node:events'
import { connect, createServer } from 'node:tls'
import type { TLSSocket } from 'node:tls'
import { describe, test } from 'node:test'
import { SeededRandom, SystemClock, VirtualClock } from '@gyropilot/foundation'
import { parse } from 'yaml'
import { createClusterCertificates, subjectOf } from './cluster-certificates.ts'
import type { CertificateFiles } from './cluster-certificates.ts'
import { kubeconfigText } from './kubeconfig.ts'

const NOW_MS = Date.UTC(2026, 10, 21)

function virtualClock(startMs = NOW_MS): VirtualClock {
  return new VirtualClock({ startMs, settle: () => Promise.resolve() })
}

function memoryFiles(): CertificateFiles & {
  readonly texts: Map<string, string>
  readonly secrets: Set<string>
} {
  const texts = new Map<string, string>()
  const secrets = new Set<string>()
  return {
    texts,
    secrets,
    read: (name) => texts.get(name),
    write(name, text, secret) {
      texts.set(name, text)
      if (secret) secrets.add(name)
    },
  }
}

/** CN=first, O=a, CN=last, O=b. */
const TWO_COMMON_NAMES = `-----BEGIN CERTIFICATE-----
MIIBxDCCAWugAwIBAgIUW+YhYhJ/mWhNfQQgOG92hsjEspEwCgYIKoZIzj0EAwIw
NzEOMAwGA1UEAwwFZmlyc3QxCjAIBgNVBAoMAWExDTALBgNVBAMMBGxhc3QxCjAI
BgNVBAoMAWIwIBcNMjYxMTI4MTQzMzM2WhgPMjEyNjExMDQxNDMzMzZaMDcxDjAM
BgNVBAMMBWZpcnN0MQowCAYDVQQKDAFhMQ0wCwYDVQQDDARsYXN0MQowCAYDVQQK
DAFiMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAERhyzka+lSY7Dlh3ke8am3RNX
ky49Xnp5acldIjctPeDwWeueCjat4l0L6wSMCi+JzlFzNQ/9zJfQtU3eWhrUtaNT
MFEwHQYDVR0OBBYEFCWCfloj+mDM7vOVu4G3gEuulHPQMB8GA1UdIwQYMBaAFCWC
floj+mDM7vOVu4G3gEuulHPQMA8GA1UdEwEB/wQFMAMBAf8wCgYIKoZIzj0EAwID
RwAwRAIgTPOt3BjSCF/SJZFAf0s+8B9ABDypkq3q1EnDAHVQbNYCIDGGn5kZAWqt
/CVSBD2nLt6VR26Q3NR4xG3OGHJ6Y0z0
-----END CERTIFICATE-----`

describe('cluster certificates', () => {
  const made = createClusterCertificates({
    clock: virtualClock(),
    random: new SeededRandom(1),
    serverNames: ['api.example', '192.0.2.9'],
  })

  test('the serving certificate is for every name under which clients and pods reach the server', () => {
    const certificate = new X509Certificate(made.serving.certificatePem)
    const dns = [
      'localhost',
      'kubernetes',
      'kubernetes.default',
      'kubernetes.default.svc',
      'kubernetes.default.svc.cluster.local',
      'api.example',
    ]
    for (const name of dns) assert.equal(certificate.checkHost(name), name)
    for (const address of ['127.0.0.1', '::1', '10.0.0.1', '192.0.2.9'])
      assert.equal(certificate.checkIP(address), address)
    assert.equal(certificate.checkHost('example.com'), undefined)
    assert.ok(certificate.verify(new X509Certificate(made.authority.certificatePem).publicKey))
    assert.equal(certificate.ca, false)
  })

  test('the authority may sign, its certificate is its own and lasts ten years', () => {
    const authority = new X509Certificate(made.authority.certificatePem)
    assert.ok(authority.ca)
    assert.ok(authority.checkIssued(authority))
    assert.equal(authority.validToDate.getUTCFullYear(), 2036)
  })

  test('the admin is kubernetes-admin of system:masters', () => {
    assert.deepEqual(subjectOf(made.admin.certificatePem), {
      commonName: 'kubernetes-admin',
      organizations: ['system:masters'],
    })
  })

  test('client certificates carry several organizations, and match their keys', () => {
    const client = made.issueClient({
      commonName: 'system:node:n1',
      organizations: ['system:nodes', 'b'],
    })
    const certificate = new X509Certificate(client.certificatePem)
    assert.deepEqual(subjectOf(certificate.raw), {
      commonName: 'system:node:n1',
      organizations: ['system:nodes', 'b'],
    })
    assert.ok(certificate.checkPrivateKey(createPrivateKey(client.privateKeyPem)))
    assert.deepEqual(certificate.keyUsage, ['1.3.6.1.5.5.7.3.2'])
  })

  test('of several common names the last one counts', () => {
    assert.deepEqual(subjectOf(TWO_COMMON_NAMES), { commonName: 'last', organizations: ['a', 'b'] })
  })

  test('a TLS client that trusts the authority gets through, and shows who it is', async (t) => {
    // OpenSSL judges by the machine's clock: this pair is made for its present.
    const real = createClusterCertificates({
      clock: new SystemClock(),
      random: new SeededRandom(2),
    })
    const server = createServer({
      key: real.serving.privateKeyPem,
      cert: real.serving.certificatePem,
      ca: real.authority.certificatePem,
      requestCert: true,
    })
    t.after(() => server.close())
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as { port: number }
    const accepted = once(server, 'secureConnection') as Promise<[TLSSocket]>
    const client = connect({
      port,
      host: '127.0.0.1',
      ca: real.authority.certificatePem,
      key: real.admin.privateKeyPem,
      cert: real.admin.certificatePem,
    })
    await once(client, 'secureConnect')
    const [socket] = await accepted
    assert.equal(client.authorized, true)
    assert.equal(socket.authorized, true)
    assert.equal(subjectOf(socket.getPeerCertificate().raw).commonName, 'kubernetes-admin')
    client.destroy()
    socket.destroy()
  })
})

describe('files', () => {
  test('a second start reads what the first one wrote', () => {
    const files = memoryFiles()
    const options = { clock: virtualClock(), random: new SeededRandom(1), files }
    const first = createClusterCertificates(options)
    const second = createClusterCertificates(options)
    assert.equal(second.authority.certificatePem, first.authority.certificatePem)
    assert.equal(second.serving.certificatePem, first.serving.certificatePem)
    assert.equal(second.admin.privateKeyPem, first.admin.privateKeyPem)
    assert.equal(second.serviceAccountKey.publicKeyPem, first.serviceAccountKey.publicKeyPem)
    assert.deepEqual(
      [...files.texts.keys()].filter((name) => name.endsWith('.key') !== files.secrets.has(name)),
      [],
      'exactly the keys are secret',
    )
  })

  test('a serving certificate that ends within a month, or lacks a name, is made anew under the same authority', () => {
    const files = memoryFiles()
    const first = createClusterCertificates({
      clock: virtualClock(),
      random: new SeededRandom(1),
      files,
    })
    const later = virtualClock(NOW_MS + 340 * 24 * 3600 * 1000)
    const renewed = createClusterCertificates({ clock: later, random: new SeededRandom(2), files })
    assert.equal(renewed.authority.certificatePem, first.authority.certificatePem)
    assert.notEqual(renewed.serving.certificatePem, first.serving.certificatePem)
    const named = createClusterCertificates({
      clock: later,
      random: new SeededRandom(3),
      files,
      serverNames: ['other.example'],
    })
    assert.equal(
      new X509Certificate(named.serving.certificatePem).checkHost('other.example'),
      'other.example',
    )
    assert.equal(named.admin.certificatePem, renewed.admin.certificatePem)
  })
})

test('the kubeconfig holds server, authority and client', () => {
  const client = { certificatePem: 'C', privateKeyPem: 'K' }
  const config = parse(
    kubeconfigText({ server: 'https://127.0.0.1:6443', authorityPem: 'A', client }),
  )
  assert.equal(config['current-context'], 'gyro')
  assert.deepEqual(config.clusters[0].cluster, {
    server: 'https://127.0.0.1:6443',
    'certificate-authority-data': 'QQ==',
  })
  assert.deepEqual(config.users[0].user, {
    'client-certificate-data': 'Qw==',
    'client-key-data': 'Sw==',
  })
  assert.deepEqual(config.contexts[0], {
    name: 'gyro',
    context: { cluster: 'gyro', user: 'admin' },
  })
})

test('the kubeconfig holds a token too, for clients that take no certificate', () => {
  const client = { certificatePem: 'C', privateKeyPem: 'K' }
  for (const token of ['t', '1e3', 'a: "b" #c']) {
    const server = 'https://127.0.0.1:6443'
    const config = parse(kubeconfigText({ server, authorityPem: 'A', client, token }))
    assert.deepEqual(config.users[0].user, {
      'client-certificate-data': 'Qw==',
      'client-key-data': 'Sw==',
      token,
    })
  }
})

test('a namespace and names with special characters survive', () => {
  const client = { certificatePem: 'C', privateKeyPem: 'K' }
  const names = { clusterName: 'a: "b"', userName: '#x', namespace: 'team' }
  const config = parse(
    kubeconfigText({ server: 'https://[::1]:6443', authorityPem: 'A', client, ...names }),
  )
  assert.equal(config.users[0].name, '#x')
  assert.deepEqual(config.contexts[0], {
    name: 'a: "b"',
    context: { cluster: 'a: "b"', user: '#x', namespace: 'team' },
  })
})

test('what was written in part is made anew, unless others trust it: then it is told which file', () => {
  const files = memoryFiles()
  const made = (): ReturnType<typeof createClusterCertificates> =>
    createClusterCertificates({ clock: virtualClock(), random: new SeededRandom(1), files })
  const first = made()
  const whole = new Map(files.texts)
  for (const [name, text] of [
    ['pki/apiserver.crt', ''],
    ['pki/apiserver.key', first.admin.privateKeyPem],
    ['pki/admin.crt', whole.get('pki/admin.crt')!.slice(0, 200)],
  ] as const) {
    files.texts.set(name, text)
    assert.equal(made().authority.certificatePem, first.authority.certificatePem)
    assert.notEqual(files.texts.get(name), text, name)
  }
  for (const [name, message] of [
    [
      'pki/ca.crt',
      'pki/ca.crt and pki/ca.key: tls: failed to find any PEM data in certificate input',
    ],
    [
      'pki/front-proxy-ca.key',
      'pki/front-proxy-ca.crt and pki/front-proxy-ca.key: tls: failed to find any PEM data in key input',
    ],
    ['pki/sa.key', 'pki/sa.key: it holds no private key'],
  ] as const) {
    files.texts.set(name, '')
    assert.throws(made, { message })
    files.texts.set(name, whole.get(name)!)
  }
})

test('a lost key is told of and never replaced; a certificate that was not written yet is made of its key', () => {
  const files = memoryFiles()
  const made = (): ReturnType<typeof createClusterCertificates> =>
    createClusterCertificates({ clock: virtualClock(), random: new SeededRandom(1), files })
  made()
  const whole = new Map(files.texts)
  for (const [name, publicName] of [
    ['pki/ca.key', 'pki/ca.crt'],
    ['pki/front-proxy-ca.key', 'pki/front-proxy-ca.crt'],
    ['pki/sa.key', 'pki/sa.pub'],
  ] as const) {
    files.texts.delete(name)
    assert.throws(made, { message: `${publicName} is there, and ${name} is not` })
    assert.equal(files.texts.get(publicName), whole.get(publicName))
    files.texts.set(name, whole.get(name)!)
    files.texts.delete(publicName)
    made()
    assert.equal(files.texts.get(name), whole.get(name))
    assert.ok(files.texts.has(publicName), publicName)
  }
  const leaf = new X509Certificate(whole.get('pki/admin.crt')!)
  assert.ok(leaf.checkIssued(new X509Certificate(files.texts.get('pki/ca.crt')!)))
})
