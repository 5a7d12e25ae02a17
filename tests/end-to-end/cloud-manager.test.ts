import assert from 'node:assert/strict'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { spawnSync } from 'node:child_process'
import { after, before, test } from 'node:test'
import { repository, startGyro } from './gyro-process.ts'
import type { GyroProcess } from './gyro-process.ts'
import { startManager } from './manager-process.ts'
import type { ManagerProcess } from './manager-process.ts'

const PROGRAM = [process.execPath, join(import.meta.dirname, 'fake-cloud-manager.ts')]
const TAINT = 'node.cloudprovider.kubernetes.io/uninitialized'

let gyro: GyroProcess
let folder: string
const started: ManagerProcess[] = []

before(async () => {
  gyro = await startGyro(['--components=api-server'])
  folder = mkdtempSync(join(tmpdir(), 'gyro-cloud-'))
})
after(async () => {
  for (const { process: running } of started) running.kill('SIGKILL')
  await gyro.stop()
  rmSync(folder, { recursive: true, force: true })
})

async function cloudManager(...args: readonly string[]): Promise<ManagerProcess> {
  const running = startManager(
    [
      '--cloud-provider=fake',
      `--secure-port=${await freePort()}`,
      `--kubeconfig=${gyro.kubeconfig}`,
      `--authentication-kubeconfig=${gyro.kubeconfig}`,
      `--authorization-kubeconfig=${gyro.kubeconfig}`,
      ...args,
    ],
    PROGRAM,
  )
  started.push(running)
  return running
}

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo
      server.close(() => resolve(port))
    })
  })
}

function node(name: string): object {
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name },
    spec: {
      podCIDRs: ['10.244.7.0/24'],
      podCIDR: '10.244.7.0/24',
      taints: [{ key: TAINT, value: 'true', effect: 'NoSchedule' }],
    },
  }
}

const MOVED = 'Successfully acquired lease" lock="kube-system/moving"'

const holder = (lease: string): string =>
  gyro.kubectl('get', 'lease', '-n', 'kube-system', lease, '-o', 'jsonpath={.spec.holderIdentity}')
    .stdout

test('Given a node registered with the uninitialized taint, then a running cloud-controller-manager removes it', async () => {
  const running = await cloudManager(
    '--cluster-cidr=10.244.0.0/16',
    '--use-service-account-credentials',
    '--controllers=*,-nodeipam',
    '--node-monitor-period=300ms',
    '--route-reconciliation-period=300ms',
    '--webhook-secure-port=0',
    '-v=2',
  )
  await running.logged('Successfully acquired lease')
  gyro.apply(node('n1'))
  const [ready] = await gyro.until('the node is initialised', 20_000, '/api/v1/nodes', (nodes) => {
    const found = nodes.find(({ metadata }) => metadata.name === 'n1')
    const available = found?.status?.conditions?.some(
      (condition: { type: string; status: string }) =>
        condition.type === 'NetworkUnavailable' && condition.status === 'False',
    )
    const waits = found?.spec.taints?.some(({ key }: { key: string }) => key === TAINT) ?? true
    // Addresses come in a write of their own.
    const isAddressed = found?.status?.addresses !== undefined
    return !waits && available && isAddressed ? [found] : undefined
  })
  assert.equal(ready.spec.providerID, 'fake://n1')
  assert.equal(ready.metadata.labels['topology.kubernetes.io/zone'], 'zone-a')
  assert.deepEqual(ready.status.addresses, [{ type: 'ExternalIP', address: '203.0.113.200' }])

  gyro.ok('create', 'service', 'loadbalancer', 'web', '--tcp=80')
  const service = await gyro.until('the balancer', 20_000, '/api/v1/services', (services) =>
    services.find((found) => found.status.loadBalancer.ingress !== undefined),
  )
  assert.deepEqual(service.status.loadBalancer.ingress, [{ ip: '203.0.113.1', ipMode: 'VIP' }])
  assert.deepEqual(service.metadata.finalizers, ['service.kubernetes.io/load-balancer-cleanup'])
  gyro.ok('delete', 'service', 'web')

  gyro.apply(node('gone-1'))
  await gyro.until('the node without a machine is deleted', 20_000, '/api/v1/nodes', (nodes) =>
    nodes.every(({ metadata }) => metadata.name !== 'gone-1') ? true : undefined,
  )
  assert.deepEqual(await running.get('/healthz'), { status: 200, body: 'ok' })
  assert.equal((await running.get('/healthz/leaderElection')).status, 403)
  const checks = (await running.get('/healthz?verbose')).body
  for (const name of ['leaderElection', 'cloud-node-controller', 'service-lb-controller'])
    assert.match(checks, new RegExp(`\\[\\+\\]${name} ok`))
  running.process.kill('SIGTERM')
  assert.equal(await running.ended, 1)
})

test('a standby replica serves health and initialises no provider, and takes over', async () => {
  const election = [
    '--leader-elect-lease-duration=1500ms',
    '--leader-elect-renew-deadline=1s',
    '--leader-elect-retry-period=200ms',
    '--leader-elect-resource-name=standby',
    '--controllers=cloud-node',
    '--webhook-secure-port=0',
    '-v=2',
  ]
  const first = await cloudManager(...election)
  await first.logged('Controller starting')
  const second = await cloudManager(...election)
  await second.logged('Attempting to acquire')
  assert.equal((await second.get('/healthz')).status, 200)
  first.process.kill('SIGKILL')
  await second.logged('Controller starting')
})

test('the lock of a migration moves loops from kube-controller-manager to the cloud’s, and back', async () => {
  const config = join(folder, 'migration.yaml')
  writeFileSync(
    config,
    `apiVersion: controllermanager.config.k8s.io/v1
kind: LeaderMigrationConfiguration
leaderName: moving
controllerLeaders:
  - { name: cloud-node-lifecycle-controller, component: '*' }
`,
  )
  const migrating = [
    '--enable-leader-migration',
    `--leader-migration-config=${config}`,
    '--leader-elect-lease-duration=1500ms',
    '--leader-elect-renew-deadline=1s',
    '--leader-elect-retry-period=200ms',
  ]
  const kube = async (): Promise<ManagerProcess> => {
    const running = startManager([
      `--secure-port=${await freePort()}`,
      `--kubeconfig=${gyro.kubeconfig}`,
      '--controllers=cloud-node-lifecycle,ttl',
      ...migrating,
    ])
    started.push(running)
    return running
  }
  const before = await kube()
  await before.logged(MOVED)
  const ofKube = holder('moving')
  assert.notEqual(ofKube, '')
  const cloud = await cloudManager(
    ...migrating,
    '--leader-elect-resource-name=migrating-cloud',
    '--controllers=cloud-node-lifecycle,cloud-node',
    '--webhook-secure-port=0',
    '-v=2',
  )
  await cloud.logged('Controller starting')
  assert.equal(holder('moving'), ofKube)
  assert.ok(!cloud.log.some((line) => /Controller starting.*cloud-node-lifecycle/.test(line)))
  before.process.kill('SIGKILL')
  await cloud.logged('controller="cloud-node-lifecycle-controller"')
  assert.notEqual(holder('moving'), ofKube)
  const after = await kube()
  cloud.process.kill('SIGKILL')
  await after.logged(MOVED)
})

test('the binary without its provider tells the names, and exits with 1', () => {
  const binary = join(repository, 'bin/cloud-controller-manager')
  const run = (...args: readonly string[]) => spawnSync(binary, args, { encoding: 'utf8' })
  const none = run()
  assert.equal(none.status, 1)
  assert.match(none.stderr, /--cloud-provider cannot be empty/)
  const external = run('--cloud-provider=external')
  assert.equal(external.status, 1)
  assert.match(external.stderr, /unknown cloud provider \\"external\\"/)
  assert.equal(run('stray').status, 1)
  assert.match(run('--help').stdout, /Cloud providers of this program/)
})
