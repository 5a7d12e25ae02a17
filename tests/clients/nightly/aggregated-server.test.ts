/** An API server made of k8s.io/apiserver, as people aggregate them, behind one `gyro up`. */
import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import type { TestContext } from 'node:test'
import { freePort } from '../../end-to-end/free-port.ts'
import { eventually, startGyro } from '../../end-to-end/gyro-process.ts'
import type { GyroProcess } from '../../end-to-end/gyro-process.ts'
import { startCommand } from '../../end-to-end/running-command.ts'
import type { Running } from '../../end-to-end/running-command.ts'
import { findClient } from '../client-process.ts'
import { goProgram } from '../go-program.ts'

const GROUP = 'fleet.example.com'
const SHIP = { apiVersion: `${GROUP}/v1`, kind: 'Ship' }

interface Fleet {
  readonly gyro: GyroProcess
  /** The APIService of a group that the server has. */
  serves(group: string, version: string): void
  becomes(status: 'true' | 'false'): void
  start(): Promise<void>
  stop(): Promise<void>
}

/** The server behind a Service of type ExternalName, told of the cluster by its kubeconfig alone. */
async function fleetServer(t: TestContext): Promise<Fleet> {
  const folder = mkdtempSync(join(tmpdir(), 'aggregated-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const program = await goProgram('go-api-server', 'aggregated-server', folder)
  const gyro = await startGyro()
  t.after(() => gyro.stop())
  const [clientPort, peerPort, port] = [await freePort(), await freePort(), await freePort()]
  const [client, peer] = [clientPort, peerPort].map((each) => `http://127.0.0.1:${each}`)
  const etcd = startCommand(
    findClient('etcd'),
    [
      '--unsafe-no-fsync',
      `--data-dir=${join(folder, 'etcd')}`,
      `--listen-client-urls=${client}`,
      `--advertise-client-urls=${client}`,
      `--listen-peer-urls=${peer}`,
      `--initial-advertise-peer-urls=${peer}`,
      `--initial-cluster=default=${peer}`,
    ],
    process.env,
  )
  const kubeconfigs = ['kubeconfig', 'authentication-kubeconfig', 'authorization-kubeconfig']
  const certificates = join(folder, 'certificates')
  const args = [
    `--etcd-servers=${client}`,
    ...kubeconfigs.map((flag) => `--${flag}=${gyro.kubeconfig}`),
    '--bind-address=127.0.0.1',
    `--secure-port=${port}`,
    `--cert-dir=${certificates}`,
  ]
  let server: Running | undefined
  const stop = async (): Promise<void> => {
    server?.child.kill('SIGTERM')
    await server?.ended
  }
  t.after(async () => {
    await stop()
    etcd.child.kill('SIGTERM')
    await etcd.ended
  })
  gyro.apply({
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'fleet' },
    spec: { type: 'ExternalName', externalName: 'localhost' },
  })
  return {
    gyro,
    serves(group, version) {
      gyro.apply({
        apiVersion: 'apiregistration.k8s.io/v1',
        kind: 'APIService',
        metadata: { name: `${version}.${group}` },
        spec: {
          group,
          version,
          groupPriorityMinimum: 1000,
          versionPriority: 15,
          caBundle: readFileSync(join(certificates, 'apiserver.crt')).toString('base64'),
          service: { name: 'fleet', namespace: 'default', port },
        },
      })
    },
    becomes(status) {
      const condition = `--for=condition=Available=${status}`
      gyro.ok('wait', condition, `apiservice/v1.${GROUP}`, '--timeout=60s')
    },
    async start() {
      server = startCommand(program, args, process.env)
      await server.said(/Serving securely/)
    },
    stop,
  }
}

test('an aggregated API server in Go is found, used, deleted from, scaled by, and judged by whether it answers', async (t) => {
  const { gyro, serves, becomes, start, stop } = await fleetServer(t)
  await start()
  serves(GROUP, 'v1')
  becomes('true')
  gyro.apply({ ...SHIP, metadata: { name: 'beagle' }, spec: { crew: 5 } })
  gyro.ok('scale', 'ship/beagle', '--replicas=11')
  assert.equal(gyro.json('get', 'sh', 'beagle').spec.crew, 11)
  assert.match(gyro.kubectl('get', 'ships', '--as=bob').stderr, /User "bob" cannot list/)
  const hail = `/apis/${GROUP}/v1/namespaces/default/ships/beagle/hail`
  assert.match(gyro.ok('get', '--raw', hail), /^\S+ hails beagle by GET$/m)
  const { uid } = gyro.json('get', 'ship', 'beagle').metadata
  const ownerReferences = [{ ...SHIP, name: 'beagle', uid }]
  gyro.apply({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'log', ownerReferences } })
  gyro.ok('delete', 'ship', 'beagle')
  gyro.ok('wait', '--for=delete', 'configmap/log', '--timeout=60s')

  // There are 90 waves, and each pod is to have 30.
  serves('external.metrics.k8s.io', 'v1beta1')
  gyro.ok('create', 'deployment', 'surfers', '--image=surfer:1')
  gyro.apply({
    apiVersion: 'autoscaling/v2',
    kind: 'HorizontalPodAutoscaler',
    metadata: { name: 'surfers' },
    spec: {
      scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'surfers' },
      maxReplicas: 5,
      metrics: [
        {
          type: 'External',
          external: {
            metric: { name: 'waves' },
            target: { type: 'AverageValue', averageValue: '30' },
          },
        },
      ],
    },
  })
  gyro.ok('wait', '--for=jsonpath={.status.readyReplicas}=3', 'deployment/surfers', '--timeout=90s')

  await stop()
  becomes('false')
  assert.match(gyro.kubectl('get', 'ships').stderr, /unable to handle the request/)
  await start()
  becomes('true')
  await eventually('ships are listed again', 30_000, () =>
    gyro.kubectl('get', 'ships').code === 0 ? true : undefined,
  )
})
