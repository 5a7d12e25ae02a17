/** Programs of simulated pods that speak TLS with what a Secret of theirs holds: the API server believes them, or does not. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { eventually, startGyro } from './gyro-process.ts'
import type { GyroProcess } from './gyro-process.ts'
import { certificatesOfHook, encoded, hookRegistration, hookService } from './hook.ts'

const certificates = certificatesOfHook()
let gyro: GyroProcess

before(async () => {
  gyro = await startGyro()
})
after(() => gyro.stop())

/** `agnhost webhook` behind Service `hook`, with its certificate in a Secret. */
function serve(): void {
  const { certificatePem, privateKeyPem } = certificates.serving
  gyro.apply({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 'hook' },
    type: 'kubernetes.io/tls',
    data: { 'tls.crt': encoded(certificatePem), 'tls.key': encoded(privateKeyPem) },
  })
  gyro.apply({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'hook', labels: { app: 'hook' } },
    spec: {
      volumes: [{ name: 'tls', secret: { secretName: 'hook' } }],
      containers: [
        {
          name: 'hook',
          image: 'agnhost:2',
          args: [
            'webhook',
            '--tls-cert-file=/tls/tls.crt',
            '--tls-private-key-file=/tls/tls.key',
            '--port=9443',
          ],
          volumeMounts: [{ name: 'tls', mountPath: '/tls' }],
          readinessProbe: { httpGet: { scheme: 'HTTPS', port: 9443, path: '/readyz' } },
        },
      ],
    },
  })
  gyro.apply(hookService)
  gyro.ok('wait', '--for=condition=Ready', 'pod/hook', '--timeout=30s')
}

function register(authorityPem: string): void {
  gyro.apply(hookRegistration('MutatingWebhookConfiguration', '/add-label', authorityPem))
}

async function create(body: object): Promise<string> {
  const path = '/api/v1/namespaces/default/configmaps'
  const answer = await gyro.request(path, { method: 'POST', body })
  return answer.body.message ?? JSON.stringify(answer.body.metadata.labels)
}

test('a webhook in a simulated pod is believed for the certificate of its Secret, by who trusts its authority', async () => {
  serve()
  register(certificates.authority.certificatePem)
  const named = (name: string) => ({ metadata: { name } })
  const told = await eventually('a label', 15_000, async () => {
    const answer = await create({ metadata: { generateName: 'x-' } })
    return answer.includes('added-label') ? answer : undefined
  })
  assert.equal(told, '{"added-label":"yes"}')
  // What a webhook has to judge may be large, and in any letters.
  const large = { ...named('large'), data: { text: 'é'.repeat(200_000) } }
  assert.equal(await create(large), '{"added-label":"yes"}')

  register(certificatesOfHook().authority.certificatePem)
  const refusal = await eventually('a refusal', 15_000, async () => {
    const answer = await create({ metadata: { generateName: 'x-' } })
    return answer.includes('failed') ? answer : undefined
  })
  assert.match(refusal, /tls: failed to verify certificate: x509: certificate signed by unknown/)
  gyro.ok('delete', 'mutatingwebhookconfiguration', 'hook')
})

test('porter speaks TLS at ports that its environment names, with the certificate that its image has', async () => {
  gyro.apply({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'porter' },
    spec: {
      containers: [
        {
          name: 'c',
          image: 'agnhost:2',
          args: ['porter'],
          env: [
            { name: 'SERVE_TLS_PORT_443', value: '<a href="/x">secret</a>' },
            { name: 'SERVE_PORT_80', value: 'open' },
          ],
        },
      ],
    },
  })
  gyro.ok('wait', '--for=condition=Ready', 'pod/porter', '--timeout=30s')
  const read = (pod: string): string => {
    const path = `/api/v1/namespaces/default/pods/${pod}/proxy/`
    const { stdout, stderr } = gyro.kubectl('get', '--raw', path)
    return stdout || stderr
  }
  const secret = '/api/v1/namespaces/default/pods/https:porter:443/proxy/x'
  assert.equal(read('https:porter:443'), `<a href="${secret}">secret</a>`)
  assert.equal(read('porter:80'), 'open')
  // Whoever does not speak TLS is not answered, and whoever does is not understood elsewhere.
  assert.match(read('porter:443'), /error trying to reach service/)
  assert.match(read('https:porter:80'), /error trying to reach service/)
})

test('a hook reaches by https who speaks TLS', async () => {
  const pod = (name: string, container: object): object => ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name },
    spec: { containers: [{ name: 'c', image: 'agnhost:2', ...container }] },
  })
  const args = [
    'netexec',
    '--http-port=9090',
    '--tls-cert-file=/localhost.crt',
    '--tls-private-key-file=/localhost.key',
  ]
  gyro.apply(pod('asked', { args }))
  gyro.ok('wait', '--for=condition=Ready', 'pod/asked', '--timeout=30s')
  const { podIP: host } = gyro.json('get', 'pod', 'asked').status
  const httpGet = { scheme: 'HTTPS', host, port: 9090, path: '/echo?msg=hook' }
  gyro.apply(pod('asks', { args: ['pause'], lifecycle: { postStart: { httpGet } } }))
  gyro.ok('wait', '--for=condition=Ready', 'pod/asks', '--timeout=30s')
  assert.match(gyro.ok('logs', 'asked'), /GET \/echo\?msg=hook\n/)
})
