// What a change of one node costs the DaemonSet controller in a large cluster, and what a restart costs.
//
//   node benchmarks/controllers/daemonset-nodes.ts [--nodes 5000] [--daemonsets 5] [--others 20000]
import { parseArgs } from 'node:util'
import { newControllerRef, resources } from '@gyropilot/api'
import type { DaemonSet, Node, Pod } from '@gyropilot/api'
import { cpuMilliseconds, print, run } from './measured/running.ts'

const { values } = parseArgs({
  options: {
    nodes: { type: 'string', default: '5000' },
    daemonsets: { type: 'string', default: '5' },
    others: { type: 'string', default: '20000' },
  },
})
const nodeCount = Number(values.nodes)
const daemonSetCount = Number(values.daemonsets)
const others = Number(values.others)
const CHANGES = 100
const CREATED = '2026-01-01T00:00:00Z'

function node(
  index: number,
  heartbeat: string,
  labels: Readonly<Record<string, string>> = {},
): Node {
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name: `node-${index}`, uid: `node-${index}`, labels: { os: 'linux', ...labels } },
    spec: {},
    status: { conditions: [{ type: 'Ready', status: 'True', lastHeartbeatTime: heartbeat }] },
  } as Node
}

function daemonSet(index: number): DaemonSet {
  const labels = { app: `agent-${index}` }
  return {
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    metadata: {
      name: `agent-${index}`,
      namespace: 'kube-system',
      uid: `agent-${index}`,
      generation: 1,
      annotations: { 'deprecated.daemonset.template.generation': '1' },
    },
    spec: {
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: { containers: [{ name: 'c', image: 'img:1' }], nodeSelector: { os: 'linux' } },
      },
      updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 1, maxSurge: 0 } },
    },
    status: {
      observedGeneration: 1,
      currentNumberScheduled: nodeCount,
      desiredNumberScheduled: nodeCount,
      numberMisscheduled: 0,
      numberReady: nodeCount,
      numberAvailable: nodeCount,
      updatedNumberScheduled: nodeCount,
    },
  }
}

function daemonPod(owner: DaemonSet, index: number): Pod {
  const name = `${owner.metadata!.name}-${index}`
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name,
      namespace: 'kube-system',
      uid: name,
      creationTimestamp: CREATED,
      labels: { ...owner.spec!.template.metadata!.labels, 'pod-template-generation': '1' },
      ownerReferences: [newControllerRef(owner, resources.daemonsets)],
    },
    spec: { nodeName: `node-${index}`, containers: [{ name: 'c', image: 'img:1' }] },
    status: {
      phase: 'Running',
      conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: CREATED }],
    },
  }
}

function otherPod(index: number): Pod {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: `other-${index}`,
      namespace: 'ns',
      uid: `other-${index}`,
      labels: { app: 'other' },
    },
    spec: { nodeName: `node-${index % nodeCount}`, containers: [{ name: 'c', image: 'img' }] },
    status: { phase: 'Running' },
  }
}

const { server, clock, metrics, stop } = await run(['daemonset-controller'], (put) => {
  for (let index = 0; index < nodeCount; index++) put(resources.nodes, node(index, 'first'))
  for (let index = 0; index < others; index++) put(resources.pods, otherPod(index))
  for (let owner = 0; owner < daemonSetCount; owner++) {
    const made = daemonSet(owner)
    put(resources.daemonsets, made)
    for (let index = 0; index < nodeCount; index++) put(resources.pods, daemonPod(made, index))
  }
})
const started = await cpuMilliseconds(1, () => clock.advance(10_000))
const writes = (): number => server.requested('create', 'update', 'patch', 'delete').length
const syncs = (): number => metrics.value('workqueue_adds_total', { name: 'daemonset' }) ?? 0
const startWrites = writes()

const syncsBefore = syncs()
const heartbeat = await cpuMilliseconds(CHANGES, async (index) => {
  server.put(resources.nodes, node(index, 'second'))
  await clock.advance(1_000)
})
const heartbeatSyncs = syncs() - syncsBefore
const label = await cpuMilliseconds(CHANGES, async (index) => {
  server.put(resources.nodes, node(index, 'second', { rack: 'a' }))
  await clock.advance(1_000)
})
const labelSyncs = syncs() - syncsBefore
const sync = await cpuMilliseconds(CHANGES, async (index) => {
  server.put(resources.pods, { ...daemonPod(daemonSet(0), index), status: { phase: 'Running' } })
  await clock.advance(1_000)
})
const changeWrites = writes() - startWrites
await stop()

console.log(`${nodeCount} nodes, ${daemonSetCount} DaemonSets, ${others} other pods`)
print([
  ['restart: everything looked at', `${started.toFixed(0)} ms`, ''],
  [
    'writes of the restart beyond one revision per DaemonSet',
    String(startWrites - daemonSetCount),
    '0',
  ],
  ['heartbeat of a node', `${heartbeat.toFixed(2)} ms`, '< 1 ms'],
  ['DaemonSets synced because of heartbeats', String(heartbeatSyncs), '0'],
  ['new label on a node, which no DaemonSet asks for', `${label.toFixed(2)} ms`, '< 1 ms'],
  ['DaemonSets synced because of it', String(labelSyncs), '0'],
  ['a pod becomes unready: one sync', `${sync.toFixed(2)} ms`, '< 40 ms'],
  ['writes per such change', String(changeWrites / CHANGES), '1'],
])
