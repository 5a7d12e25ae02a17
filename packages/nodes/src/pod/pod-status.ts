/** Statuses from what a node knows. Contract: docs/behaviour/simulation/kubelet.md, Pod status. Pure. */
import { podResources } from '@gyropilot/api'
import type { Pod, PodCondition, PodStatus } from '@gyropilot/api'
import { mayRestartAllContainers } from '@gyropilot/api'
import { formatTime } from '@gyropilot/foundation'
import { containerStatusesOf } from './container-status.ts'
import { mayRestart } from '../running/local-pod.ts'
import type { LocalContainer, LocalPod } from '../running/local-pod.ts'
import { actualPod, grantedPod } from '../running/pod-resize.ts'

interface NodeAddresses {
  readonly hostIps: readonly string[]
}

/** The status to be written, given what is stored: foreign conditions and unchanged transition times are kept. */
export function podStatusOf(
  pod: Pod,
  local: LocalPod,
  { hostIps }: NodeAddresses,
  nowMs: number,
): PodStatus {
  if (local.isRejected) return rejectedStatusOf(pod, local)
  const phase = phaseOf(pod, local)
  const { ips } = local
  const stored = pod.status ?? {}
  return {
    ...(isTerminal(phase) ? local.failure : {}),
    phase,
    observedGeneration: pod.metadata?.generation,
    conditions: conditionsOf(pod, local, phase, nowMs),
    hostIP: hostIps[0],
    hostIPs: hostIps.map((ip) => ({ ip })),
    startTime: stored.startTime ?? formatTime(local.startedAtMs),
    ...(ips.length === 0 ? {} : { podIP: ips[0], podIPs: ips.map((ip) => ({ ip })) }),
    ...containerStatusesOf(pod, local),
    ...resourcesOf(pod, local),
  }
}

/** Only that and why: what others say of the pod stays, and of the node's own conditions there are none. */
function rejectedStatusOf(pod: Pod, local: LocalPod): PodStatus {
  const { conditions, startTime } = pod.status ?? {}
  return {
    ...local.failure,
    phase: 'Failed',
    observedGeneration: pod.metadata?.generation,
    startTime: startTime ?? formatTime(local.startedAtMs),
    ...(conditions === undefined ? {} : { conditions: conditions.filter(isForeign) }),
  }
}

type Phase = 'Pending' | 'Running' | 'Succeeded' | 'Failed'

/** A terminal phase never changes, and is held back as long as anything runs. */
export function phaseOf(pod: Pod, local: LocalPod): Phase {
  const stored = pod.status?.phase
  if (stored === 'Succeeded' || stored === 'Failed') return stored
  const phase = currentPhaseOf(pod, local)
  if (!isTerminal(phase)) return phase
  const all = [...local.containers, ...local.ephemeral]
  const isOver = all.every(({ state }) => state.state !== 'running')
  return isOver ? phase : stored === 'Running' ? stored : 'Pending'
}

/** The phase rules in the page's order. */
function currentPhaseOf(pod: Pod, local: LocalPod): Phase {
  const running = local.containers.filter((c) => c.role !== 'init' && c.state.state === 'running')
  if (local.failure !== undefined && running.length === 0) return 'Failed'
  const init = local.containers.filter((container) => container.role === 'init')
  const main = local.containers.filter((container) => container.role === 'main')
  const endedFor = (container: LocalContainer): number | undefined =>
    container.state.state === 'terminated' ? container.state.exitCode : undefined
  for (const container of init) {
    const code = endedFor(container)
    if (code === undefined || code === 0 || mayRestart(container, pod, code)) continue
    return running.length === 0 ? 'Failed' : 'Pending'
  }
  const initialized = isInitialized(local)
  if (!initialized && !local.ending) return 'Pending'
  const neverRan = main.some((c) => c.state.state === 'waiting' && c.last === undefined)
  if (neverRan && !local.ending) return 'Pending'
  if (running.length > 0) return 'Running'
  if (!local.ending) {
    const restarts = main.some((container) => {
      const code = endedFor(container)
      return code === undefined || mayRestart(container, pod, code)
    })
    if (restarts) return 'Running'
  }
  return !neverRan && main.every((container) => endedFor(container) === 0) ? 'Succeeded' : 'Failed'
}

function isInitialized(local: LocalPod): boolean {
  return local.hasRun || initContainersInTheWay(local).length === 0
}

function initContainersInTheWay(local: LocalPod): readonly LocalContainer[] {
  return local.containers.filter(
    (container) =>
      (container.role === 'init' &&
        !(container.state.state === 'terminated' && container.state.exitCode === 0)) ||
      (container.role === 'sidecar' && !container.started),
  )
}

const RESIZE = ['PodResizePending', 'PodResizeInProgress']
const OWNED = [
  'PodReadyToStartContainers',
  'Initialized',
  'Ready',
  'ContainersReady',
  'PodScheduled',
]

/** Others write it, too: it is the node's only where it evicts. */
const DISRUPTED = 'DisruptionTarget'
const RESTARTING = 'AllContainersRestarting'

function isForeign({ type }: PodCondition): boolean {
  return !OWNED.includes(type) && type !== RESTARTING && !RESIZE.includes(type)
}

type Verdict = { readonly status: boolean; readonly reason?: string; readonly message?: string }

function conditionsOf(
  pod: Pod,
  local: LocalPod,
  phase: string,
  nowMs: number,
): readonly PodCondition[] {
  const stored = pod.status?.conditions ?? []
  const isEvicted = local.isEvicted && isTerminal(phase)
  const foreign = stored.filter(
    (condition) => isForeign(condition) && !(isEvicted && condition.type === DISRUPTED),
  )
  const containersReady = containersReadyOf(local, phase)
  const verdicts: Record<string, Verdict> = {
    PodReadyToStartContainers: { status: local.ips.length > 0 && !isTerminal(phase) },
    Initialized: initializedOf(local, phase),
    Ready: readyOf(pod, containersReady, foreign),
    ContainersReady: containersReady,
    PodScheduled: { status: true },
    ...(isEvicted
      ? {
          [DISRUPTED]: {
            status: true,
            reason: 'TerminationByKubelet',
            message: local.failure?.message ?? '',
          },
        }
      : {}),
    ...(mayRestartAllContainers(pod.spec ?? {})
      ? { [RESTARTING]: restartingOf(local, phase) }
      : {}),
  }
  const owned = Object.keys(verdicts).map((type): PodCondition => {
    const verdict = verdicts[type]!
    const status = verdict.status ? 'True' : 'False'
    const before = stored.find((condition) => condition.type === type)
    return {
      type,
      status,
      observedGeneration: pod.metadata?.generation,
      lastProbeTime: null as unknown as string,
      lastTransitionTime:
        before?.status === status && before.lastTransitionTime
          ? before.lastTransitionTime
          : formatTime(nowMs),
      ...(verdict.reason === undefined ? {} : { reason: verdict.reason }),
      ...(verdict.message === undefined ? {} : { message: verdict.message }),
    }
  })
  const resize = isTerminal(phase) ? [] : resizeConditions(local.resize, stored, nowMs)
  return [...foreign, ...resize, ...owned]
}

function resizeConditions(
  { pending, inProgress }: LocalPod['resize'],
  stored: readonly PodCondition[],
  nowMs: number,
): readonly PodCondition[] {
  const condition = (type: string, generation: number | undefined): PodCondition => {
    const before = stored.find((other) => other.type === type)
    const since = before?.lastTransitionTime ?? formatTime(nowMs)
    const isSame = before?.observedGeneration === generation
    return {
      type,
      status: 'True',
      observedGeneration: generation,
      lastProbeTime: (isSame ? before?.lastProbeTime : undefined) ?? formatTime(nowMs),
      lastTransitionTime: since,
    }
  }
  return [
    ...(pending === undefined
      ? []
      : [
          {
            ...condition('PodResizePending', pending.generation),
            reason: 'Deferred',
            message: pending.message,
          },
        ]),
    ...(inProgress === undefined ? [] : [condition('PodResizeInProgress', inProgress.generation)]),
  ]
}

/** Of the pod as a whole: what it was granted, and what its containers run with. */
function resourcesOf(
  pod: Pod,
  local: LocalPod,
): Pick<PodStatus, 'allocatedResources' | 'resources'> {
  const allocatedResources = podResources(grantedPod(pod, local), 'requests')
  const actual = actualPod(pod, local)
  const [requests, limits] = [podResources(actual, 'requests'), podResources(actual, 'limits')]
  const isEmpty = (list: object): boolean => Object.keys(list).length === 0
  return {
    ...(isEmpty(allocatedResources) ? {} : { allocatedResources }),
    ...(isEmpty(requests) && isEmpty(limits)
      ? {}
      : {
          resources: {
            ...(isEmpty(limits) ? {} : { limits }),
            ...(isEmpty(requests) ? {} : { requests }),
          },
        }),
  }
}

function isTerminal(phase: string): boolean {
  return phase === 'Succeeded' || phase === 'Failed'
}

function initializedOf(local: LocalPod, phase: string): Verdict {
  if (phase === 'Succeeded') return { status: true, reason: 'PodCompleted' }
  if (isInitialized(local)) return { status: true }
  const names = initContainersInTheWay(local).map((container) => container.spec.name)
  return {
    status: false,
    reason: 'ContainersNotInitialized',
    message: `containers with incomplete status: [${names.join(' ')}]`,
  }
}

function restartingOf({ isRestartingAll }: LocalPod, phase: string): Verdict {
  if (phase === 'Succeeded') return { status: false, reason: 'PodCompleted' }
  if (phase === 'Failed') return { status: false, reason: 'PodFailed' }
  if (!isRestartingAll) return { status: false }
  return {
    status: true,
    reason: 'RestartAllContainersStarted',
    message: 'container exited with restart policy rule',
  }
}

function containersReadyOf(local: LocalPod, phase: string): Verdict {
  if (phase === 'Succeeded') return { status: false, reason: 'PodCompleted' }
  if (phase === 'Failed') return { status: false, reason: 'PodFailed' }
  const unready = local.containers
    .filter((container) => container.role !== 'init' && !container.ready)
    .map((container) => container.spec.name)
  if (unready.length === 0) return { status: true }
  return {
    status: false,
    reason: 'ContainersNotReady',
    message: `containers with unready status: [${unready.join(' ')}]`,
  }
}

function readyOf(pod: Pod, containersReady: Verdict, conditions: readonly PodCondition[]): Verdict {
  if (!containersReady.status) return containersReady
  for (const gate of pod.spec?.readinessGates ?? []) {
    const condition = conditions.find(({ type }) => type === gate.conditionType)
    if (condition?.status === 'True') continue
    const message = condition
      ? `the status of pod readiness gate "${gate.conditionType}" is not "True", but ${condition.status}`
      : `corresponding condition of pod readiness gate "${gate.conditionType}" does not exist.`
    return { status: false, reason: 'ReadinessGatesNotReady', message }
  }
  return { status: true }
}
