// What one change costs the EndpointSlice controller: a Service of many endpoints, a namespace of many Services, nodes.
//
//   node benchmarks/endpoint-slices.ts [--endpoints 5000] [--pods 50000] [--services 1000] [--nodes 5000]
import { parseArgs } from 'node:util'
import { resources } from '@gyropilot/api'
import type { Node, Pod, Service } from '@gyropilot/api'
import { cpuMilliseconds, print, run } from './controllers/measured/running.ts'

const { values } = parseArgs({
  options: {
    endpoints: { type: 'string', default: '5000' },
    pods: { type: 'string', default: '50000' },
    services: { type: 'string', default: '1000' },
    nodes: { type: 'string', default: '5000' },
  },
})
const [endpoints, podCount, serviceCount, nodeCount] = [
  Number(values.endpoints),
  Number(values.pods),
  Number(values.services),
  Number(values.nodes),
]
const CHANGES = 100
const WRITES = ['create', 'update', 'delete']

function service(app: string): Service {
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: app, namespace: 'ns', creationTimestamp: '2026-01-01T00:00:00Z' },
    spec: {
      type: 'ClusterIP',
      clusterIP: '10.0.0.1',
      ipFamilies: ['IPv4'],
      selector: { app },
      ports: [{ name: 'http', port: 80, targetPort: 8080, protocol: 'TCP' }],
    },
  }
}

function pod(index: number, app: string, ready: boolean): Pod {
  const ip = `10.${index >> 16}.${(index >> 8) & 255}.${index & 255}`
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: `pod-${index}`,
      namespace: 'ns',
      uid: `pod-${index}`,
      labels: { app, 'pod-template-hash': '5d4f8c7b9', tier: 'web' },
    },
    spec: { nodeName: `node-${index % nodeCount}`, containers: [{ name: 'c', image: 'img' }] },
    status: {
      phase: 'Running',
      podIP: ip,
      podIPs: [{ ip }],
      conditions: [{ type: 'Ready', status: ready ? 'True' : 'False' }],
    },
  }
}

function node(index: number, heartbeat: string, ready = 'True'): Node {
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      name: `node-${index}`,
      uid: `node-${index}`,
      labels: { 'topology.kubernetes.io/zone': `zone-${index % 3}` },
    },
    status: {
      allocatable: { cpu: '8' },
      conditions: [{ type: 'Ready', status: ready, lastHeartbeatTime: heartbeat }],
    },
  } as Node
}

async function measure(services: number, pods: number) {
  const appOf = (index: number): string => `app-${index % services}`
  const { server, clock, metrics, stop } = await run(['endpointslice-controller'], (put) => {
    for (let index = 0; index < nodeCount; index++) put(resources.nodes, node(index, 'first'))
    for (let index = 0; index < pods; index++) put(resources.pods, pod(index, appOf(index), true))
    for (let index = 0; index < services; index++) put(resources.services, service(appOf(index)))
  })
  const started = await cpuMilliseconds(1, () => clock.advance(10_000))
  const writes = (): number => server.requested(...WRITES).length
  const syncs = (): number =>
    ['success', 'stale', 'error'].reduce(
      (sum, result) => sum + (metrics.value('endpoint_slice_controller_syncs', { result }) ?? 0),
      0,
    )
  const writesBefore = writes()
  const change = await cpuMilliseconds(CHANGES, async (index) => {
    const which = (index * 37) % pods
    server.put(resources.pods, pod(which, appOf(which), false))
    await clock.advance(1_000)
  })
  const changeWrites = (writes() - writesBefore) / CHANGES
  const syncsBefore = syncs()
  const heartbeats = await cpuMilliseconds(1, async () => {
    for (let index = 0; index < nodeCount; index++)
      server.put(resources.nodes, node(index, 'second'))
    await clock.advance(1_000)
  })
  const lost = await cpuMilliseconds(1, async () => {
    for (let index = 0; index < nodeCount; index += 10)
      server.put(resources.nodes, node(index, 'second', 'Unknown'))
    await clock.advance(1_000)
  })
  const nodeSyncs = syncs() - syncsBefore
  await stop()
  return { started, change, changeWrites, heartbeats, lost, nodeSyncs }
}

for (const [what, services, pods] of [
  [`a Service of ${endpoints} endpoints`, 1, endpoints],
  [`${serviceCount} Services of one namespace, ${podCount} pods`, serviceCount, podCount],
] as const) {
  const figures = await measure(services, pods)
  console.log(what)
  print([
    ['  all slices made', `${figures.started.toFixed(0)} ms`, ''],
    ['  one pod changes', `${figures.change.toFixed(2)} ms`, '< 20 ms'],
    ['  writes per change', String(figures.changeWrites), '1'],
    [`  heartbeats of ${nodeCount} nodes`, `${figures.heartbeats.toFixed(0)} ms`, ''],
    ['  every tenth node lost', `${figures.lost.toFixed(0)} ms`, ''],
    ['  Services synced because of nodes', String(figures.nodeSyncs), '0'],
  ])
}
