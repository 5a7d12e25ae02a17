// What it costs to roll a large Deployment from one template to the next: CPU and writes of both controllers, in a namespace
// that holds other pods as well. Pods are ready 2 s after they were created.
//
//   node benchmarks/deployment-rollout.ts [--replicas 1000] [--others 20000]
import { parseArgs } from 'node:util'
import { resources } from '@gyropilot/api'
import type { Deployment, Pod } from '@gyropilot/api'
import { cpuMilliseconds, print, run } from './controllers/measured/running.ts'
import type { Running } from './controllers/measured/running.ts'

const { values } = parseArgs({
  options: {
    replicas: { type: 'string', default: '1000' },
    others: { type: 'string', default: '20000' },
  },
})
const replicas = Number(values.replicas)
const others = Number(values.others)
const READY_AFTER_MS = 2_000
const LONGEST_ROLLOUT_MS = 600_000

function deployment(image: string): Deployment {
  const labels = { app: 'web' }
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'web', namespace: 'ns', uid: 'web' },
    spec: {
      replicas,
      selector: { matchLabels: labels },
      strategy: {
        type: 'RollingUpdate',
        rollingUpdate: { maxSurge: '25%', maxUnavailable: '25%' },
      },
      revisionHistoryLimit: 10,
      progressDeadlineSeconds: 600,
      template: { metadata: { labels }, spec: { containers: [{ name: 'c', image }] } },
    },
  }
}

function other(index: number): Pod {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: `other-${index}`,
      namespace: 'ns',
      uid: `other-${index}`,
      labels: { app: `other-${index % 500}` },
      ownerReferences: [
        { apiVersion: 'batch/v1', kind: 'Job', name: 'other', uid: 'other', controller: true },
      ],
    },
    spec: { nodeName: 'node', containers: [{ name: 'c', image: 'img' }] },
    status: { phase: 'Running' },
  }
}

/** In the place of scheduler and kubelets. */
async function runPods({ server, clock }: Running): Promise<void> {
  for await (const { type, object } of server.openWatch(resources.pods, 'ns', {})) {
    const pod = object as Pod
    if (type !== 'ADDED' || pod.status !== undefined) continue
    clock.after(READY_AFTER_MS, () => {
      const { namespace, name } = pod.metadata!
      if (server.get(resources.pods, namespace, name!) === undefined) return
      server.put(resources.pods, {
        ...pod,
        spec: { ...pod.spec!, nodeName: 'node' },
        status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] },
      })
    })
  }
}

const running = await run(['deployment-controller', 'replicaset-controller'], (put) => {
  for (let index = 0; index < others; index++) put(resources.pods, other(index))
})
const { server, clock } = running
void runPods(running)
await clock.advance(1_000)

async function rolledOut(image: string): Promise<void> {
  const known = server.get(resources.deployments, 'ns', 'web') as Deployment | undefined
  server.put(resources.deployments, { ...known, ...deployment(image), ...statusOf(known) })
  for (let waitedMs = 0; waitedMs < LONGEST_ROLLOUT_MS; waitedMs += 1_000) {
    await clock.advance(1_000)
    const { status } = server.get(resources.deployments, 'ns', 'web') as Deployment
    const { updatedReplicas, availableReplicas, replicas: all } = status ?? {}
    const current = server
      .list(resources.replicasets, 'ns')
      .find(({ spec }: Deployment) => spec?.template?.spec?.containers[0]?.image === image)
    const isNew = (current as Deployment | undefined)?.status?.availableReplicas === replicas
    if (isNew && updatedReplicas === replicas && availableReplicas === replicas && all === replicas)
      return
  }
  throw new Error(`not rolled out within ${LONGEST_ROLLOUT_MS} virtual ms`)
}

const statusOf = ({ status }: Deployment = {}) => (status === undefined ? {} : { status })
const isPod = (path: string): boolean => path.includes('/pods')

for (const [what, image] of [
  ['first rollout', 'web:1'],
  ['rolling update', 'web:2'],
] as const) {
  const before = server.requests.length
  const startedMs = clock.nowMs()
  const cpu = await cpuMilliseconds(1, () => rolledOut(image))
  const requests = server.requests.slice(before)
  const writes = requests.filter(({ verb }) =>
    ['create', 'update', 'patch', 'delete'].includes(verb),
  )
  const ofOthers = writes.filter(({ path }) => !isPod(path))
  console.log(`${what} of ${replicas} replicas`)
  print([
    ['  CPU', `${cpu.toFixed(0)} ms`, ''],
    ['  CPU per replica', `${(cpu / replicas).toFixed(2)} ms`, '< 2 ms'],
    ['  virtual time', `${((clock.nowMs() - startedMs) / 1000).toFixed(0)} s`, ''],
    ['  writes of pods', String(writes.length - ofOthers.length), ''],
    ['  writes of Deployment and ReplicaSets', String(ofOthers.length), ''],
    ['  live reads', String(requests.filter(({ verb }) => verb === 'get').length), ''],
  ])
}
await running.stop()
