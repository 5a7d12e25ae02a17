/**
 * The metrics of a simulated kubelet, as Prometheus and metrics-server scrape them through the node proxy. Contract:
 * docs/behaviour/api-server/subresources-and-admission.md, "Proxy". Counters follow from what is used now and since when, so
 * that they never go back and nothing is stored.
 */
import { quantityToInteger, quantityToMilli } from '@gyropilot/api'
import type { SubresourceCall } from '../contracts.ts'
import type { Stored } from '@gyropilot/schema/objects'
import type { Kubelet, Usage } from '../kubelets/kubelet.ts'

interface Sample {
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
  /** Absent: no time behind the value. */
  readonly timeMs?: number
}

interface Family {
  readonly name: string
  readonly type: 'counter' | 'gauge'
  readonly help: string
  readonly samples: readonly Sample[]
}

export interface RunningContainer extends Usage {
  readonly container: string
  readonly namespace: string
  readonly pod: string
  readonly uid: string
  readonly image: string
  readonly containerId: string
  readonly startedAtMs: number
}

/** Undefined: no such page. */
export function kubeletMetrics(
  path: string,
  call: SubresourceCall,
  nodeName: string,
  kubelet: Kubelet,
): string | undefined {
  switch (path) {
    case '/metrics':
      return exposed(ownFamilies(nodeName, running(call, kubelet)))
    case '/metrics/resource':
      return exposed(resourceFamilies(call, nodeName, kubelet))
    case '/metrics/cadvisor':
      return exposed(cadvisorFamilies(call, nodeName, kubelet))
    default:
      return undefined
  }
}

/** What kubelet 1.36 has of metrics-server's source, stable names. */
function resourceFamilies(call: SubresourceCall, nodeName: string, kubelet: Kubelet): Family[] {
  const { nowMs } = call
  const { node } = kubelet.usage()
  const containers = running(call, kubelet)
  const nodeStartMs = startOf(call.server.get('', 'nodes', '', nodeName), nowMs)
  const { timed, each, perPod } = samplesOf(containers, nowMs)
  const cpuSeconds = (one: RunningContainer): number => secondsUsed(one, one.startedAtMs, nowMs)
  const memory = (one: RunningContainer): number => one.memoryBytes
  const cpu = 'Cumulative cpu time consumed by the'
  const set = 'Current working set of the'
  return [
    stable(
      'container_cpu_usage_seconds_total',
      'counter',
      `${cpu} container in core-seconds`,
      each(cpuSeconds),
    ),
    stable(
      'container_memory_working_set_bytes',
      'gauge',
      `${set} container in bytes`,
      each(memory),
    ),
    stable(
      'container_start_time_seconds',
      'gauge',
      'Start time of the container since unix epoch in seconds',
      each(({ startedAtMs }) => startedAtMs / 1000),
    ),
    stable('node_cpu_usage_seconds_total', 'counter', `${cpu} node in core-seconds`, [
      timed({}, secondsUsed(node, nodeStartMs, nowMs)),
    ]),
    stable('node_memory_working_set_bytes', 'gauge', `${set} node in bytes`, [
      timed({}, node.memoryBytes),
    ]),
    stable(
      'pod_cpu_usage_seconds_total',
      'counter',
      `${cpu} pod in core-seconds`,
      perPod(cpuSeconds),
    ),
    stable('pod_memory_working_set_bytes', 'gauge', `${set} pod in bytes`, perPod(memory)),
    stable(
      'resource_scrape_error',
      'gauge',
      '1 if there was an error while getting container metrics, 0 otherwise',
      [{ labels: {}, value: 0 }],
    ),
  ]
}

function stable(
  name: string,
  type: Family['type'],
  help: string,
  samples: readonly Sample[],
): Family {
  return { name, type, help: `[STABLE] ${help}`, samples }
}

/** One sample of a moment, one for each container, or one for each pod, which is the sum of its containers. */
function samplesOf(containers: readonly RunningContainer[], timeMs: number) {
  const timed = (labels: Sample['labels'], value: number): Sample => ({ labels, value, timeMs })
  const each = (value: (container: RunningContainer) => number): Sample[] =>
    containers.map((one) =>
      timed({ container: one.container, namespace: one.namespace, pod: one.pod }, value(one)),
    )
  const perPod = (value: (container: RunningContainer) => number): Sample[] => {
    const sums = new Map<string, Sample>()
    for (const one of containers) {
      const before = sums.get(one.uid)?.value ?? 0
      const labels = { namespace: one.namespace, pod: one.pod }
      sums.set(one.uid, timed(labels, before + value(one)))
    }
    return [...sums.values()]
  }
  return { timed, each, perPod }
}

function cadvisorFamilies(call: SubresourceCall, nodeName: string, kubelet: Kubelet): Family[] {
  const { nowMs } = call
  const node = call.server.get('', 'nodes', '', nodeName)
  const capacity: Readonly<Record<string, string>> = node?.['status']?.capacity ?? {}
  const containers = running(call, kubelet)
  const each = (
    value: (container: RunningContainer) => number,
    more: Readonly<Record<string, string>> = {},
  ): Sample[] =>
    containers.map((one) => ({
      labels: {
        container: one.container,
        ...more,
        id: `/kubepods/pod${one.uid}/${one.containerId}`,
        image: one.image,
        name: one.containerId,
        namespace: one.namespace,
        pod: one.pod,
      },
      value: value(one),
      timeMs: nowMs,
    }))
  const gauge = (name: string, help: string, samples: readonly Sample[]): Family => ({
    name,
    type: 'gauge',
    help,
    samples,
  })
  const bytes = each(({ memoryBytes }) => memoryBytes)
  return [
    {
      name: 'container_cpu_usage_seconds_total',
      type: 'counter',
      help: 'Cumulative cpu time consumed in seconds.',
      samples: each((one) => secondsUsed(one, one.startedAtMs, nowMs), { cpu: 'total' }),
    },
    gauge(
      'container_last_seen',
      'Last time a container was seen by the exporter',
      each(() => Math.floor(nowMs / 1000)),
    ),
    gauge(
      'container_memory_usage_bytes',
      'Current memory usage in bytes, including all memory regardless of when it was accessed',
      bytes,
    ),
    gauge('container_memory_working_set_bytes', 'Current working set in bytes.', bytes),
    gauge(
      'container_start_time_seconds',
      'Start time of the container since unix epoch in seconds.',
      each(({ startedAtMs }) => startedAtMs / 1000),
    ),
    gauge('machine_cpu_cores', 'Number of logical CPU cores.', [
      { labels: {}, value: quantityToMilli(capacity['cpu'] ?? '0') / 1000 },
    ]),
    gauge('machine_memory_bytes', 'Amount of memory installed on the machine.', [
      { labels: {}, value: quantityToInteger(capacity['memory'] ?? '0') },
    ]),
  ]
}

function ownFamilies(nodeName: string, containers: readonly RunningContainer[]): Family[] {
  const pods = new Set(containers.map(({ uid }) => uid)).size
  return [
    {
      name: 'kubelet_node_name',
      type: 'gauge',
      help: "[ALPHA] The node's name. The count is always 1.",
      samples: [{ labels: { node: nodeName }, value: 1 }],
    },
    {
      name: 'kubelet_running_containers',
      type: 'gauge',
      help: '[ALPHA] Number of containers currently running',
      samples: [{ labels: { container_state: 'running' }, value: containers.length }],
    },
    {
      name: 'kubelet_running_pods',
      type: 'gauge',
      help: '[ALPHA] Number of pods that have a running pod sandbox',
      samples: [{ labels: {}, value: pods }],
    },
  ]
}

export function running(call: SubresourceCall, kubelet: Kubelet): RunningContainer[] {
  return kubelet.usage().pods.flatMap(({ namespace, name, containers }) => {
    const pod = call.server.get('', 'pods', namespace, name)
    const statuses: Stored[] = [
      ...(pod?.['status']?.initContainerStatuses ?? []),
      ...(pod?.['status']?.containerStatuses ?? []),
    ]
    return containers.map(({ name: container, cpuNanoCores, memoryBytes }): RunningContainer => {
      const status = statuses.find((one) => one['name'] === container)
      return {
        container,
        namespace,
        pod: name,
        uid: pod?.['metadata'].uid ?? '',
        image: status?.['image'] ?? '',
        containerId: String(status?.['containerID'] ?? '').replace(/^\w+:\/\//, ''),
        startedAtMs: Date.parse(status?.['state']?.running?.startedAt ?? '') || call.nowMs,
        cpuNanoCores,
        memoryBytes,
      }
    })
  })
}

export function startOf(object: Stored | undefined, nowMs: number): number {
  return Date.parse(object?.['metadata'].creationTimestamp ?? '') || nowMs
}

export function secondsUsed({ cpuNanoCores }: Usage, sinceMs: number, nowMs: number): number {
  return (cpuNanoCores / 1e9) * (Math.max(0, nowMs - sinceMs) / 1000)
}

function exposed(families: readonly Family[]): string {
  const lines = families.flatMap(({ name, type, help, samples }) => [
    `# HELP ${name} ${help}`,
    `# TYPE ${name} ${type}`,
    ...samples.map(({ labels, value, timeMs }) => {
      const pairs = Object.entries(labels).map(([key, text]) => `${key}=${JSON.stringify(text)}`)
      const where = pairs.length === 0 ? '' : `{${pairs.join(',')}}`
      return `${name}${where} ${value}${timeMs === undefined ? '' : ` ${timeMs}`}`
    }),
  ])
  return `${lines.join('\n')}\n`
}
