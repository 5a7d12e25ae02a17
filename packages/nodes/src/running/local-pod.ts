/** What a node knows of a pod that it runs: the truth that statuses are made from. */
import type { Container, ContainerStatus, Pod } from '@gyropilot/api'
import { RESTART_ALL_CONTAINERS, restartActionFor } from '@gyropilot/api'
import type { ContainerRole } from '../behavior/usual-run.ts'
import type { Listeners } from '../answers/listeners.ts'
import type { Heard } from '../answers/agnhost-nettest.ts'
import { Consumption } from '../answers/resource-consumer.ts'
import type { PrintedLines } from '../container/printed-lines.ts'
import type { ProgramConsole } from '../container/program-console.ts'
import type { Guestbook } from '../shell/guestbook.ts'
import type { TrapHandler } from '../shell/process.ts'

/** Said in the name of a program, in the run that began then. */
interface Told {
  /** Undefined: it was being started. */
  readonly startedAtMs: number | undefined
  readonly printed: PrintedLines
}

export type ContainerResources = NonNullable<Container['resources']>

/** A resize that was asked for and is not in effect. */
interface ResizeState {
  /** Not granted: there is no room. */
  readonly pending?: { readonly message: string; readonly generation: number | undefined }
  /** Granted, and not in effect in every container. */
  readonly inProgress?: { readonly generation: number | undefined }
}

/** Times are 0 and the id is empty where nobody knows. */
export interface Terminated {
  readonly exitCode: number
  readonly reason: string
  readonly message?: string
  readonly startedAtMs: number
  readonly finishedAtMs: number
  readonly containerId: string
}

export type ContainerState =
  | { readonly state: 'waiting'; readonly reason: string; readonly message?: string }
  | { readonly state: 'running'; readonly startedAtMs: number }
  | ({ readonly state: 'terminated' } & Terminated)

/** A command line that runs here. */
interface RunningProgram {
  /** Undefined: it cannot be run here after all. Rejects when it is killed. */
  readonly ended: Promise<number | undefined>
  kill(): void
}

export interface LocalContainer {
  /** As the node has granted it: with the resources of a resize from when that was granted. */
  spec: Container
  /** What it runs with, since it was started. */
  resources: ContainerResources | undefined
  readonly role: ContainerRole
  state: ContainerState
  last: Terminated | undefined
  restarts: number
  started: boolean
  ready: boolean
  containerId: string | undefined
  imageId: string
  /** Ends the run that is going on: an attached shell was left. */
  finish: ((exitCode: number) => void) | undefined
  /** Of programs that somebody may type into: of the run that goes on, and of the one before. */
  consoles: readonly ProgramConsole[]
  /**
   * Whether what it runs are commands known here, none of which opens a port; resolves once its program waits or it is known that it
   * cannot be run. Undefined: it has none of its own.
   */
  runsHere: Promise<boolean> | undefined
  /** Of the run that goes on. In a pod that is being ended it goes on, too, until it ends or is stopped. */
  program: RunningProgram | undefined
  /** What its program does when it is asked to end; undefined: the usual. */
  trap: TrapHandler | undefined
  /** SIGTERM was sent to the run that goes on. */
  isEnding: boolean
  /** Of its program. */
  readonly listeners: Listeners
  /** What its program was told to take. */
  readonly consumption: Consumption
  /** What its program was sent. */
  readonly heard: Heard
  /** Said in the name of its program, in the last run in which anybody did. */
  told: Told | undefined
  /** What its program holds, if it is one. */
  guestbook: Guestbook | undefined
  /** Ends a wait after a failure: the container was defined anew. */
  wake: (() => void) | undefined
  /** It starts again whatever its policy says, and does not wait. */
  restartsAtOnce: boolean
}

export interface LocalPod {
  readonly uid: string
  readonly containers: readonly LocalContainer[]
  /** For debugging; they come later, never restart, and do not count for phase and readiness. */
  readonly ephemeral: LocalContainer[]
  readonly startedAtMs: number
  ips: readonly string[]
  /** A main container has run: init containers count as done from then on. */
  hasRun: boolean
  /** A rule has ended all of its containers, and none has begun again. */
  isRestartingAll: boolean
  /** Of init containers that have succeeded: all begin anew, though the pod may have run; or unseen, for the files that they left. */
  initReruns: 'none' | 'all' | 'unseen'
  /** The pod is being ended (deletion, deadline, eviction, its main containers are done): nothing restarts. */
  ending: boolean
  /** Rejected, past its deadline or evicted. */
  failure: { readonly reason: string; readonly message: string } | undefined
  /** Its node did not take it: it never ran here. */
  isRejected: boolean
  /** Its node ended it, as it took too much. */
  isEvicted: boolean
  resize: ResizeState
}

/** Of a container that nobody saw end. */
const DIED_EXIT_CODE = 255

const NOT_FOUND: Terminated = {
  exitCode: 137,
  reason: 'ContainerStatusUnknown',
  message: 'The container could not be located when the pod was terminated',
  startedAtMs: 0,
  finishedAtMs: 0,
  containerId: '',
}

export function localPod(pod: Pod, nowMs: number): LocalPod {
  const init = pod.spec?.initContainers ?? []
  const waiting = init.length > 0 ? 'PodInitializing' : 'ContainerCreating'
  const local = (spec: Container, role: ContainerRole): LocalContainer =>
    localContainer(spec, role, waiting)
  return {
    uid: pod.metadata?.uid ?? '',
    containers: [
      ...init.map((spec) => local(spec, spec.restartPolicy === 'Always' ? 'sidecar' : 'init')),
      ...(pod.spec?.containers ?? []).map((spec) => local(spec, 'main')),
    ],
    ephemeral: [],
    startedAtMs: nowMs,
    ips: [],
    hasRun: false,
    isRestartingAll: false,
    initReruns: 'none',
    ending: false,
    failure: undefined,
    isRejected: false,
    isEvicted: false,
    resize: {},
  }
}

export function localContainer(
  spec: Container,
  role: ContainerRole,
  waiting = 'ContainerCreating',
): LocalContainer {
  return {
    spec,
    resources: undefined,
    role,
    state: { state: 'waiting', reason: waiting },
    last: undefined,
    restarts: 0,
    started: false,
    ready: false,
    containerId: undefined,
    imageId: '',
    finish: undefined,
    consoles: [],
    runsHere: undefined,
    program: undefined,
    trap: undefined,
    isEnding: false,
    listeners: new Map(),
    consumption: new Consumption(),
    heard: new Map(),
    told: undefined,
    guestbook: undefined,
    wake: undefined,
    restartsAtOnce: false,
  }
}

/** What people type into and hear of the run that began then; undefined: its log follows from its command. */
export function consoleOf(
  { consoles }: LocalContainer,
  startedAtMs: number,
): ProgramConsole | undefined {
  return consoles.find((console) => console.startedAtMs === startedAtMs)
}

/** A shell that waits for somebody to attach: its run lasts until they leave. */
export function isInteractive({ stdin, command = [], args = [] }: Container): boolean {
  const words = [...command, ...args]
  return stdin === true && (words.length === 0 || /^(\/bin\/)?(sh|ash|bash)$/.test(words.join(' ')))
}

/** Whether a container that ended with this code is started again: by its rules, its own policy, or the pod's. */
export function mayRestart(container: LocalContainer, pod: Pod, exitCode: number): boolean {
  if (container.role === 'sidecar') return true
  if (restartActionFor(container.spec, exitCode) !== undefined) return true
  const policy = container.spec.restartPolicy ?? pod.spec?.restartPolicy ?? 'Always'
  if (policy === 'Always') return container.role === 'main' || exitCode !== 0
  return policy === 'OnFailure' && exitCode !== 0
}

/** Whether all containers of the pod are started again when this one ended with this code. */
export function restartsAll({ spec }: LocalContainer, exitCode: number): boolean {
  return restartActionFor(spec, exitCode) === RESTART_ALL_CONTAINERS
}

/** Takes up a pod that ran before this process did: containers keep running or waiting, counts and addresses stay. */
export function restoredPod(pod: Pod, nowMs: number): LocalPod {
  const local = localPod(pod, nowMs)
  local.initReruns = 'unseen'
  const statuses = [
    ...(pod.status?.initContainerStatuses ?? []),
    ...(pod.status?.containerStatuses ?? []),
  ]
  const debugging = pod.status?.ephemeralContainerStatuses ?? []
  for (const spec of pod.spec?.ephemeralContainers ?? []) {
    if (debugging.some(({ name }) => name === spec.name))
      local.ephemeral.push(localContainer(spec as Container, 'ephemeral'))
  }
  statuses.push(...debugging)
  for (const container of [...local.containers, ...local.ephemeral]) {
    const status = statuses.find(({ name }) => name === container.spec.name)
    if (status === undefined) continue
    container.restarts = status.restartCount
    container.containerId = status.containerID
    container.imageId = status.imageID
    container.last = restoredEnd(status.lastState?.terminated)
    // A resize that was not in effect is looked at once more.
    container.resources = status.resources
    if (status.resources !== undefined)
      container.spec = { ...container.spec, resources: status.resources }
    const end = restoredEnd(status.state?.terminated)
    const { waiting } = status.state ?? {}
    if (status.state?.running !== undefined) {
      container.state = {
        state: 'running',
        startedAtMs: Date.parse(status.state.running.startedAt ?? ''),
      }
      container.started = status.started ?? true
      container.ready = status.ready
    } else if (end !== undefined) {
      container.state = { state: 'terminated', ...end }
    } else if (waiting?.reason) {
      const { reason, message } = waiting
      container.state = { state: 'waiting', reason, ...(message && { message }) }
    }
    const hasRun = container.state.state !== 'waiting' || container.last !== undefined
    if (container.role === 'main' && hasRun) local.hasRun = true
  }
  const { podIP, podIPs = [] } = pod.status ?? {}
  local.ips = podIPs.length > 0 ? podIPs.map(({ ip }) => ip) : podIP ? [podIP] : []
  return local
}

/** What is left of a pod whose machine was off: its containers died with it, and so did its address. */
export function rebootedPod(pod: Pod, nowMs: number): LocalPod {
  const local = restoredPod(pod, nowMs)
  for (const container of [...local.containers, ...local.ephemeral]) {
    if (container.state.state !== 'running') continue
    const { startedAtMs } = container.state
    const { containerId = '' } = container
    const end = { exitCode: DIED_EXIT_CODE, reason: 'Error', startedAtMs, finishedAtMs: nowMs }
    container.state = { state: 'terminated', ...end, containerId }
    container.started = false
    container.ready = false
  }
  local.ips = []
  local.initReruns = goesOn(pod, local) ? 'all' : 'none'
  if (local.initReruns === 'all') local.containers.forEach(beginAnew)
  return local
}

/** Whether a main container of it is to run: none of a pod that is done, or of one that does not restart. */
function goesOn(pod: Pod, { containers }: LocalPod): boolean {
  return containers.some((container) => {
    const { role, state } = container
    if (role !== 'main') return false
    return state.state !== 'terminated' || mayRestart(container, pod, state.exitCode)
  })
}

/**
 * Of a pod that is being ended nothing waits any more: what waited for a restart has ended as it last did; what never ran in a pod
 * that has begun cannot be found. In one that has not begun, containers go on waiting.
 */
export function endWaits({ containers, hasRun }: LocalPod): void {
  for (const container of containers) {
    const { role, state, last } = container
    if (state.state !== 'waiting') continue
    if (last !== undefined) {
      container.state = { state: 'terminated', ...last }
      container.last = undefined
    } else if (hasRun && role !== 'init') container.state = { state: 'terminated', ...NOT_FOUND }
  }
}

/** What an init container left is not in a new sandbox. */
function beginAnew(container: LocalContainer): void {
  const { role, state } = container
  if (role !== 'init' || state.state !== 'terminated' || state.exitCode !== 0) return
  container.last = state
  container.state = { state: 'waiting', reason: 'PodInitializing' }
}

function restoredEnd(
  end: NonNullable<NonNullable<ContainerStatus['state']>['terminated']> | undefined,
): Terminated | undefined {
  if (end === undefined) return undefined
  return {
    exitCode: end.exitCode,
    reason: end.reason ?? (end.exitCode === 0 ? 'Completed' : 'Error'),
    ...(end.message ? { message: end.message } : {}),
    startedAtMs: Date.parse(end.startedAt ?? '') || 0,
    finishedAtMs: Date.parse(end.finishedAt ?? '') || 0,
    containerId: end.containerID ?? '',
  }
}
