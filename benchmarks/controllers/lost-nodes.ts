// What it costs when very many nodes fall silent at once: writes, CPU, and when the last of them gets its NoExecute taint at
// upstream's rates. In virtual time.
//
//   node benchmarks/controllers/lost-nodes.ts [--nodes 5000] [--lost 1000] [--pods 10]
import { parseArgs } from 'node:util'
import { parseTime, resources } from '@gyropilot/api'
import type { Lease, Node, Pod } from '@gyropilot/api'
import { formatMicroTime } from '@gyropilot/foundation'
import { cpuMilliseconds, print, run } from './measured/running.ts'

const { values } = parseArgs({
  options: {
    nodes: { type: 'string', default: '5000' },
    lost: { type: 'string', default: '1000' },
    pods: { type: 'string', default: '10' },
  },
})
const nodeCount = Number(values.nodes)
const lostCount = Number(values.lost)
const podsPerNode = Number(values.pods)
const CREATED = '2026-01-01T00:00:00Z'
const BEAT_MS = 10_000
/** Upstream's --node-eviction-rate: one in ten seconds. */
const TAINT_EVERY_SECONDS = 10

function node(index: number): Node {
  const time = { lastHeartbeatTime: CREATED, lastTransitionTime: CREATED }
  const names = ['MemoryPressure', 'DiskPressure', 'PIDPressure'] as const
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name: `node-${index}`, uid: `node-${index}`, creationTimestamp: CREATED },
    spec: {},
    status: {
      conditions: [
        ...names.map((type) => ({ type, status: 'False' as const, ...time })),
        { type: 'Ready', status: 'True', ...time },
      ],
    },
  }
}

function lease(index: number, nowMs: number): Lease {
  return {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: { namespace: 'kube-node-lease', name: `node-${index}` },
    spec: { holderIdentity: `node-${index}`, renewTime: formatMicroTime(nowMs) },
  }
}

function pod(index: number): Pod {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: `pod-${index}`, namespace: 'ns', uid: `pod-${index}` },
    spec: { nodeName: `node-${index % nodeCount}`, containers: [{ name: 'c', image: 'img' }] },
    status: {
      phase: 'Running',
      conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: CREATED }],
    },
  }
}

const { server, clock, stop } = await run(['node-lifecycle-controller'], (put) => {
  for (let index = 0; index < nodeCount; index++) put(resources.nodes, node(index))
  for (let index = 0; index < nodeCount; index++)
    put(resources.leases, lease(index, Date.parse(CREATED)))
  for (let index = 0; index < nodeCount * podsPerNode; index++) put(resources.pods, pod(index))
})

/** All nodes from the `from`th on say that they are alive, and time goes on. */
async function beat(from: number, forMs: number): Promise<void> {
  for (let doneMs = 0; doneMs < forMs; doneMs += BEAT_MS) {
    for (let index = from; index < nodeCount; index++)
      server.put(resources.leases, lease(index, clock.nowMs()))
    await clock.advance(Math.min(BEAT_MS, forMs - doneMs))
  }
}

const tainted = (): readonly number[] =>
  server
    .list(resources.nodes)
    .flatMap((found) => (found as Node).spec?.taints ?? [])
    .filter(({ effect }) => effect === 'NoExecute')
    .map(({ timeAdded }) => parseTime(timeAdded)! / 1000)
    .toSorted((a, b) => a - b)

const isNode = ({ path }: { readonly path: string }): boolean => path.includes('/nodes/')
const quiet = await cpuMilliseconds(1, () => beat(0, 60_000))
const writesBefore = server.requested('update', 'patch').length
const found = await cpuMilliseconds(1, () => beat(lostCount, 70_000))
const statuses = server.requested('update').filter(isNode).length
const marked = server.requested('update').length - statuses
const noSchedule = server.requested('patch').length
const rest = await cpuMilliseconds(1, () => beat(lostCount, lostCount * TAINT_EVERY_SECONDS * 1000))
const times = tainted()
const writes = server.requested('update', 'patch').length - writesBefore
await stop()

console.log(
  `${nodeCount} nodes with ${podsPerNode} pods each, of which ${lostCount} fall silent at once`,
)
const span = (times.at(-1) ?? 0) - (times[0] ?? 0)
print([
  ['heartbeats of all nodes: CPU per minute', `${quiet.toFixed(0)} ms`, ''],
  ['all are found out: CPU', `${found.toFixed(0)} ms`, ''],
  ['statuses of nodes written', String(statuses), `${lostCount}`],
  ['pods marked not ready', String(marked), `${lostCount * podsPerNode}`],
  ['patches by then: NoSchedule taints, and the first NoExecute ones', String(noSchedule), ''],
  ['nodes with a NoExecute taint in the end', String(times.length), `${lostCount}`],
  [
    'seconds from the first NoExecute taint to the last',
    span.toFixed(0),
    `${(lostCount - 1) * TAINT_EVERY_SECONDS}`,
  ],
  ['writes in all', String(writes), `${lostCount * (3 + podsPerNode)}`],
  [
    'CPU per minute until the last taint',
    `${((rest / (lostCount * TAINT_EVERY_SECONDS)) * 60).toFixed(0)} ms`,
    '',
  ],
])
