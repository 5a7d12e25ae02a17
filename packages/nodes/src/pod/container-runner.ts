/** Runs the containers of one pod: pulls, starts, ends, restarts with back-off. */
import type { Container, Pod } from '@gyropilot/api'
import { anySignal, hexDigits, sleep } from '@gyropilot/foundation'
import type { Clock, RandomSource } from '@gyropilot/foundation'
import type { EventRecorder } from '@gyropilot/runtime'
import type { ContainerBehavior, PodBehavior, ProbeKind, Run } from '../behavior/behavior.ts'
import { ContainerProbes } from './container-probes.ts'
import { durationText } from '../behavior/duration.ts'
import type { ImageRules } from '../behavior/image.ts'
import { backOffFor, recordOn, waitFor } from './container-news.ts'
import { GraceTime } from './grace-time.ts'
import { BACK_OFF_BASE_MS, BACK_OFF_LIMIT_MS, pullImage } from './image-pull.ts'
import { runHook } from './lifecycle-hooks.ts'
import { isInteractive, mayRestart } from './local-pod.ts'
import type { LocalContainer, LocalPod, Terminated } from './local-pod.ts'
import type { PodPrograms } from './pod-programs.ts'

/** A run longer than this starts the back-off anew. */
const BACK_OFF_RESET_MS = 600_000
/** The kubelet notices an ended container when it looks at its runtime. */
const RELIST_MS = 1_000
/** Of containers for debugging that nobody can attach to. */
const EPHEMERAL_RUN_MS = 1_000
/** A container that cannot be made is tried again when its pod is looked at again. */
const CONFIGURATION_RETRY_MS = 10_000
const KILLED_EXIT_CODE = 137

export interface RunnerServices {
  readonly clock: Clock
  readonly random: RandomSource
  readonly recorder: EventRecorder
  readonly imageRules: ImageRules
  /** The pod as stored now. */
  pod(): Pod
  /** Why a container cannot be made yet, in words. */
  configurationProblem(container: Container): Promise<string | undefined>
  readonly programs: PodPrograms
  /** Aborts when the containers' own courses end. */
  readonly signal: AbortSignal
  changed(): void
}

export class ContainerRunner {
  readonly #local: LocalPod
  readonly #behavior: PodBehavior
  readonly #services: RunnerServices

  constructor(local: LocalPod, behavior: PodBehavior, services: RunnerServices) {
    this.#local = local
    this.#behavior = behavior
    this.#services = services
  }

  /** Resolves true when the pod has come to its end by itself. Rejects when its course is broken off. */
  async runAll(): Promise<boolean> {
    for (const container of this.#local.containers) {
      if (container.role === 'main' || this.#local.hasRun) continue
      const course = this.#course(container)
      if (container.role === 'init') {
        if (await course) continue
        this.#endSidecars()
        return true
      } else {
        course.catch(() => {})
        await this.#untilStarted(container)
      }
    }
    for (const sidecar of this.#local.containers) {
      if (sidecar.role === 'sidecar' && this.#local.hasRun) this.#course(sidecar).catch(() => {})
    }
    const main = this.#local.containers.filter((container) => container.role === 'main')
    await Promise.all(main.map((container) => this.#course(container)))
    this.#endSidecars()
    return true
  }

  /** One that was added to debug the pod: runs once, beside the others. */
  async runEphemeral(container: LocalContainer): Promise<void> {
    const behavior = this.#behavior.container(container.spec, container.role)
    if (container.state.state === 'waiting') {
      await pullImage(container, behavior, this.#services)
      await this.#untilConfigured(container)
      await this.#start(container, behavior)
    }
    if (container.state.state !== 'running') return
    const run = behavior.runs[0]!
    const exitCode = await this.#run(container, behavior, run)
    await this.#conclude(container, { ...run, exitCode })
  }

  /** Containers that have another image now start again with it, and do not wait for that. */
  redefine({ spec }: Pod): void {
    const asked = [...(spec?.initContainers ?? []), ...(spec?.containers ?? [])]
    for (const container of this.#local.containers) {
      const { name } = container.spec
      const image = asked.find((other) => other.name === name)?.image
      if (image === undefined || image === container.spec.image) continue
      container.spec = { ...container.spec, image }
      container.wake?.()
      if (container.state.state !== 'running' || container.role === 'init') continue
      const why = `Container ${name} definition changed, will be restarted`
      this.restart(container, why).catch((error: unknown) => {
        if (!this.#services.signal.aborted) throw error
      })
    }
  }

  /** Stops what runs, to be started again at once; resolves when it has stopped. */
  async restart(container: LocalContainer, why: string): Promise<void> {
    const { clock, signal } = this.#services
    recordOn(container, this.#services, 'Normal', 'Killing', why)
    const grace = new GraceTime(clock, this.#graceMs())
    await this.#preStop(container, grace, signal)
    const exitCode = await this.#exitCodeOfStop(container, grace, signal)
    container.restartsAtOnce = true
    container.finish?.(exitCode)
  }

  /** SIGTERM to all, SIGKILL after the grace time. Resolves when nothing runs any more. */
  async stopAll(grace: GraceTime, signal: AbortSignal): Promise<void> {
    const all = [...this.#local.containers, ...this.#local.ephemeral]
    const running = all.filter(({ state }) => state.state === 'running')
    const over = new AbortController()
    using scope = anySignal([signal, over.signal])
    for (const container of running) {
      recordOn(
        container,
        this.#services,
        'Normal',
        'Killing',
        `Stopping container ${container.spec.name}`,
      )
      this.#keepProbingReadiness(container, scope.signal)
    }
    const hooks = new Map(
      running.map((container) => [container, this.#preStop(container, grace, signal)]),
    )
    const stop = async (container: LocalContainer): Promise<void> => {
      await hooks.get(container)
      await this.#stop(container, grace, signal)
    }
    try {
      await Promise.all(running.filter(({ role }) => role !== 'sidecar').map(stop))
      for (const sidecar of running.filter(({ role }) => role === 'sidecar').reverse()) {
        await stop(sidecar)
      }
    } finally {
      over.abort(new Error('nothing runs any more'))
      for (const hook of hooks.values()) hook.catch(() => {})
    }
  }

  #keepProbingReadiness(container: LocalContainer, signal: AbortSignal): void {
    if (container.spec.readinessProbe === undefined || container.state.state !== 'running') return
    const behavior = this.#behavior.container(container.spec, container.role)
    this.#probes(container, behavior, container.state.startedAtMs, signal).startReadiness()
  }

  #probes(
    container: LocalContainer,
    behavior: ContainerBehavior,
    startedAtMs: number,
    signal: AbortSignal,
  ): ContainerProbes {
    return new ContainerProbes(container, behavior, startedAtMs, {
      ...this.#services,
      signal,
      unhealthy: (kind, output) => this.#unhealthy(container, kind, output),
    })
  }

  /** What the container asks for before SIGTERM, as long as the grace time allows. */
  async #preStop(container: LocalContainer, grace: GraceTime, signal: AbortSignal): Promise<void> {
    const hook = container.spec.lifecycle?.preStop
    if (hook === undefined) return
    await grace.allows(async (within) => {
      const problem = await runHook(hook, container, this.#services, within)
      if (problem !== undefined)
        recordOn(container, this.#services, 'Warning', 'FailedPreStopHook', 'PreStopHook failed')
    }, signal)
  }

  /** SIGTERM, and SIGKILL when that is not enough. */
  async #stop(container: LocalContainer, grace: GraceTime, signal: AbortSignal): Promise<void> {
    const exitCode = await this.#exitCodeOfStop(container, grace, signal)
    await this.#conclude(container, { durationMs: 0, exitCode })
  }

  async #exitCodeOfStop(
    { spec, role }: LocalContainer,
    grace: GraceTime,
    signal: AbortSignal,
  ): Promise<number> {
    const { terminateMs, terminateExitCode, ignoresTermination } = this.#behavior.container(
      spec,
      role,
    )
    const ended = await grace.passes(ignoresTermination ? Infinity : terminateMs, signal)
    return ended ? terminateExitCode : KILLED_EXIT_CODE
  }

  /** One container until it ends for good; true when it succeeded. */
  async #course(container: LocalContainer): Promise<boolean> {
    let behavior = this.#behavior.container(container.spec, container.role)
    let { image } = container.spec
    let backOffMs = 0
    for (;;) {
      if (container.state.state === 'terminated') {
        const { exitCode, startedAtMs, finishedAtMs } = container.state
        if (!mayRestart(container, this.#services.pod(), exitCode)) return exitCode === 0
        if (finishedAtMs - startedAtMs > BACK_OFF_RESET_MS) backOffMs = 0
        const isSame = await this.#backOff(container, backOffMs)
        const longer = Math.min(Math.max(BACK_OFF_BASE_MS, backOffMs * 2), BACK_OFF_LIMIT_MS)
        backOffMs = isSame ? longer : 0
        container.restarts++
      }
      if (container.state.state !== 'running' || container.restartsAtOnce) {
        await pullImage(container, behavior, this.#services)
        await this.#untilConfigured(container)
        if (image !== container.spec.image) {
          image = container.spec.image
          behavior = this.#behavior.container(container.spec, container.role)
          backOffMs = 0
        }
        if (!(await this.#start(container, behavior))) continue
      }
      const run = behavior.runs[Math.min(container.restarts, behavior.runs.length - 1)]!
      const exitCode = await this.#run(container, behavior, run)
      const end = exitCode === run.exitCode ? run : { durationMs: 0, exitCode }
      // Of an end that a start follows at once nobody is told: for a pod that does not restart it would be the last.
      if (container.restartsAtOnce) container.last = await this.#endOf(container, end)
      else await this.#conclude(container, end)
    }
  }

  /** False: it was cut short. */
  async #backOff(container: LocalContainer, backOffMs: number): Promise<boolean> {
    await this.#sleep(RELIST_MS)
    if (backOffMs === 0 || container.state.state !== 'terminated') return true
    const { name, namespace, uid } = this.#services.pod().metadata ?? {}
    const waitMs = container.state.finishedAtMs + backOffMs - this.#services.clock.nowMs()
    container.last = container.state
    const restarting = `restarting failed container=${container.spec.name} pod=${name}_${namespace}(${uid})`
    container.state = {
      state: 'waiting',
      reason: 'CrashLoopBackOff',
      message: `back-off ${durationText(backOffMs)} ${restarting}`,
    }
    this.#services.changed()
    const text = `Back-off restarting failed container ${container.spec.name} in pod ${name}_${namespace}(${uid})`
    recordOn(container, this.#services, 'Warning', 'BackOff', text)
    return backOffFor(container, this.#services, waitMs)
  }

  /** What its environment refers to must be there. */
  async #untilConfigured(container: LocalContainer): Promise<void> {
    for (;;) {
      const problem = await this.#services.configurationProblem(container.spec)
      if (problem === undefined) return
      waitFor(container, this.#services, 'CreateContainerConfigError', problem)
      recordOn(container, this.#services, 'Warning', 'Failed', `Error: ${problem}`)
      await this.#sleep(CONFIGURATION_RETRY_MS)
    }
  }

  /** False: it has ended already, as its postStart hook failed. */
  async #start(container: LocalContainer, behavior: ContainerBehavior): Promise<boolean> {
    await this.#sleep(behavior.startMs)
    for (let attempt = 1; behavior.startError && attempt <= behavior.startError.times; attempt++) {
      const { reason, message } = behavior.startError
      waitFor(container, this.#services, reason, message)
      recordOn(container, this.#services, 'Warning', 'Failed', `Error: ${message}`)
      await this.#sleep(BACK_OFF_BASE_MS)
    }
    const containerId = `containerd://${hexDigits(this.#services.random, 64)}`
    const startedAtMs = this.#services.clock.nowMs()
    recordOn(container, this.#services, 'Normal', 'Created', 'Container created')
    recordOn(container, this.#services, 'Normal', 'Started', 'Container started')
    const hook = container.spec.lifecycle?.postStart
    const { signal } = this.#services
    // Until the hook is over nobody is told of the container.
    const problem =
      hook && (await runHook(hook, { ...container, containerId }, this.#services, signal))
    if (container.state.state === 'terminated') container.last = container.state
    container.containerId = containerId
    container.resources = container.spec.resources
    container.state = { state: 'running', startedAtMs }
    if (container.restartsAtOnce) container.restarts++
    container.restartsAtOnce = container.started = container.ready = false
    if (container.role === 'main') this.#local.hasRun = true
    if (problem === undefined) return true
    await this.#endAfterHook(container)
    return false
  }

  async #endAfterHook(container: LocalContainer): Promise<void> {
    const { clock, signal } = this.#services
    recordOn(container, this.#services, 'Warning', 'FailedPostStartHook', 'PostStartHook failed')
    recordOn(container, this.#services, 'Normal', 'Killing', 'FailedPostStartHook')
    await this.#stop(container, new GraceTime(clock, this.#graceMs()), signal)
  }

  /** Answers the exit code. */
  async #run(container: LocalContainer, behavior: ContainerBehavior, run: Run): Promise<number> {
    if (this.#isEndless(container, behavior, run)) return this.#untilEnded(container)
    const { signal } = this.#services
    const startedAtMs = container.state.state === 'running' ? container.state.startedAtMs : 0
    // Most containers have nothing that must end with the run: nothing is made for them, there are many.
    const over = isSimple(container, behavior) ? undefined : new AbortController()
    using scope = over === undefined ? undefined : anySignal([signal, over.signal])
    const runSignal = scope?.signal ?? signal
    const probes = this.#probes(container, behavior, startedAtMs, runSignal)
    probes.start()
    this.#services.changed()
    const left = Promise.withResolvers<number>()
    container.finish = left.resolve
    const course = this.#ownCourse(container, behavior, run, startedAtMs, runSignal)
    const killed = probes.failed.then((kind) => this.#killUnhealthy(container, kind))
    try {
      return await Promise.race([course, left.promise, killed])
    } finally {
      course.catch(() => {})
      killed.catch(() => {})
      container.finish = undefined
      over?.abort(new Error('the run is over'))
    }
  }

  /** Runs until somebody ends it, and nothing is asked of it: as most containers of a large cluster, so nothing is kept for it. */
  #isEndless(container: LocalContainer, behavior: ContainerBehavior, run: Run): boolean {
    return isSimple(container, behavior) && runMs(container, behavior, run) === Infinity
  }

  /** Answers the exit code. */
  #untilEnded(container: LocalContainer): Promise<number> {
    const { signal, changed } = this.#services
    container.started = true
    container.ready = true
    changed()
    return new Promise((resolve, reject) => {
      container.finish = resolve
      if (signal.aborted) reject(signal.reason)
      signal.addEventListener('abort', () => reject(signal.reason), { once: true })
    })
  }

  /** What the container does when it is left alone: its command line where that can be run, else what its behaviour says. */
  async #ownCourse(
    container: LocalContainer,
    behavior: ContainerBehavior,
    run: Run,
    startedAtMs: number,
    signal: AbortSignal,
  ): Promise<number> {
    const { clock, programs } = this.#services
    if (!behavior.runsAreScripted && !isInteractive(container.spec)) {
      const exitCode = await programs.program(container, startedAtMs, signal)
      if (exitCode !== undefined) return exitCode
    }
    const durationMs = runMs(container, behavior, run)
    if (!Number.isFinite(durationMs)) return aborted(signal)
    await sleep(clock, Math.max(0, startedAtMs + durationMs - clock.nowMs()), signal)
    return run.exitCode
  }

  #unhealthy(container: LocalContainer, kind: ProbeKind, output: string): void {
    const name = `${kind[0]!.toUpperCase()}${kind.slice(1)}`
    recordOn(container, this.#services, 'Warning', 'Unhealthy', `${name} probe failed: ${output}`)
  }

  /** Answers the exit code. */
  async #killUnhealthy(container: LocalContainer, kind: ProbeKind): Promise<number> {
    const { name, livenessProbe, startupProbe } = container.spec
    const text = `Container ${name} failed ${kind} probe, will be restarted`
    recordOn(container, this.#services, 'Normal', 'Killing', text)
    const probe = kind === 'startup' ? startupProbe : livenessProbe
    const seconds = probe?.terminationGracePeriodSeconds
    const graceMs = seconds === undefined ? this.#graceMs() : Number(seconds) * 1000
    const { clock, signal } = this.#services
    const grace = new GraceTime(clock, graceMs)
    await this.#preStop(container, grace, signal)
    return this.#exitCodeOfStop(container, grace, signal)
  }

  /** The pod's own. */
  #graceMs(): number {
    return Number(this.#services.pod().spec?.terminationGracePeriodSeconds ?? 30) * 1000
  }

  /** With what the container says at its end, unless that is scripted. */
  async #conclude(container: LocalContainer, run: Run): Promise<void> {
    this.#end(container, await this.#endOf(container, run))
  }

  async #endOf(container: LocalContainer, run: Run): Promise<Terminated | undefined> {
    const { state } = container
    if (state.state !== 'running') return undefined
    const ranForMs = this.#services.clock.nowMs() - state.startedAtMs
    const message =
      run.message ?? (await this.#services.programs.lastWords(container, run.exitCode, ranForMs))
    return {
      exitCode: run.exitCode,
      reason: run.reason ?? (run.exitCode === 0 ? 'Completed' : 'Error'),
      ...(message === undefined ? {} : { message }),
      startedAtMs: state.startedAtMs,
      finishedAtMs: this.#services.clock.nowMs(),
      containerId: container.containerId ?? '',
    }
  }

  #end(container: LocalContainer, end: Terminated | undefined): void {
    if (end === undefined || container.state.state !== 'running') return
    container.state = { state: 'terminated', ...end }
    container.started = false
    container.ready = false
    this.#services.changed()
  }

  #endSidecars(): void {
    for (const sidecar of this.#local.containers) {
      if (sidecar.role !== 'sidecar' || sidecar.state.state !== 'running') continue
      const { startedAtMs } = sidecar.state
      const { containerId = '' } = sidecar
      const finishedAtMs = this.#services.clock.nowMs()
      this.#end(sidecar, {
        exitCode: 0,
        reason: 'Completed',
        startedAtMs,
        finishedAtMs,
        containerId,
      })
    }
  }

  async #untilStarted(container: LocalContainer): Promise<void> {
    while (!container.started) await this.#sleep(50)
  }

  #sleep(delayMs: number): Promise<void> {
    return sleep(this.#services.clock, delayMs, this.#services.signal)
  }
}

/** No probes and no command line. */
function isSimple({ spec }: LocalContainer, { readyAfterMs }: ContainerBehavior): boolean {
  const { startupProbe, readinessProbe, livenessProbe, command, args } = spec
  const parts = [startupProbe, readinessProbe, livenessProbe, command, args, readyAfterMs]
  return parts.every((part) => part === undefined)
}

/** How long a run lasts: shells that somebody may attach to until they are left, others as their behaviour says. */
function runMs(container: LocalContainer, behavior: ContainerBehavior, run: Run): number {
  if (behavior.runsAreScripted) return run.durationMs
  if (isInteractive(container.spec)) return Infinity
  const isBrief = container.role === 'ephemeral' && Number.isFinite(run.durationMs)
  return isBrief ? EPHEMERAL_RUN_MS : run.durationMs
}

/** Never resolves; rejects when the signal aborts. */
function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    if (signal.aborted) reject(signal.reason)
    signal.addEventListener('abort', () => reject(signal.reason), { once: true })
  })
}
