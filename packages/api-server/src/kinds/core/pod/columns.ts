/** The row of a pod: what kubectl get shows. */
import type {
  Container,
  ContainerStateTerminated,
  ContainerStatus,
  Pod,
  PodSpec,
  PodStatus,
} from '@gyropilot/api'
import type { StoredOf } from '../../../registry/kind-rules.ts'
import { formatAge } from '../../../printing/ages.ts'
import { tableColumns } from '../../columns.ts'

function restartsText(pod: StoredOf<Pod>, nowMs: number): string {
  const { restarts, lastRestart } = summarize(pod)
  return restarts !== 0 && lastRestart !== ''
    ? `${restarts} (${formatAge(lastRestart, nowMs)} ago)`
    : `${restarts}`
}

interface Summary {
  ready: number
  total: number
  restarts: number
  lastRestart: string
  reason: string
}

const isSidecar = (container: StoredOf<Container> | undefined): boolean =>
  container?.restartPolicy === 'Always'

function summarize(pod: StoredOf<Pod>): Summary {
  const { spec = {}, status = {} } = pod
  const summary: Summary = {
    ready: 0,
    total: (spec.containers ?? []).length,
    restarts: 0,
    lastRestart: '',
    reason: status.reason || status.phase || '',
  }
  for (const condition of status.conditions ?? []) {
    if (condition.type === 'PodScheduled' && condition.reason === 'SchedulingGated')
      summary.reason = 'SchedulingGated'
  }
  const { initializing, sidecars } = addInitContainers(spec, status, summary)
  if (!initializing || isInitialized(status)) {
    // Init containers no longer count: from here on the restarts are those of sidecars and regular containers.
    Object.assign(summary, sidecars)
    addContainers(status, summary)
  }
  if (pod.metadata?.deletionTimestamp) {
    if (status.reason === 'NodeLost') summary.reason = 'Unknown'
    else if (status.phase !== 'Succeeded' && status.phase !== 'Failed')
      summary.reason = 'Terminating'
  }
  return summary
}

function isInitialized(status: StoredOf<PodStatus>): boolean {
  return (status.conditions ?? []).some(
    (condition) => condition.type === 'Initialized' && condition.status === 'True',
  )
}

function note(summary: Pick<Summary, 'lastRestart'>, container: StoredOf<ContainerStatus>): void {
  const finished: string = container.lastState?.terminated?.finishedAt ?? ''
  if (finished > summary.lastRestart) summary.lastRestart = finished
}

function terminatedText(terminated: StoredOf<ContainerStateTerminated>): string {
  if (terminated.reason) return terminated.reason
  return terminated.signal ? `Signal:${terminated.signal}` : `ExitCode:${terminated.exitCode ?? 0}`
}

/** Initializing: the pod stands at an init container. */
function addInitContainers(
  spec: StoredOf<PodSpec>,
  status: StoredOf<PodStatus>,
  summary: Summary,
): { initializing: boolean; sidecars: Pick<Summary, 'restarts' | 'lastRestart'> } {
  const specs = new Map(
    (spec.initContainers ?? []).map((container) => [container.name, container] as const),
  )
  for (const container of specs.values()) if (isSidecar(container)) summary.total++
  const sidecars = { restarts: 0, lastRestart: '' }
  for (const [index, container] of (status.initContainerStatuses ?? []).entries()) {
    const sidecar = isSidecar(specs.get(container.name))
    summary.restarts += container.restartCount ?? 0
    note(summary, container)
    if (sidecar) {
      sidecars.restarts += container.restartCount ?? 0
      note(sidecars, container)
    }
    const { terminated, waiting } = container.state ?? {}
    if (terminated && (terminated.exitCode ?? 0) === 0) continue
    if (sidecar && container.started === true) {
      if (container.ready === true) summary.ready++
      continue
    }
    if (terminated) summary.reason = `Init:${terminatedText(terminated)}`
    else if (waiting?.reason && waiting.reason !== 'PodInitializing')
      summary.reason = `Init:${waiting.reason}`
    else summary.reason = `Init:${index}/${specs.size}`
    return { initializing: true, sidecars }
  }
  return { initializing: false, sidecars }
}

function addContainers(status: StoredOf<PodStatus>, summary: Summary): void {
  let hasRunning = false
  for (const container of [...(status.containerStatuses ?? [])].toReversed()) {
    summary.restarts += container.restartCount ?? 0
    note(summary, container)
    const { waiting, terminated, running } = container.state ?? {}
    if (waiting?.reason) summary.reason = waiting.reason
    else if (terminated) summary.reason = terminatedText(terminated)
    else if (container.ready === true && running) {
      hasRunning = true
      summary.ready++
    }
  }
  if (summary.reason === 'Completed' && hasRunning) {
    const ready = (status.conditions ?? []).some(
      (condition) => condition.type === 'Ready' && condition.status === 'True',
    )
    summary.reason = ready ? 'Running' : 'NotReady'
  }
}

function readinessGates(pod: StoredOf<Pod>): string {
  const gates = pod.spec?.readinessGates ?? []
  if (gates.length === 0) return '<none>'
  const passed = gates.filter((gate) =>
    (pod.status?.conditions ?? []).some(
      (condition) => condition.type === gate.conditionType && condition.status === 'True',
    ),
  )
  return `${passed.length}/${gates.length}`
}

export const podColumns = tableColumns<Pod>('pods', {
  Ready: (pod) => {
    const { ready, total } = summarize(pod)
    return `${ready}/${total}`
  },
  Status: (pod) => summarize(pod).reason,
  Restarts: restartsText,
  IP: (pod) => pod.status?.podIPs?.[0]?.ip || pod.status?.podIP || '<none>',
  Node: (pod) => pod.spec?.nodeName || '<none>',
  'Nominated Node': (pod) => pod.status?.nominatedNodeName || '<none>',
  'Readiness Gates': readinessGates,
})

export function podRowConditions(pod: StoredOf<Pod>): readonly unknown[] | undefined {
  const phase = pod.status?.phase
  if (phase === 'Succeeded') {
    return [
      {
        type: 'Completed',
        status: 'True',
        reason: 'Succeeded',
        message: 'The pod has completed successfully.',
      },
    ]
  }
  if (phase === 'Failed')
    return [{ type: 'Completed', status: 'True', reason: 'Failed', message: 'The pod failed.' }]
  return undefined
}
