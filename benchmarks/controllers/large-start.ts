// What a controller manager weighs on a large cluster, and how soon it acts there: 5,000 nodes that renew their leases, 50,000
// pods of 2,000 ReplicaSets, 20,000 Services with their slices. The cluster is put into etcd, then the first COMMAND brings it to
// rest (slices, accounts), and each COMMAND is started on it and measured.
//
//   node benchmarks/controllers/large-start.ts --server URL --token T --etcd http://127.0.0.1:2379
//     [--pods 50000] [--nodes 5000] [--services 20000] [--seconds 60] '--flags=FLAGS' -- COMMAND COMMAND...
//
// Each COMMAND is a program that starts a controller manager with FLAGS; they need --secure-port=PORT, and
// --cluster-cidr=10.128.0.0/9 where ranges are given to nodes.
import { parseArgs } from 'node:util'
import { resources } from '@gyropilot/api'
import { SystemClock, formatMicroTime } from '@gyropilot/foundation'
import { putIntoEtcd } from '../load/etcd-writer.ts'
import type { StoredObject } from '../load/etcd-writer.ts'
import { LARGE_CLUSTER, realisticPod } from '../load/realistic-pod.ts'
import { directClient } from './measured/direct-client.ts'
import { MeasuredManager } from './measured/measured-manager.ts'
import { countOf } from './measured/measured-run.ts'

const { values, positionals: programs } = parseArgs({
  allowPositionals: true,
  options: {
    server: { type: 'string', default: '' },
    token: { type: 'string', default: '' },
    etcd: { type: 'string', default: '' },
    flags: { type: 'string', default: '' },
    pods: { type: 'string', default: '50000' },
    nodes: { type: 'string', default: '5000' },
    services: { type: 'string', default: '20000' },
    seconds: { type: 'string', default: '60' },
  },
})
const podCount = Number(values.pods)
const nodeCount = Number(values.nodes)
const serviceCount = Number(values.services)
const measuredMs = Number(values.seconds) * 1000
const setting = { ...LARGE_CLUSTER, nodes: nodeCount }
const shardsPerSet = Math.max(1, Math.floor(serviceCount / setting.deployments))
const BEAT_MS = 10_000
const PATIENCE_MS = 900_000
const CREATED = '2026-01-01T00:00:00Z'

const clock = new SystemClock()
const { client, close } = directClient(values.server, values.token, clock)
const uid = (kind: string, index: number): string =>
  `${kind}0000-0000-4000-a000-${String(index).padStart(12, '0')}`
const nodeName = (index: number): string => `node-${index}.example.internal`
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

interface Pod {
  readonly metadata: {
    readonly name: string
    readonly namespace: string
    readonly labels: Readonly<Record<string, string>>
    readonly ownerReferences: readonly { readonly name: string; readonly uid: string }[]
  }
  readonly spec: object
}

function* namespaces(): Generator<StoredObject> {
  for (let index = 0; index < setting.namespaces; index++) {
    const name = `namespace-${index}`
    const metadata = { name, uid: uid('aaaa', index), creationTimestamp: CREATED }
    const labels = { 'kubernetes.io/metadata.name': name }
    const spec = { finalizers: ['kubernetes'] }
    yield {
      path: `namespaces/${name}`,
      object: {
        apiVersion: 'v1',
        kind: 'Namespace',
        metadata: { ...metadata, labels },
        spec,
        status: { phase: 'Active' },
      },
    }
  }
}

function* nodes(): Generator<StoredObject> {
  const time = { lastHeartbeatTime: CREATED, lastTransitionTime: CREATED }
  const of = (type: string, status: string) => ({ type, status, ...time })
  const pressures = ['MemoryPressure', 'DiskPressure', 'PIDPressure']
  for (let index = 0; index < nodeCount; index++) {
    const podCidr = `10.${128 + (index >> 8)}.${index & 255}.0/24`
    const name = nodeName(index)
    const labels = {
      'kubernetes.io/hostname': name,
      'kubernetes.io/os': 'linux',
      'topology.kubernetes.io/region': 'region-1',
      'topology.kubernetes.io/zone': `zone-${index % 3}`,
    }
    yield {
      path: `minions/${name}`,
      object: {
        apiVersion: 'v1',
        kind: 'Node',
        metadata: { name, uid: uid('bbbb', index), creationTimestamp: CREATED, labels },
        spec: { podCIDR: podCidr, podCIDRs: [podCidr] },
        status: {
          capacity: { cpu: '16', memory: '64Gi', pods: '110' },
          allocatable: { cpu: '16', memory: '64Gi', pods: '110' },
          conditions: [...pressures.map((type) => of(type, 'False')), of('Ready', 'True')],
          addresses: [{ type: 'InternalIP', address: `192.168.${index >> 8}.${index & 255}` }],
        },
      },
    }
  }
}

function* leases(): Generator<StoredObject> {
  const renewTime = formatMicroTime(clock.nowMs())
  for (let index = 0; index < nodeCount; index++) {
    const holderIdentity = nodeName(index)
    const metadata = {
      namespace: 'kube-node-lease',
      name: holderIdentity,
      uid: uid('cccc', index),
      creationTimestamp: CREATED,
    }
    yield {
      path: `leases/kube-node-lease/${holderIdentity}`,
      object: {
        apiVersion: 'coordination.k8s.io/v1',
        kind: 'Lease',
        metadata,
        spec: { holderIdentity, leaseDurationSeconds: 40, renewTime },
      },
    }
  }
}

function* podsAndSets(): Generator<StoredObject> {
  const sets = new Map<string, { first: Pod; count: number }>()
  for (let number = 0; number < podCount; number++) {
    const pod = realisticPod(setting, number) as Pod
    const shard = String(Math.floor(number / setting.deployments) % shardsPerSet)
    const { metadata } = pod
    const { resourceVersion: _, ...kept } = metadata as Pod['metadata'] & {
      resourceVersion: string
    }
    const object = { ...pod, metadata: { ...kept, labels: { ...metadata.labels, shard } } }
    yield { path: `pods/${metadata.namespace}/${metadata.name}`, object }
    const key = `${metadata.namespace}/${metadata.ownerReferences[0]!.name}`
    const set = sets.get(key)
    if (set === undefined) sets.set(key, { first: pod, count: 1 })
    else set.count++
  }
  for (const [key, { first, count }] of sets)
    yield { path: `replicasets/${key}`, object: replicaSet(first, count) }
}

function replicaSet({ metadata, spec }: Pod, replicas: number): object {
  const { name, uid: setUid } = metadata.ownerReferences[0]!
  const { labels, namespace } = metadata
  const { nodeName: _, ...template } = spec as { readonly nodeName: string }
  return {
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    metadata: { name, namespace, uid: setUid, creationTimestamp: CREATED, generation: 1, labels },
    spec: {
      replicas,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: template },
    },
    status: {
      replicas,
      fullyLabeledReplicas: replicas,
      readyReplicas: replicas,
      availableReplicas: replicas,
      observedGeneration: 1,
    },
  }
}

function* services(): Generator<StoredObject> {
  for (let index = 0; index < serviceCount; index++) {
    const of = realisticPod(setting, index % setting.deployments) as Pod
    const { namespace, labels } = of.metadata
    const name = `service-${index}`
    const shard = String(Math.floor(index / setting.deployments))
    yield {
      path: `services/specs/${namespace}/${name}`,
      object: {
        apiVersion: 'v1',
        kind: 'Service',
        metadata: { name, namespace, uid: uid('dddd', index), creationTimestamp: CREATED },
        spec: {
          type: 'ClusterIP',
          clusterIP: 'None',
          clusterIPs: ['None'],
          ipFamilies: ['IPv4'],
          ipFamilyPolicy: 'SingleStack',
          internalTrafficPolicy: 'Cluster',
          sessionAffinity: 'None',
          selector: { 'app.kubernetes.io/instance': labels['app.kubernetes.io/instance'], shard },
          ports: [{ name: 'http', port: 80, protocol: 'TCP', targetPort: 8080 }],
        },
        status: { loadBalancer: {} },
      },
    }
  }
}

const QUIET_MS = 10_000
/** It asks the server who asks it for its metrics. */
const OWN_QUESTIONS = 4

/** Until a Service has its slice: the caches of pods, nodes and Services are there. */
async function filled(): Promise<void> {
  const service = {
    metadata: { name: 'filled' },
    spec: { ports: [{ port: 80 }], selector: { filled: 'yes' } },
  }
  await client.resource(resources.services, 'namespace-0').create(service)
  const labelSelector = 'kubernetes.io/service-name=filled'
  const slices = client.resource(resources.endpointslices, 'namespace-0')
  const startMs = performance.now()
  while ((await slices.list({ labelSelector })).items.length === 0) {
    if (performance.now() - startMs > PATIENCE_MS) throw new Error('its caches are never filled')
    await pause(1_000)
  }
  await client.resource(resources.services, 'namespace-0').delete('filled')
}

/** Until next to nothing is written for ten seconds: the manager has done what there was to do. */
async function settled(manager: MeasuredManager): Promise<void> {
  await filled()
  const writesOf = async (): Promise<number> => {
    const { requests } = await manager.cost()
    return Object.entries(requests).reduce((sum, [verb, n]) => (verb === 'GET' ? sum : sum + n), 0)
  }
  const startMs = performance.now()
  for (let before = -Infinity, now = await writesOf(); now - before > OWN_QUESTIONS;) {
    if (performance.now() - startMs > PATIENCE_MS) throw new Error('it never comes to rest')
    await pause(QUIET_MS)
    before = now
    now = await writesOf()
  }
}

async function measure(program: string): Promise<void> {
  const name = `large-start-${process.pid}-${programs.indexOf(program)}-${Math.floor(performance.now())}`
  const startMs = performance.now()
  const starting = MeasuredManager.start([program, ...values.flags.split(' ')], values.token)
  await client.resource(resources.namespaces).create({ metadata: { name } })
  const manager = await starting
  for (;;) {
    try {
      await client.resource(resources.serviceaccounts, name).get('default')
      break
    } catch {
      await pause(20)
    }
  }
  const seconds = ((performance.now() - startMs) / 1000).toFixed(1)
  const acting = await manager.cost()
  await pause(measuredMs)
  const after = await manager.cost()
  console.log(
    `${program}: acts after ${seconds} s and ${acting.cpuSeconds.toFixed(1)} s of CPU; ${values.seconds} s later ` +
      `${after.cpuSeconds.toFixed(1)} s, ${after.residentMebibytes.toFixed(0)} MiB resident, peak ${after.peakMebibytes.toFixed(0)} MiB; ` +
      `${JSON.stringify(after.requests)}; event loop late: ${await manager.stalls()}`,
  )
  await manager.stop()
}

const over = new AbortController()
async function beat(): Promise<void> {
  while (!over.signal.aborted) {
    const startMs = performance.now()
    await putIntoEtcd(values.etcd, leases())
    await pause(Math.max(0, BEAT_MS - (performance.now() - startMs)))
  }
}

const filledMs = performance.now()
for (const objects of [namespaces(), nodes(), leases(), podsAndSets(), services()])
  await putIntoEtcd(values.etcd, objects)
console.log(`put into etcd in ${((performance.now() - filledMs) / 1000).toFixed(0)} s`)
const beating = beat()
try {
  const restMs = performance.now()
  const first = await MeasuredManager.start(
    [programs[0]!, ...values.flags.split(' ')],
    values.token,
  )
  await settled(first)
  await first.stop()
  console.log(
    `at rest after ${((performance.now() - restMs) / 1000).toFixed(0)} s: ${await countOf(client, resources.pods)} pods, ${await countOf(client, resources.endpointslices)} slices`,
  )
  for (const program of programs) await measure(program)
} finally {
  over.abort()
  await beating
  await close()
}
