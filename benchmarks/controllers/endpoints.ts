// What the Endpoints of many Services cost a controller manager, on an API server without nodes: this script plays the kubelets.
// Run it with the one manager and with the other, and compare.
//
//   node benchmarks/controllers/endpoints.ts --server URL --token TOKEN [--services 5000] [--changes 1000] -- COMMAND ARGS...
//
// COMMAND starts a controller manager of that server, with --secure-port=PORT and preferably --controllers=endpoints-controller.
// Service account controllers need not run: the script makes the one account that pods ask for.
import { parseArgs } from 'node:util'
import { resources } from '@gyropilot/api'
import type { Endpoints, Pod, Service } from '@gyropilot/api'
import { SystemClock, SystemRandom, silentLogger } from '@gyropilot/foundation'
import { SharedInformerFactory } from '@gyropilot/runtime'
import { directClient } from './measured/direct-client.ts'
import { MeasuredManager } from './measured/measured-manager.ts'
import { forEach, phase } from './measured/phases.ts'

const { values, positionals: command } = parseArgs({
  allowPositionals: true,
  options: {
    server: { type: 'string' },
    token: { type: 'string' },
    services: { type: 'string', default: '5000' },
    changes: { type: 'string', default: '1000' },
  },
})
const { server = '', token = '' } = values
const count = Number(values.services)
const changes = Number(values.changes)
const NAMESPACE = `endpoints-${process.pid}`

const clock = new SystemClock()
const { client } = directClient(server, token, clock)
const services = client.resource(resources.services, NAMESPACE)
const pods = client.resource(resources.pods, NAMESPACE)

const service = (index: number): Service => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name: `s${index}`, namespace: NAMESPACE },
  spec: { clusterIP: 'None', selector: { app: `s${index}` }, ports: [{ port: 80 }] },
})

const pod = (index: number): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: `p${index}`, namespace: NAMESPACE, labels: { app: `s${index}` } },
  spec: { nodeName: 'nobody', containers: [{ name: 'c', image: 'img:1' }] },
})

function statusOf(index: number, ready: boolean): Pod['status'] {
  const ip = `10.${(index >> 16) + 9}.${(index >> 8) & 255}.${index & 255}`
  const lastTransitionTime = new Date().toISOString().replace(/\.\d+/, '')
  return {
    phase: 'Running',
    podIP: ip,
    podIPs: [{ ip }],
    conditions: [{ type: 'Ready', status: ready ? 'True' : 'False', lastTransitionTime }],
  }
}

const setReady = (index: number, ready: boolean): Promise<unknown> =>
  pods.patch(
    `p${index}`,
    { type: 'merge', value: { status: statusOf(index, ready) } },
    { subresource: 'status' },
  )

/** Endpoints with a ready address, by the cache of this script. */
const withReady = new Set<string>()
const present = new Set<string>()

function watchEndpoints(signal: AbortSignal): Promise<unknown> {
  const factory = new SharedInformerFactory({
    client,
    clock,
    random: new SystemRandom(),
    logger: silentLogger,
    namespace: NAMESPACE,
  })
  const seen = ({ metadata, subsets }: Endpoints): void => {
    const name = metadata?.name ?? ''
    present.add(name)
    if ((subsets ?? []).some(({ addresses }) => (addresses ?? []).length > 0)) withReady.add(name)
    else withReady.delete(name)
  }
  factory.informer(resources.endpoints).addHandler({
    onAdd: seen,
    onUpdate: (_, current) => seen(current),
    onDelete(gone) {
      const name = 'metadata' in gone ? (gone.metadata?.name ?? '') : ''
      present.delete(name)
      withReady.delete(name)
    },
  })
  factory.start(signal)
  return factory.waitForCacheSync(signal)
}

/** How far it has come. */
const progress = (): string => `${withReady.size} with addresses, ${present.size} in all`

const stopping = new AbortController()
const metadata = { name: NAMESPACE }
await client
  .resource(resources.namespaces)
  .create({ apiVersion: 'v1', kind: 'Namespace', metadata })
const account = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'default' } } as const
await client
  .resource(resources.serviceaccounts, NAMESPACE)
  .create({ ...account, metadata: { ...account.metadata, namespace: NAMESPACE } })
  .catch(() => {})
await watchEndpoints(stopping.signal)
await forEach(count, async (index) => {
  await pods.create(pod(index))
  await setReady(index, true)
})
const manager = await MeasuredManager.start(command, token)
try {
  await phase(
    `${count} Services made`,
    () => manager,
    () => forEach(count, (index) => services.create(service(index))),
    () => withReady.size === count,
    { progress },
  )
  await phase(
    `${changes} pods no longer ready`,
    () => manager,
    () => forEach(changes, (index) => setReady(index, false)),
    () => withReady.size === count - changes,
    { progress },
  )
  await phase(
    `${count} Services deleted`,
    () => manager,
    () => forEach(count, (index) => services.delete(`s${index}`)),
    () => present.size === 0,
    { progress },
  )
} finally {
  await manager.stop()
  stopping.abort()
  await forEach(count, (index) =>
    pods.delete(`p${index}`, { gracePeriodSeconds: 0 }).catch(() => {}),
  )
  await client.resource(resources.namespaces).delete(NAMESPACE)
}
process.exit(0)
