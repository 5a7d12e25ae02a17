/** Programs written with the client libraries of three languages, and Prometheus, against one `gyro up`. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { eventually, repository, startGyro } from '../../end-to-end/gyro-process.ts'
import type { GyroProcess } from '../../end-to-end/gyro-process.ts'
import { findClient, runClient, workedIn } from '../client-process.ts'
import { goProgram } from '../go-program.ts'
import { startCommand } from '../../end-to-end/running-command.ts'

const programs = join(repository, 'tests/clients/programs')
let gyro: GyroProcess
let folder: string
before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'clients-'))
  gyro = await startGyro()
})
after(async () => {
  await gyro.stop()
  rmSync(folder, { recursive: true })
})

test('@kubernetes/client-node', async () => {
  const program = join(programs, 'client-node.mjs')
  const args = [program, gyro.kubeconfig, 'in-node', findClient('node')]
  assert.deepEqual(workedIn(await runClient(process.execPath, args, process.env)), [
    'informer',
    'exec',
    'cp',
    'port-forward',
    'log, followed',
    'attach',
    'patches',
    'watch from a version',
    'top',
    'deletion in the foreground',
  ])
})

test("Debian's python3-kubernetes", async () => {
  const env = { ...process.env, PYTHONPATH: findClient('python') }
  const args = [join(programs, 'client.py'), gyro.kubeconfig, 'in-python']
  assert.deepEqual(workedIn(await runClient('python3', args, env)), [
    'watch from a version',
    'exec',
    'attach',
    'port-forward',
    'patches',
    'refusals, metrics and access reviews',
    'eviction ends what is followed',
  ])
})

const GO_WORKED = [
  'informer and lister',
  'scale and retry on conflict',
  'apply and patches',
  'a custom kind through the dynamic client',
  'metadata client',
  'discovery',
  'pages and streamed lists',
  'exec over SPDY and WebSocket',
  'port-forward over SPDY and WebSocket',
  'logs and proxy',
  'events',
  'leader election',
  'deletions',
]

test('client-go, in JSON and in protobuf', async () => {
  const program = await goProgram('go', 'client.go', folder)
  for (const [namespace, ...format] of [
    ['in-go'],
    ['in-go-protobuf', 'application/vnd.kubernetes.protobuf'],
  ] as const) {
    const args = [gyro.kubeconfig, namespace, ...format]
    assert.deepEqual(workedIn(await runClient(program, args, process.env)), GO_WORKED)
  }
})

const ROLES = ['node', 'service', 'pod', 'endpoints', 'endpointslice', 'ingress'] as const

test('Prometheus finds what there is by all six roles, and is told of what comes', async () => {
  gyro.ok('create', 'deployment', 'web', '--image=nginx', '--replicas=2', '--port=80')
  gyro.ok('expose', 'deployment', 'web', '--port=80')
  gyro.ok('create', 'ingress', 'web', '--rule=web.example.com/*=web:80')
  gyro.ok('rollout', 'status', 'deployment/web', '--timeout=60s')
  const settings = {
    scrape_configs: [
      ...ROLES.map((role) => ({
        job_name: role,
        kubernetes_sd_configs: [{ role, kubeconfig_file: gyro.kubeconfig }],
      })),
      {
        job_name: 'api-server',
        scheme: 'https',
        scrape_interval: '1s',
        scrape_timeout: '1s',
        authorization: { credentials: gyro.token },
        tls_config: { insecure_skip_verify: true },
        static_configs: [{ targets: [new URL(gyro.server).host] }],
      },
    ],
  }
  const file = join(folder, 'prometheus.yml')
  writeFileSync(file, JSON.stringify(settings))
  const prometheus = startCommand(
    findClient('prometheus'),
    [
      `--config.file=${file}`,
      `--storage.tsdb.path=${join(folder, 'prometheus')}`,
      '--web.listen-address=127.0.0.1:0',
    ],
    process.env,
  )
  try {
    const listens = /msg="Listening on" component=web address=(\S+)/
    const [, address] = listens.exec(await prometheus.said(listens))!
    interface Target {
      readonly scrapePool: string
      readonly health: string
      readonly discoveredLabels: Record<string, string>
    }
    const targets = async (): Promise<readonly Target[]> => {
      const answer = await fetch(`http://${address}/api/v1/targets?state=active`)
      const { data } = (await answer.json()) as { data: { activeTargets: readonly Target[] } }
      return data.activeTargets
    }
    const namesOf = (found: readonly Target[], role: string, label: string): readonly string[] =>
      found
        .filter(({ scrapePool }) => scrapePool === role)
        .map(({ discoveredLabels }) => discoveredLabels[`__meta_kubernetes_${label}`] ?? '')
        .toSorted()
    const pods = (count: number) => async (): Promise<readonly Target[] | undefined> => {
      const found = await targets()
      const web = namesOf(found, 'pod', 'pod_name').filter((name) => name.startsWith('web-'))
      const backends = namesOf(found, 'endpointslice', 'pod_name').filter((name) => name !== '')
      return web.length === count && backends.length === count ? found : undefined
    }
    const found = await eventually('all are found', 60_000, pods(2))
    assert.deepEqual(namesOf(found, 'node', 'node_name'), ['node-1', 'node-2', 'node-3'])
    assert.deepEqual(namesOf(found, 'service', 'service_name'), ['kubernetes', 'web'])
    assert.deepEqual(namesOf(found, 'ingress', 'ingress_name'), ['web'])
    assert.equal(namesOf(found, 'endpoints', 'pod_name').filter((name) => name !== '').length, 2)
    gyro.ok('scale', 'deployment/web', '--replicas=4')
    await eventually('the new pods are found', 60_000, pods(4))
    await eventually('the metrics of the server are read', 60_000, async () =>
      (await targets()).find(
        ({ scrapePool, health }) => scrapePool === 'api-server' && health === 'up',
      ),
    )
  } finally {
    prometheus.child.kill('SIGTERM')
    await prometheus.ended
  }
})
