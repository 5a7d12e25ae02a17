import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { connect } from 'node:tls'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  generateKeyPair,
  issueCertificate,
  privateKeyPem,
} from '../../packages/foundation/src/x509/index.ts'
import { freePort } from './free-port.ts'
import { eventually, finished, repository, startGyro } from './gyro-process.ts'
import type { GyroProcess } from './gyro-process.ts'
import { startManager } from './manager-process.ts'
import type { ManagerProcess } from './manager-process.ts'

let gyro: GyroProcess
let folder: string
const started: ManagerProcess[] = []

before(async () => {
  gyro = await startGyro(['--components=api-server'])
  folder = mkdtempSync(join(tmpdir(), 'gyro-manager-'))
})
after(async () => {
  for (const { process } of started) process.kill('SIGKILL')
  await gyro.stop()
  rmSync(folder, { recursive: true, force: true })
})

let leases = 0
/** Each manager has a lease of its own unless told otherwise, and a free port. */
async function manager(...args: string[]): Promise<ManagerProcess> {
  const running = startManager([
    `--secure-port=${await freePort()}`,
    `--kubeconfig=${gyro.kubeconfig}`,
    `--authentication-kubeconfig=${gyro.kubeconfig}`,
    `--authorization-kubeconfig=${gyro.kubeconfig}`,
    `--leader-elect-resource-name=manager-${++leases}`,
    '--controllers=namespace,garbagecollector',
    ...args,
  ])
  started.push(running)
  return running
}

const leading = (running: ManagerProcess) => running.logged('Successfully acquired lease')

function holder(lease: string): string {
  return gyro.ok(
    'get',
    'lease',
    '-n',
    'kube-system',
    lease,
    '-o',
    'jsonpath={.spec.holderIdentity}',
  )
}

test("kubeadm's arguments are accepted, and RBAC decides who sees what", async () => {
  const authority = certificateAuthority()
  const caFile = join(folder, 'ca.crt')
  writeFileSync(caFile, authority.pem)
  const caKeyFile = join(folder, 'ca.key')
  writeFileSync(caKeyFile, authority.keyPem)
  const keyFile = join(folder, 'sa.key')
  writeFileSync(keyFile, privateKeyPem(generateKeyPair().privateKey))
  const running = await manager(
    '--allocate-node-cidrs=true',
    `--client-ca-file=${caFile}`,
    '--cluster-cidr=10.244.0.0/16',
    '--cluster-name=kubernetes',
    `--cluster-signing-cert-file=${caFile}`,
    `--cluster-signing-key-file=${caKeyFile}`,
    `--controllers=*,bootstrapsigner,tokencleaner`,
    '--leader-elect=true',
    `--requestheader-client-ca-file=${caFile}`,
    `--root-ca-file=${caFile}`,
    `--service-account-private-key-file=${keyFile}`,
    '--service-cluster-ip-range=10.96.0.0/12',
    '--use-service-account-credentials=true',
    `--cert-dir=${join(folder, 'certs')}`,
  )
  await leading(running)
  assert.deepEqual(await running.get('/healthz'), { status: 200, body: 'ok' })
  assert.equal((await running.get('/metrics')).status, 403)
  assert.equal((await running.get('/metrics', { token: 'unknown' })).status, 401)

  gyro.ok('create', 'serviceaccount', 'scraper')
  const token = gyro.ok('create', 'token', 'scraper').trim()
  assert.equal((await running.get('/configz', { token })).status, 403)
  gyro.ok('create', 'clusterrole', 'scraper', '--verb=get', '--non-resource-url=/metrics')
  gyro.ok(
    'create',
    'clusterrolebinding',
    'scraper',
    '--clusterrole=scraper',
    '--serviceaccount=default:scraper',
  )
  const metrics = await running.get('/metrics', { token })
  assert.equal(metrics.status, 200)
  assert.match(metrics.body, /^informer_queued_items\{.*name="kube-controller-manager"/m)
  assert.match(metrics.body, /^kubernetes_build_info\{.*minor="36"/m)

  const admin = authority.client('admin', ['system:masters'])
  assert.equal((await running.get('/configz', admin)).status, 200)
  const slis = await running.get('/metrics/slis', admin)
  assert.match(slis.body, /^# HELP process_start_time_seconds \[ALPHA\] .*\n.*\n.* [\d.e+]+$/m)
  const graph = await running.get('/debug/controllers/garbage-collector-controller/graph', admin)
  assert.match(graph.body, /^strict digraph/)
  const stranger = certificateAuthority().client('admin', ['system:masters'])
  assert.equal((await running.get('/configz', stranger)).status, 401)
  assert.equal(statSync(join(folder, 'certs/kube-controller-manager.key')).mode & 0o777, 0o600)
  assert.match(
    readFileSync(join(folder, 'certs/kube-controller-manager.crt'), 'utf8'),
    /BEGIN CERT/,
  )
  running.process.kill('SIGKILL')
})

test('without election SIGTERM stops the loops and exits 0', async () => {
  const running = await manager('--leader-elect=false', '--v=1')
  await running.logged('"Controller starting" controller="namespace-controller"')
  running.process.kill('SIGTERM')
  assert.equal(await running.ended, 0)
  assert.ok(running.log.some((line) => line.includes('"Controller terminated"')))
})

test('with nothing to run it runs all the same, and SIGTERM ends it in order and at once', async () => {
  for (const port of ['--secure-port=0', `--secure-port=${await freePort()}`]) {
    const running = await manager('--leader-elect=false', '--controllers=-namespace', port)
    // The last name of the list: nothing is logged after it.
    await running.logged('controller is disabled" controller="selinux-warning-controller"')
    const alive = await Promise.race([running.ended, sleep(500, 'alive')])
    assert.equal(alive, 'alive')
    const signalledMs = performance.now()
    running.process.kill('SIGTERM')
    assert.equal(await running.ended, 0)
    assert.ok(performance.now() - signalledMs < 1_000)
  }
})

test('with election SIGTERM exits 1 and leaves the lease, with the release gate 0 and frees it', async () => {
  const gate = '--feature-gates=ControllerManagerReleaseLeaderElectionLockOnExit=true'
  const [keeping, releasing] = [await manager(), await manager(gate)]
  const [kept, released] = [`manager-${leases - 1}`, `manager-${leases}`]
  await Promise.all([leading(keeping), leading(releasing)])
  const signalledMs = performance.now()
  for (const { process } of [keeping, releasing]) process.kill('SIGTERM')
  assert.equal(await keeping.ended, 1)
  assert.equal(await releasing.ended, 0)
  assert.ok(performance.now() - signalledMs < 1_000)
  assert.match(keeping.log.join('\n'), /leaderelection lost/)
  assert.match(holder(kept), /_/)
  assert.equal(holder(released), '')
})

test('with leader migration two leases are held, and both are freed at the end', async () => {
  const file = join(folder, 'migration.yaml')
  writeFileSync(
    file,
    `apiVersion: controllermanager.config.k8s.io/v1
kind: LeaderMigrationConfiguration
leaderName: migration
controllerLeaders: [{ name: namespace-controller, component: '*' }]
`,
  )
  const running = await manager(
    '--enable-leader-migration',
    `--leader-migration-config=${file}`,
    '--feature-gates=ControllerManagerReleaseLeaderElectionLockOnExit=true',
    '--v=1',
  )
  await running.logged('"Controller starting" controller="namespace-controller"')
  const main = `manager-${leases}`
  assert.equal(holder(main), holder('migration'))
  assert.match(holder(main), /_/)
  const healthz = await running.get('/healthz?verbose')
  assert.match(healthz.body, /\[\+\]leaderElection ok[^]*\[\+\]namespace-controller ok/)
  running.process.kill('SIGTERM')
  assert.equal(await running.ended, 0)
  assert.deepEqual([holder(main), holder('migration')], ['', ''])
})

test('a second signal ends the process at once, whatever the first one waits for', async () => {
  const running = await manager(
    '--feature-gates=ControllerManagerReleaseLeaderElectionLockOnExit=true',
    '--v=1',
  )
  await running.logged('"Controller starting" controller="namespace-controller"')
  // The lease cannot be given back to a server that does not answer.
  gyro.process.kill('SIGSTOP')
  try {
    running.process.kill('SIGTERM')
    await running.logged('"Controller terminated" controller="namespace-controller"')
    const signalledMs = performance.now()
    running.process.kill('SIGINT')
    assert.equal(await running.ended, 1)
    assert.ok(performance.now() - signalledMs < 2_000)
  } finally {
    gyro.process.kill('SIGCONT')
  }
})

test('answers are not asked for in a packed form', async (t) => {
  const server = createServer()
  t.after(() => server.close())
  const asked = new Promise<IncomingHttpHeaders>((resolve) =>
    server.on('request', ({ headers }, response) => {
      resolve(headers)
      response.writeHead(503).end()
    }),
  )
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const running = startManager([
    '--secure-port=0',
    `--master=http://127.0.0.1:${port}`,
    '--leader-elect=false',
  ])
  started.push(running)
  const headers = await asked
  running.process.kill('SIGKILL')
  await running.ended
  assert.equal(headers['accept-encoding'], undefined)
})

const TOKYO_AHEAD_MS = 9 * 3_600_000

test('what cannot run exits with one line: 1 for options, 2 for durations of the election', async () => {
  const bin = join(repository, 'bin/kube-controller-manager')
  const unknown = finished(bin, ['--nosuch'])
  assert.equal(unknown.code, 1)
  assert.match(unknown.stderr, /^Usage:[\s\S]*\nError: unknown flag: --nosuch\n$/)
  const stray = finished(bin, ['stray'])
  assert.equal(stray.code, 1)
  assert.equal(
    stray.stderr,
    'Error: "kube-controller-manager" does not take any arguments, got ["stray"]\n',
  )
  const controllers = finished(bin, ['--controllers=-*'])
  assert.equal(controllers.code, 1)
  assert.match(
    controllers.stderr,
    /"command failed" err="\\"\*\\" is not in the list of known controllers"\n$/,
  )
  const gate = finished(bin, ['--feature-gates=NoSuch=true'])
  assert.equal(gate.code, 1)
  assert.match(
    gate.stderr,
    /^E\S+ .*\] "command failed" err="unrecognized feature gate: NoSuch"\n$/,
  )
  const before = new Date(Date.now() + TOKYO_AHEAD_MS)
  const flags = finished(bin, ['-v=1', '--kubeconfig=/nowhere'], {
    ...process.env,
    TZ: 'Asia/Tokyo',
  })
  assert.equal(flags.code, 1)
  const [, day, hour] = /^I(\d{4}) (\d\d):.* FLAG: --allocate-node-cidrs="false"$/m.exec(
    flags.stderr,
  )!
  const after = new Date(Date.now() + TOKYO_AHEAD_MS)
  const local = [before, after].map((time) => time.toISOString().replaceAll('-', '').slice(4, 11))
  assert.ok(
    local.includes(`${day}T${hour}`),
    `${day} ${hour} is no local time: ${local.join(', ')}`,
  )
  const { code, stdout } = finished(bin, ['--version'])
  assert.deepEqual([code, stdout], [0, 'Kubernetes v1.36.2\n'])
  const timings = await manager('--leader-elect-renew-deadline=15s')
  assert.equal(await timings.ended, 2)
  assert.match(timings.log.join('\n'), /panic: leaseDuration must be greater than renewDeadline/)
})

test('all flags are logged at -v=1, and what has no effect is said once at -v=2', async () => {
  const running = await manager(
    '--leader-elect=false',
    '--v=2',
    '--cloud-config=/x',
    '--concurrent_rc_syncs=3',
  )
  await running.logged('Serving securely')
  running.process.kill('SIGTERM')
  await running.ended
  const text = running.log.join('\n')
  assert.match(text, /FLAG: --min-resync-period=\\?"12h0m0s/)
  assert.match(text, /FLAG: --concurrent-rc-syncs=\\?"3/)
  assert.equal(text.match(/Flag is accepted without effect" flag="cloud-config"/g)?.length, 1)
})

test('cut off from the server at once, leaders stop and exit 1 by the renew deadline, and a standby stays healthy', async () => {
  const server = await startGyro(['--components=api-server'])
  const timing = [
    `--kubeconfig=${server.kubeconfig}`,
    `--authentication-kubeconfig=${server.kubeconfig}`,
    `--authorization-kubeconfig=${server.kubeconfig}`,
    '--leader-elect-lease-duration=3s',
    '--leader-elect-renew-deadline=2s',
    '--leader-elect-retry-period=500ms',
    '--v=1',
  ]
  const first = await manager(...timing)
  const second = await manager(...timing)
  await Promise.all([leading(first), leading(second)])
  const standby = await manager(...timing, `--leader-elect-resource-name=manager-${leases}`)
  await standby.logged('Attempting to acquire leader lease')
  assert.deepEqual(await standby.get('/healthz'), { status: 200, body: 'ok' })

  await server.stop('SIGKILL')
  const cutMs = performance.now()
  assert.deepEqual(await Promise.all([first.ended, second.ended]), [1, 1])
  // The cut may come just after a renewal: a retry period, then the deadline, then the end of the process.
  assert.ok(performance.now() - cutMs < 2_500 + 1_500)
  for (const { log } of [first, second]) assert.match(log.join('\n'), /leaderelection lost/)
  assert.deepEqual(await standby.get('/healthz'), { status: 200, body: 'ok' })
  assert.doesNotMatch(standby.log.join('\n'), /Successfully acquired lease|Controller starting/)
  standby.process.kill('SIGTERM')
  assert.equal(await standby.ended, 1)
})

test('the HTTPS port shows a certificate that was changed', async () => {
  const certFile = join(folder, 'serving.crt')
  const keyFile = join(folder, 'serving.key')
  const write = (): string => {
    const pair = certificateAuthority().client('serving', [])
    writeFileSync(keyFile, pair.key)
    writeFileSync(certFile, pair.cert)
    return pair.cert
  }
  write()
  const running = await manager(`--tls-cert-file=${certFile}`, `--tls-private-key-file=${keyFile}`)
  await running.port
  write()
  await eventually('the changed certificate', 15_000, () =>
    running.log.find((line) => line.includes('Serving with changed certificates')),
  )
  assert.equal((await running.get('/healthz')).status, 200)
  running.process.kill('SIGKILL')
})

test('a client is shown the certificate of the name it asks for, and the metric filters count', async () => {
  const pair = certificateAuthority().client('named.example', [])
  const [certFile, keyFile] = [join(folder, 'named.crt'), join(folder, 'named.key')]
  writeFileSync(certFile, pair.cert)
  writeFileSync(keyFile, pair.key)
  const running = await manager(
    `--tls-sni-cert-key=${certFile},${keyFile}`,
    '--authorization-always-allow-paths=/metrics',
    '--disabled-metrics=kubernetes_build_info',
    '--allow-metric-labels=kubernetes_feature_enabled,stage=BETA',
  )
  const port = await running.port
  const shown = async (servername: string): Promise<unknown> => {
    const socket = connect({ host: '127.0.0.1', port, servername, rejectUnauthorized: false })
    await once(socket, 'secureConnect')
    const { subject } = socket.getPeerCertificate()
    socket.destroy()
    return subject.CN
  }
  assert.equal(await shown('named.example'), 'named.example')
  assert.equal(await shown('localhost'), 'localhost')
  const { body } = await running.get('/metrics')
  assert.doesNotMatch(body, /kubernetes_build_info/)
  assert.match(body, /^disabled_metrics_total 1$/m)
  assert.match(body, /^kubernetes_feature_enabled\{name="PodDeletionCost",stage="BETA"\} 1$/m)
  assert.match(body, /^kubernetes_feature_enabled\{name="NodeSwap",stage="unexpected"\} 1$/m)
  running.process.kill('SIGKILL')
})

function certificateAuthority() {
  const subject = { commonName: 'test-ca' }
  const { publicKey, privateKey } = generateKeyPair()
  const issuer = { subject, privateKey }
  const nowMs = Date.now()
  const common = {
    serialNumber: Uint8Array.from({ length: 16 }, (_, i) => i + 1),
    notBeforeMs: nowMs - 60_000,
    notAfterMs: nowMs + 3_600_000,
  }
  return {
    pem: issueCertificate({ subject, publicKey, usage: 'authority', ...common }, issuer),
    keyPem: privateKeyPem(privateKey),
    client(commonName: string, organizations: readonly string[]) {
      const key = generateKeyPair()
      const cert = issueCertificate(
        {
          subject: { commonName, organizations },
          publicKey: key.publicKey,
          usage: 'client',
          ...common,
        },
        issuer,
      )
      return { cert, key: privateKeyPem(key.privateKey) }
    },
  }
}
