// How much faster than real time a simulated cluster runs: 10 nodes, 300 pods, one core. The more is done, the slower.
//
//   node benchmarks/simulation-speed.ts [--nodes 10] [--deployments 6] [--replicas 50] [--minutes 10]
import { parseArgs } from 'node:util'
import { isPodReady, resources } from '@gyropilot/api'
import type { Deployment } from '@gyropilot/api'
import { createCluster } from '@gyropilot/cluster'
import type { SimulatedCluster } from '@gyropilot/cluster'

const { values } = parseArgs({
  options: {
    nodes: { type: 'string', default: '10' },
    deployments: { type: 'string', default: '6' },
    replicas: { type: 'string', default: '50' },
    minutes: { type: 'string', default: '10' },
    only: { type: 'string', default: '' },
  },
})
const [nodes, deployments, replicas, minutes] = [
  Number(values.nodes),
  Number(values.deployments),
  Number(values.replicas),
  Number(values.minutes),
]
const BUDGET = '>= 1000'

function deployment(name: string): Deployment {
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name, namespace: 'default' },
    spec: {
      replicas,
      selector: { matchLabels: { app: name } },
      template: {
        metadata: { labels: { app: name } },
        spec: { containers: [{ name: 'web', image: 'web:1' }] },
      },
    },
  }
}

const setImage = (cluster: SimulatedCluster, index: number, image: string) =>
  cluster.patch(resources.deployments, 'default', `web-${index % deployments}`, {
    type: 'strategic',
    value: { spec: { template: { spec: { containers: [{ name: 'web', image }] } } } },
  })

/** What is done every so many virtual milliseconds. */
const WORKLOADS: readonly {
  readonly name: string
  readonly everyMs: number
  readonly budget: string
  act(cluster: SimulatedCluster, step: number): Promise<unknown> | void
}[] = [
  { name: 'at rest', everyMs: 60_000, budget: BUDGET, act() {} },
  {
    name: 'a pod deleted every minute',
    everyMs: 60_000,
    budget: BUDGET,
    act: deleteSomePod,
  },
  {
    name: 'a Deployment scaled by one every minute',
    everyMs: 60_000,
    budget: BUDGET,
    act: (cluster, step) =>
      cluster.patch(resources.deployments, 'default', `web-${step % deployments}`, {
        type: 'merge',
        value: { spec: { replicas: replicas + (Math.floor(step / deployments) % 2 ? 0 : 1) } },
      }),
  },
  {
    name: 'a pod deleted every 10 s',
    everyMs: 10_000,
    budget: BUDGET,
    act: deleteSomePod,
  },
  {
    name: `a rollout of ${replicas} pods every 10 minutes`,
    everyMs: 600_000,
    budget: BUDGET,
    act: (cluster, step) => setImage(cluster, step, `web:${step + 2}`),
  },
  {
    name: `a rollout of ${replicas} pods every minute`,
    everyMs: 60_000,
    budget: '',
    act: (cluster, step) => setImage(cluster, step, `web:${step + 2}`),
  },
  { name: 'a pod deleted every second', everyMs: 1_000, budget: '', act: deleteSomePod },
]

function deleteSomePod(cluster: SimulatedCluster, step: number) {
  const pods = cluster.objects.all(resources.pods, 'default')
  const name = pods[(step * 97) % pods.length]?.metadata?.name ?? ''
  return cluster.delete(resources.pods, 'default', name)
}

/** The median of many, and the first of the process, in which nothing is compiled yet. */
async function startTimes(): Promise<void> {
  const times: number[] = []
  for (let index = 0; index < 41; index++) {
    const startedMs = performance.now()
    await createCluster({ seed: `start-${index}`, nodes: 1 })
    times.push(performance.now() - startedMs)
  }
  const [first = 0, ...others] = times
  const median = others.toSorted((a, b) => a - b)[20] ?? 0
  console.log(
    `  a cluster of one node starts                   ${median.toFixed(0).padStart(6)} ms  (the first: ${first.toFixed(0)} ms)  <= 20 ms`,
  )
}

await startTimes()
for (const { name, everyMs, budget, act } of WORKLOADS) {
  if (!name.includes(values.only)) continue
  const cluster = await createCluster({ seed: 'speed', nodes })
  for (let index = 0; index < deployments; index++) await cluster.create(deployment(`web-${index}`))
  await cluster.advance(120_000)
  const ready = cluster.objects.all(resources.pods, 'default').filter(isPodReady).length
  if (ready !== deployments * replicas) throw new Error(`only ${ready} pods became ready`)
  let writes = 0
  cluster.observe({ committed: () => writes++ })
  const startedMs = performance.now()
  const cpuBefore = process.cpuUsage()
  const fromMs = cluster.virtualMs
  const untilMs = fromMs + Math.max(minutes * 60_000, everyMs)
  for (let step = 0; cluster.virtualMs < untilMs; step++) {
    await act(cluster, step)
    await cluster.advance(everyMs)
  }
  const realMs = performance.now() - startedMs
  const { user, system } = process.cpuUsage(cpuBefore)
  const virtualMs = cluster.virtualMs - fromMs
  const cells = [
    `${Math.round(virtualMs / realMs)} x`.padStart(9),
    `${Math.round(virtualMs / ((user + system) / 1000))} x of its CPU time`.padStart(24),
    `${writes} writes`.padStart(13),
    `${Math.round((user + system) / Math.max(1, writes))} us each`.padStart(12),
    budget,
  ]
  console.log(`  ${name.padEnd(44)} ${cells.join('  ')}`)
}
