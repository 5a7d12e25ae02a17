/**
 * A test harness as controller-runtime's envtest is one: it looks for three programs in a folder, reads the flags that they
 * print, starts etcd and kube-apiserver with certificates that it made, asks until they are ready, and ends them with SIGTERM.
 */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { generateKeyPairSync } from 'node:crypto'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { request as httpsRequest } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { createClusterCertificates } from '@gyropilot/api-server'
import type { ClusterCertificates } from '@gyropilot/api-server'
import { SystemClock, SystemRandom } from '@gyropilot/foundation'
import { freePort } from './free-port.ts'
import { finished, kubectlBinary, repository } from './gyro-process.ts'
import { startCommand } from './running-command.ts'
import type { Running } from './running-command.ts'

let folder: string
let assets: string

before(() => {
  folder = mkdtempSync(join(tmpdir(), 'envtest-'))
  const args = ['envtest', `--dir=${join(folder, 'assets')}`, `--kubectl=${kubectlBinaryPath()}`]
  const made = finished(join(repository, 'bin/gyro'), args)
  assert.equal(made.code, 0, made.stderr)
  assets = made.stdout.trimEnd()
  assert.equal(assets, join(folder, 'assets'))
})
after(() => rmSync(folder, { recursive: true, force: true }))

function kubectlBinaryPath(): string {
  return finished('sh', ['-c', `command -v '${kubectlBinary}'`]).stdout.trim()
}

const program = (name: string): string => join(assets, name)

interface Harness {
  readonly server: string
  readonly apiServer: Running
  readonly kubectl: (...args: readonly string[]) => string
}

async function startApiServer(
  more: readonly string[] = [],
  environment: NodeJS.ProcessEnv = {},
): Promise<Harness> {
  const directory = mkdtempSync(join(folder, 'certificates-'))
  const made = createClusterCertificates({ clock: new SystemClock(), random: new SystemRandom() })
  const signer = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const write = (name: string, text: string | Buffer): string => {
    writeFileSync(join(directory, name), text)
    return join(directory, name)
  }
  write('apiserver.crt', made.serving.certificatePem)
  write('apiserver.key', made.serving.privateKeyPem)
  const port = await freePort()
  const server = `https://127.0.0.1:${port}`
  const apiServer = startCommand(
    program('kube-apiserver'),
    [
      '--allow-privileged=true',
      '--authorization-mode=RBAC',
      '--bind-address=127.0.0.1',
      `--cert-dir=${directory}`,
      `--client-ca-file=${write('client-cert-auth-ca.crt', made.authority.certificatePem)}`,
      '--disable-admission-plugins=ServiceAccount',
      '--etcd-servers=http://127.0.0.1:1',
      `--secure-port=${port}`,
      `--service-account-issuer=${server}/`,
      `--service-account-key-file=${write('sa-signer.pub', signer.publicKey.export({ type: 'spki', format: 'pem' }))}`,
      `--service-account-signing-key-file=${write('sa-signer.key', signer.privateKey.export({ type: 'pkcs8', format: 'pem' }))}`,
      '--service-cluster-ip-range=10.0.0.0/24',
      ...more,
    ],
    { ...process.env, ...environment },
  )
  const kubeconfig = write('kubeconfig', kubeconfigOf(server, made))
  await ready(server, made.authority.certificatePem, apiServer)
  return {
    server,
    apiServer,
    kubectl: (...args) => {
      const run = finished(program('kubectl'), ['--kubeconfig', kubeconfig, ...args])
      assert.equal(run.code, 0, run.stderr)
      return run.stdout
    },
  }
}

function kubeconfigOf(server: string, { authority, issueClient }: ClusterCertificates): string {
  const client = issueClient({ commonName: 'admin', organizations: ['system:masters'] })
  const encoded = (pem: string): string => Buffer.from(pem).toString('base64')
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'a',
    clusters: [
      {
        name: 'a',
        cluster: { server, 'certificate-authority-data': encoded(authority.certificatePem) },
      },
    ],
    users: [
      {
        name: 'a',
        user: {
          'client-certificate-data': encoded(client.certificatePem),
          'client-key-data': encoded(client.privateKeyPem),
        },
      },
    ],
    contexts: [{ name: 'a', context: { cluster: 'a', user: 'a' } }],
  })
}

function statusOf(url: string, ca: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const asked = httpsRequest(url, { ca }, (answer) => {
      answer.resume()
      resolve(answer.statusCode ?? 0)
    })
    asked.on('error', reject)
    asked.end()
  })
}

/** Harnesses ask again and again, and give up when the program has ended. */
async function ready(server: string, ca: string, { ended }: Running): Promise<void> {
  let over: string | undefined
  void ended.then(({ code, stderr }) => (over = `ended with ${code}: ${stderr}`))
  for (let tries = 0; tries < 600; tries++) {
    assert.equal(over, undefined)
    const status = await statusOf(`${server}/readyz`, ca).catch(() => 0)
    if (status === 200) return
    await pause(25)
  }
  assert.fail('not ready within 15 s')
}

async function end({ child, ended }: Running): Promise<number> {
  const startedMs = performance.now()
  child.kill('SIGTERM')
  assert.equal((await ended).code, 0)
  return performance.now() - startedMs
}

test('the programs print their flags: what harnesses look for is there, what is gone upstream is not', () => {
  const etcd = finished(program('etcd'), ['--help'])
  assert.match(etcd.stdout, /^\s*--unsafe-no-fsync\b/m)
  const apiServer = finished(program('kube-apiserver'), ['--help'])
  assert.match(apiServer.stdout, /^\s*--secure-port\b/m)
  assert.doesNotMatch(apiServer.stdout, /insecure-port/)
  assert.deepEqual([etcd.code, apiServer.code], [0, 0])
  assert.equal(finished(program('kube-apiserver'), ['--version']).stdout, 'Kubernetes v1.36.2\n')
})

test('etcd is healthy, ends at once, and says why it cannot listen', async () => {
  const port = await freePort()
  const urls = [
    `--advertise-client-urls=http://127.0.0.1:${port}`,
    `--listen-client-urls=http://127.0.0.1:${port}`,
  ]
  const etcd = startCommand(program('etcd'), [...urls, '--data-dir=/nowhere'], process.env)
  await untilHealth(port, true)
  const answers = await Promise.all(
    ['/version', '/health?serializable=true', '/nothing', '/constructor'].map((path) =>
      fetch(`http://127.0.0.1:${port}${path}`),
    ),
  )
  assert.deepEqual(
    answers.map(({ status }) => status),
    [200, 200, 404, 404],
  )
  assert.deepEqual(await answers[0]!.json(), { etcdserver: '3.6.0', etcdcluster: '3.6.0' })
  const second = finished(program('etcd'), urls)
  assert.equal(second.code, 1)
  assert.match(second.stderr, /^etcd: listen EADDRINUSE.*\n$/)
  await end(etcd)
  const wrong = finished(program('etcd'), ['--listen-client-urls=nowhere'])
  assert.equal(wrong.stderr, 'etcd: --listen-client-urls=nowhere is not an http:// address\n')
})

test('etcd takes its flags as Go reads them: one dash or two, the last one counts', async (t) => {
  const ports = [await freePort(), await freePort()]
  const etcd = startCommand(
    program('etcd'),
    [
      '-data-dir',
      '/nowhere',
      `--listen-client-urls=http://127.0.0.1:${ports[0]}`,
      '-listen-client-urls',
      `http://127.0.0.1:${ports[1]}`,
    ],
    process.env,
  )
  t.after(() => etcd.child.kill())
  await untilHealth(ports[1]!, true)
  await end(etcd)
})

test('a harness starts the API server, uses it as its own user, and ends it at once', async () => {
  const { kubectl, apiServer, server } = await startApiServer()
  assert.match(kubectl('get', 'namespaces'), /default\s+Active/)
  writeFileSync(join(folder, 'crd.json'), JSON.stringify(crd))
  kubectl('apply', '-f', join(folder, 'crd.json'))
  kubectl('wait', '--for=condition=Established', 'crd/widgets.example.com', '--timeout=10s')
  kubectl('create', 'namespace', 'suite')
  kubectl('-n', 'suite', 'run', 'pod', '--image=nginx')
  // Nobody makes service accounts here, and the plug-in that would wait for one is off.
  assert.equal(
    kubectl('-n', 'suite', 'get', 'pod', 'pod', '-o', 'jsonpath={.status.phase}'),
    'Pending',
  )
  assert.match(kubectl('-n', 'suite', 'create', 'serviceaccount', 'robot'), /created/)
  const token = kubectl('-n', 'suite', 'create', 'token', 'robot')
  const [, claims = ''] = token.split('.')
  assert.equal(JSON.parse(Buffer.from(claims, 'base64url').toString()).iss, `${server}/`)
  const cluster = kubectl('get', 'service', 'kubernetes', '-o', 'jsonpath={.spec.clusterIP}')
  assert.equal(cluster, '10.0.0.1')
  assert.ok((await end(apiServer)) < 2_000)
})

test('without files for serving they are made in the folder of certificates', async () => {
  const directory = join(folder, 'made', 'certificates')
  mkdirSync(join(folder, 'made'))
  const key = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const pem = join(folder, 'signer.key')
  writeFileSync(pem, key.privateKey.export({ type: 'pkcs8', format: 'pem' }))
  const port = await freePort()
  const apiServer = startCommand(
    program('kube-apiserver'),
    [
      '--etcd-servers=http://127.0.0.1:1',
      `--cert-dir=${directory}`,
      '--bind-address=127.0.0.1',
      `--secure-port=${port}`,
      '--service-account-issuer=https://a',
      `--service-account-key-file=${pem}`,
      `--service-account-signing-key-file=${pem}`,
    ],
    process.env,
  )
  let status = 0
  for (let tries = 0; status !== 200 && tries < 600; tries++) {
    await pause(25)
    // Without --authorization-mode everybody may do everything.
    status = await statusOf(
      `https://127.0.0.1:${port}/api/v1/nodes`,
      readable(join(directory, 'apiserver.crt')),
    ).catch(() => 0)
  }
  assert.equal(readable(join(directory, 'apiserver.key')).includes('PRIVATE KEY'), true)
  await end(apiServer)
  assert.notEqual(status, 0)
})

function readable(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}

test('with GYRO_CONTROLLERS a Deployment comes up, its pods go with it, and a namespace ends', async () => {
  const environment = { GYRO_CONTROLLERS: '*' }
  const both = '--service-cluster-ip-range=10.0.0.0/24,fd00:10::/112'
  const { kubectl, apiServer } = await startApiServer([both], environment)
  kubectl('create', 'namespace', 'suite')
  kubectl('-n', 'suite', 'create', 'deployment', 'web', '--image=nginx', '--replicas=2')
  kubectl('-n', 'suite', 'rollout', 'status', 'deployment/web', '--timeout=20s')
  const addresses = '-o=jsonpath={.items[0].status.podIPs[*].ip}'
  assert.match(kubectl('-n', 'suite', 'get', 'pods', addresses), /^10\.[\d.]+ fd00:[\da-f:]+$/)
  kubectl('-n', 'suite', 'delete', 'deployment', 'web', '--cascade=foreground', '--timeout=20s')
  assert.equal(kubectl('-n', 'suite', 'get', 'replicasets', '-o', 'name'), '')
  kubectl('delete', 'namespace', 'suite', '--timeout=20s')
  await end(apiServer)
})

test('both end when the one that started them is gone', async () => {
  const port = await freePort()
  const script = `'${program('etcd')}' --listen-client-urls=http://127.0.0.1:${port} & wait`
  const shell = spawn('sh', ['-c', script], { stdio: 'ignore' })
  await untilHealth(port, true)
  // As when a test run panics: nobody tells the children.
  shell.kill('SIGKILL')
  await untilHealth(port, false)
})

async function untilHealth(port: number, wanted: boolean): Promise<void> {
  const health = (): Promise<boolean> =>
    fetch(`http://127.0.0.1:${port}/health`).then(
      async (answer) => (await answer.text()) === '{"health":"true","reason":""}',
      () => false,
    )
  for (let tries = 0; (await health()) !== wanted; tries++) {
    assert.ok(tries < 600, `health is still ${!wanted}`)
    await pause(25)
  }
}

test('what cannot be used is one line with exit code 1', () => {
  const good = ['--etcd-servers=http://a', '--service-account-issuer=https://a']
  const keys = ['--service-account-key-file=/nope', '--service-account-signing-key-file=/nope']
  for (const [args, expected] of [
    [['--bogus'], 'Error: unknown flag: --bogus\n'],
    [[...good], /^Error: \[--service-account-signing-key-file is a required flag, .*\]\n$/],
    [[...good, ...keys], 'Error: open /nope: no such file or directory\n'],
  ] as const) {
    const { code, stderr, stdout } = finished(program('kube-apiserver'), args)
    assert.equal(code, 1)
    assert.equal(stdout, '')
    if (typeof expected === 'string') assert.equal(stderr, expected)
    else assert.match(stderr, expected)
  }
  const gyro = join(repository, 'bin/gyro')
  writeFileSync(join(folder, 'file'), '')
  const refused = finished(gyro, ['envtest', `--dir=${join(folder, 'file', 'x')}`])
  assert.match(
    refused.stderr,
    /^gyro: cannot write the programs: .*x: a part of its path is a file, not a folder: choose another folder with --dir\n$/,
  )
  assert.equal(refused.code, 1)
  assert.equal(
    finished(gyro, ['envtest', '--kubectl=/nope']).stderr,
    'gyro: --kubectl=/nope is not a program\n',
  )
})

const crd = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'widgets.example.com' },
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names: { plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'WidgetList' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: 'object', properties: { spec: { type: 'object' } } } },
      },
    ],
  },
}
