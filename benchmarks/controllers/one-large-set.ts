// What one large Parallel StatefulSet, or one large ReplicaSet, costs a controller manager, on an API server without nodes: this
// script plays the kubelets and makes each pod ready as soon as it is there. Run it with the one manager and with the other, and compare.
//
//   node benchmarks/controllers/one-large-set.ts --server URL --token TOKEN [--kind ReplicaSet] [--replicas 5000] -- COMMAND ARGS...
//
// COMMAND starts a controller manager of that server, with --secure-port=PORT and preferably --controllers=statefulset-controller
// or replicaset-controller. --kind is StatefulSet unless said.
import { parseArgs } from 'node:util'
import { resources } from '@gyropilot/api'
import type { Pod } from '@gyropilot/api'
import { SystemClock, SystemRandom, silentLogger } from '@gyropilot/foundation'
import { DeletedFinalStateUnknown, SharedInformerFactory } from '@gyropilot/runtime'
import { directClient } from './measured/direct-client.ts'
import { MeasuredManager, costBetween, describeCost } from './measured/measured-manager.ts'

const { values, positionals: command } = parseArgs({
  allowPositionals: true,
  options: {
    server: { type: 'string' },
    token: { type: 'string' },
    kind: { type: 'string', default: 'StatefulSet' },
    replicas: { type: 'string', default: '5000' },
  },
})
const { server = '', token = '' } = values
const replicas = Number(values.replicas)
const isReplicaSet = values.kind === 'ReplicaSet'
const NAMESPACE = `large-set-${process.pid}`
const KUBELETS = 32
const LIMIT_MS = 480_000

const clock = new SystemClock()
const { client, close } = directClient(server, token, clock)
const type = isReplicaSet ? resources.replicasets : resources.statefulsets
const sets = client.resource(type as typeof resources.statefulsets, NAMESPACE)
const pods = client.resource(resources.pods, NAMESPACE)

/** Names of pods that are there, by the cache of this script. */
const present = new Set<string>()
const waiting: string[] = []

function watchPods(signal: AbortSignal): Promise<unknown> {
  const random = new SystemRandom()
  const factory = new SharedInformerFactory({
    client,
    clock,
    random,
    logger: silentLogger,
    namespace: NAMESPACE,
  })
  factory.informer(resources.pods).addHandler({
    onAdd({ metadata }) {
      present.add(metadata!.name!)
      waiting.push(metadata!.name!)
    },
    onDelete: (pod) =>
      void present.delete(
        pod instanceof DeletedFinalStateUnknown ? nameIn(pod.key) : pod.metadata!.name!,
      ),
  })
  factory.start(signal)
  return factory.waitForCacheSync(signal)
}

const nameIn = (key: string): string => key.slice(key.indexOf('/') + 1)

const READY: Pod['status'] = {
  phase: 'Running',
  conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: '2026-01-01T00:00:00Z' }],
}

async function playKubelet(signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const name = waiting.shift()
    if (name === undefined) await pause(2)
    else
      await pods
        .patch(name, { type: 'merge', value: { status: READY } }, { subresource: 'status' })
        .catch(() => {})
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}

async function until(isThere: () => Promise<boolean>): Promise<number> {
  const startMs = performance.now()
  while (!(await isThere())) {
    if (performance.now() - startMs > LIMIT_MS) throw new Error('it never came to that')
    await pause(100)
  }
  return (performance.now() - startMs) / 1000
}

const labels = { app: 'db' }
const container = { name: 'c', image: 'img:1', resources: { requests: { cpu: '10m' } } }

async function prepare(): Promise<void> {
  await client.resource(resources.namespaces).create({ metadata: { name: NAMESPACE } })
  await client
    .resource(resources.serviceaccounts, NAMESPACE)
    .create({ metadata: { name: 'default' } })
    .catch(() => {})
}

async function measured(what: string, act: () => Promise<unknown>, ready: number): Promise<void> {
  const before = await manager.cost()
  await act()
  const seconds = await until(async () => {
    if (present.size !== ready) return false
    const { status, metadata } = await sets.get('db')
    const isObserved = status?.observedGeneration === metadata?.generation
    return isObserved && status?.replicas === ready && (status.availableReplicas ?? 0) === ready
  })
  const cost = costBetween(before, await manager.cost())
  console.log(`${what.padEnd(24)} ${seconds.toFixed(1)} s, ${describeCost(cost)}`)
}

const scaleTo = (count: number) => () =>
  sets.patch('db', { type: 'merge', value: { spec: { replicas: count } } })

const manager = await MeasuredManager.start(command, token)
const stopping = new AbortController()
try {
  await prepare()
  await watchPods(stopping.signal)
  for (let count = 0; count < KUBELETS; count += 1) void playKubelet(stopping.signal)
  const set = {
    metadata: { name: 'db', namespace: NAMESPACE },
    spec: {
      replicas: 0,
      ...(isReplicaSet ? {} : { serviceName: 'db', podManagementPolicy: 'Parallel' as const }),
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [container] } },
    },
  }
  await measured('a set of none', () => sets.create(set), 0)
  await measured(`grown to ${replicas}`, scaleTo(replicas), replicas)
  await measured(`shrunk to ${replicas / 2}`, scaleTo(replicas / 2), replicas / 2)
  await measured('shrunk to none', scaleTo(0), 0)
} finally {
  stopping.abort()
  await client
    .resource(resources.namespaces)
    .delete(NAMESPACE)
    .catch(() => {})
  await manager.stop()
  await close()
}
