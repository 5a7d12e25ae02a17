/** Load balancers of `gyro up --cloud loopback`, reached as a person reaches them. docs/guides/loopback-cloud.md. */
import assert from 'node:assert/strict'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { startGyro } from './gyro-process.ts'
import type { GyroProcess } from './gyro-process.ts'

/** Not those of the guide: the tests may run beside a cluster of somebody's. */
const CONFIG = `addresses: 127.93.0.0/16
machineAddresses: 127.94.0.0/16
control: 127.93.255.1:18123
`
const CONTROL = 'http://127.93.255.1:18123'
const SERVICE = '/api/v1/namespaces/default/services?fieldSelector=metadata.name%3Dweb'

const SLICES =
  '/apis/discovery.k8s.io/v1/namespaces/default/endpointslices?labelSelector=kubernetes.io/service-name%3Dweb'

let gyro: GyroProcess
let folder: string
before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'loopback-'))
  const config = join(folder, 'cloud.yaml')
  writeFileSync(config, CONFIG)
  gyro = await startGyro(['--cloud=loopback', `--cloud-config=${config}`])
})
after(async () => {
  await gyro.stop()
  rmSync(folder, { recursive: true })
})

interface ServiceView {
  readonly status: { readonly loadBalancer: { readonly ingress?: readonly { ip: string }[] } }
}

interface SliceView {
  readonly endpoints: readonly { readonly conditions: { readonly ready?: boolean } }[] | null
}

const hasThree = (slices: readonly SliceView[]): true | undefined =>
  slices.flatMap(({ endpoints }) => endpoints ?? []).filter(({ conditions }) => conditions.ready)
    .length === 3 || undefined

const addressOf = (services: readonly ServiceView[]): string | undefined =>
  services[0]?.status.loadBalancer.ingress?.[0]?.ip

test('a Service of type LoadBalancer gets an address, and whoever asks there is answered by its pods', async () => {
  gyro.ok('create', 'deployment', 'web', '--image=nginx', '--replicas=3', '--port=18080')
  gyro.ok('expose', 'deployment', 'web', '--type=LoadBalancer', '--port=18080')
  gyro.ok('rollout', 'status', 'deploy/web', '--timeout=20s')
  const address = await gyro.until('an address', 10_000, SERVICE, addressOf)
  assert.equal(address, '127.93.0.1')
  // A slice may be told a second later than the Deployment that a pod is ready: after a look at a cache that lagged behind.
  await gyro.until('three back ends', 10_000, SLICES, hasThree)
  const pods = new Set<string>()
  for (let i = 0; i < 6; i++) {
    const page = await (await fetch(`http://${address}:18080/hello`)).text()
    assert.match(page, /^simulated pod default\/web-\S+ on node-\d: port 18080, GET \/hello\n$/)
    pods.add(page)
  }
  assert.equal(pods.size, 3, 'each in its turn')
  assert.match(gyro.ok('get', 'service', 'web'), /LoadBalancer\s+\S+\s+127\.93\.0\.1\s+18080:/)
  assert.match(gyro.ok('get', 'nodes', '-o', 'wide'), /node-2\s+Ready.*127\.94\.0\.2/)
  assert.match(gyro.ok('get', 'node', 'node-1', '--show-labels'), /zone=loopback-1b/)
})

test('a datagram is answered, and the health check port tells where the pods are', async () => {
  const patch = {
    spec: {
      externalTrafficPolicy: 'Local',
      ports: [
        { name: 'page', port: 18080, targetPort: 18080 },
        { name: 'ask', port: 18053, targetPort: 18053, protocol: 'UDP' },
      ],
    },
  }
  const ports = [{ containerPort: 18080 }, { containerPort: 18053, protocol: 'UDP' }]
  const spec = { replicas: 1, template: { spec: { containers: [{ name: 'nginx', ports }] } } }
  gyro.ok('patch', 'deployment', 'web', '-p', JSON.stringify({ spec }))
  gyro.ok('rollout', 'status', 'deploy/web', '--timeout=20s')
  gyro.ok('patch', 'service', 'web', '-p', JSON.stringify(patch))
  const said = await answered('127.93.0.1', 18_053, 'hello')
  assert.match(said, /^simulated pod default\/web-\S+ on node-\d: port 18053, 5 bytes\n$/)
  const port = gyro.ok('get', 'service', 'web', '-o', 'jsonpath={.spec.healthCheckNodePort}')
  const statuses = async () =>
    (await Promise.all([1, 2, 3].map((n) => fetch(`http://127.94.0.${n}:${port}/`))))
      .map(({ status }) => status)
      .sort()
  assert.deepEqual(await eventually(statuses, (found) => found[1] === 503), [200, 503, 503])
})

/** Sent again until it is answered: datagrams may be lost, and the port may not be open yet. */
async function answered(address: string, port: number, text: string): Promise<string> {
  const socket = createSocket('udp4')
  socket.on('error', () => {})
  const timer = setInterval(() => socket.send(text, port, address), 50)
  try {
    const [message] = (await once(socket, 'message', { signal: AbortSignal.timeout(10_000) })) as [
      Buffer,
    ]
    return message.toString()
  } finally {
    clearInterval(timer)
    socket.close()
  }
}

async function eventually<T>(look: () => Promise<T>, isIt: (found: T) => boolean): Promise<T> {
  const untilMs = performance.now() + 10_000
  for (;;) {
    const found = await look().catch(() => undefined)
    if (found !== undefined && (isIt(found) || performance.now() > untilMs)) return found
    if (performance.now() > untilMs) assert.fail('nobody answered')
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

test('a cloud that fails is told in an event, and the balancer comes when it is well again', async () => {
  const trouble = { call: 'ensureLoadBalancer', fail: 'quota exceeded', times: 1 }
  await fetch(`${CONTROL}/faults`, { method: 'POST', body: JSON.stringify(trouble) })
  gyro.ok('expose', 'deployment', 'web', '--name=late', '--type=LoadBalancer', '--port=18081')
  const late = SERVICE.replace('web', 'late')
  assert.equal(await gyro.until('an address', 30_000, late, addressOf), '127.93.0.2')
  const events = gyro.ok('get', 'events', '--field-selector=involvedObject.name=late')
  assert.match(events, /SyncLoadBalancerFailed.*quota exceeded/)
})

test('a Service that is deleted takes its balancer with it', async () => {
  gyro.ok('delete', 'service', 'web', 'late', '--timeout=20s')
  await assert.rejects(fetch('http://127.93.0.1:18080/'))
  const { balancers } = (await (await fetch(CONTROL)).json()) as { balancers: unknown[] }
  assert.deepEqual(balancers, [])
})
