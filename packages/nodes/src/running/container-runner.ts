/** Runs the containers of one pod: pulls, starts, ends, restarts with back-off. */
import type { Pod } from '@gyropilot/api'
import { mayRestartAllContainers } from '@gyropilot/api'
import { anySignal, hexDigits, sleep } from '@gyropilot/foundation'
import type { ContainerBehavior, PodBehavior } from '../behavior/behavior.ts'
import { durationText } from '../behavior/duration.ts'
import { ContainerRounds } from './container-rounds.ts'
import { ContainerEnds } from './container-ends.ts'
import { backOffFor, recordOn, waitFor } from './container-news.ts'
import { ContainerRuns } from './container-runs.ts'
import { GraceTime } from './grace-time.ts'
import { BACK_OFF_BASE_MS, BACK_OFF_LIMIT_MS, pullImage } from './image-pull.ts'
import { runHook } from './lifecycle-hooks.ts'
import { mayRestart, restartsAll } from './local-pod.ts'
import type { LocalContainer, LocalPod } from './local-pod.ts'
import type { RunnerServices } from './runner-services.ts'

/** A run longer than this starts the back-off anew. */
const BACK_OFF_RESET_MS = 600_000
/** The kubelet notices an ended container when it looks at its runtime. */
const RELIST_MS = 1_000
/** A container that cannot be made is tried again when its pod is looked at again. */
const CONFIGURATION_RETRY_MS = 10_000

export class ContainerRunner {
  readonly #local: LocalPod
  readonly #behavior: PodBehavior
  readonly #services: RunnerServices
  readonly #ends: ContainerEnds
  readonly #runs: ContainerRuns
  /** Of pods with a rule that restarts all of their containers: there are few. */
  readonly #rounds: ContainerRounds | undefined
  /** Runs what is beside the rounds. */
  readonly #beside: ContainerRunner = this

  constructor(
    local: LocalPod,
    behavior: PodBehavior,
    services: RunnerServices,
    mayHaveRounds = true,
  ) {
    this.#local = local
    this.#behavior = behavior
    if (mayHaveRounds && mayRestartAllContainers(services.pod().spec ?? {})) {
      const rounds = new ContainerRounds(local, services)
      this.#rounds = rounds
      this.#beside = new ContainerRunner(local, behavior, services, false)
      this.#services = {
        ...services,
        get signal() {
          return rounds.signal
        },
      }
    } else this.#services = services
    this.#ends = new ContainerEnds(behavior, this.#services)
    this.#runs = new ContainerRuns(behavior, this.#ends, this.#services, () => local.ending)
  }

  /**
   * Resolves when the pod has come to its end by itself: sidecars, and what debugs it, are left to `stopAll`. Rejects when its course
   * is broken off.
   */
  runAll(): Promise<void> {
    return this.#rounds?.runAll(() => this.#runOnce()) ?? this.#runOnce()
  }

  async #runOnce(): Promise<void> {
    if (await this.#runFirst()) await this.#runMain()
  }

  /** Settles when all have ended for good. There are many pods, and most have one container: nothing is gathered for it. */
  #runMain(): Promise<unknown> {
    const main = this.#local.containers.filter(({ role }) => role === 'main')
    if (main.slice(0, -1).some(({ spec }) => spec.lifecycle?.postStart))
      return this.#runInTurn(main)
    const courses = main.map((container) => this.#course(container))
    return courses.length === 1 ? courses[0]! : Promise.all(courses)
  }

  /** Each is tried after those before it were: a postStart hook holds up what comes after it. */
  async #runInTurn(main: readonly LocalContainer[]): Promise<void> {
    const courses: Promise<boolean>[] = []
    for (const container of main) {
      const { state } = container
      const course = this.#course(container)
      course.catch(() => {})
      courses.push(course)
      const isNew = state.state === 'waiting' && container.containerId === undefined
      if (isNew) await Promise.race([course, this.#untilNot(container, state)])
    }
    await Promise.all(courses)
  }

  /** Once it was tried it runs, has run, or waits for another reason. */
  async #untilNot(container: LocalContainer, state: LocalContainer['state']): Promise<void> {
    while (container.state === state) await this.#sleep(50)
  }

  /** What comes before the main containers. False: it failed for good. */
  async #runFirst(): Promise<boolean> {
    const { hasRun, initReruns } = this.#local
    const goesOn = hasRun && initReruns !== 'all'
    this.#local.initReruns = 'none'
    for (const container of this.#local.containers) {
      if (initReruns === 'unseen' && container.role === 'init') await this.#runs.repeat(container)
      if (container.role === 'main' || goesOn) continue
      const course = this.#course(container)
      if (container.role === 'init') {
        if (!(await course)) return false
      } else {
        course.catch(() => {})
        await this.#untilStarted(container)
      }
    }
    for (const sidecar of this.#local.containers) {
      if (sidecar.role === 'sidecar' && goesOn) this.#course(sidecar).catch(() => {})
    }
    return true
  }

  /** One that was added to debug the pod: runs once, beside the others. */
  async runEphemeral(container: LocalContainer): Promise<void> {
    if (this.#beside !== this) return this.#beside.runEphemeral(container)
    const behavior = this.#behavior.container(container.spec, container.role)
    if (container.state.state === 'waiting') {
      await pullImage(container, behavior, this.#services)
      await this.#untilConfigured(container)
      await this.#start(container, behavior)
    }
    if (container.state.state !== 'running') return
    const run = behavior.runs[0]!
    const exitCode = await this.#runs.run(container, behavior, run)
    await this.#ends.conclude(container, { ...run, exitCode })
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
    const grace = new GraceTime(clock, this.#ends.graceMs())
    await this.#ends.preStop(container, grace, signal)
    const exitCode = await this.#ends.exitCodeOfStop(container, grace, signal)
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
      this.#runs.keepProbingReadiness(container, scope.signal)
    }
    const hooks = new Map(
      running.map((container) => [container, this.#ends.preStop(container, grace, signal)]),
    )
    const stop = (container: LocalContainer): Promise<void> =>
      this.#ends.stop(container, grace, signal, hooks.get(container))
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

  /** One container until it ends for good; true when it succeeded. */
  async #course(container: LocalContainer): Promise<boolean> {
    let behavior = this.#behavior.container(container.spec, container.role)
    let { image } = container.spec
    let backOffMs = 0
    for (;;) {
      if (container.state.state === 'terminated') {
        const { exitCode, startedAtMs, finishedAtMs } = container.state
        if (this.#rounds !== undefined && restartsAll(container, exitCode)) {
          await this.#sleep(RELIST_MS)
          return this.#rounds.restartAll()
        }
        if (!mayRestart(container, this.#services.pod(), exitCode)) return exitCode === 0
        if (finishedAtMs - startedAtMs > BACK_OFF_RESET_MS) backOffMs = 0
        const isSame = await this.#backOff(container, backOffMs)
        const longer = Math.min(Math.max(BACK_OFF_BASE_MS, backOffMs * 2), BACK_OFF_LIMIT_MS)
        backOffMs = isSame ? longer : 0
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
      const exitCode = await this.#runs.run(container, behavior, run)
      const end = exitCode === run.exitCode ? run : { durationMs: 0, exitCode }
      // Of an end that a start follows at once nobody is told: for a pod that does not restart it would be the last.
      if (container.restartsAtOnce) container.last = await this.#ends.endOf(container, end)
      else await this.#ends.conclude(container, end)
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
    signal.throwIfAborted()
    if (container.state.state === 'terminated') container.last = container.state
    // Counted here and not while it waits: a restart may come to nothing, or be taken up by another process.
    if (container.containerId !== undefined) container.restarts++
    container.containerId = containerId
    container.resources = container.spec.resources
    container.state = { state: 'running', startedAtMs }
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
    await this.#ends.stop(container, new GraceTime(clock, this.#ends.graceMs()), signal)
  }

  async #untilStarted(container: LocalContainer): Promise<void> {
    while (!container.started) await this.#sleep(50)
  }

  #sleep(delayMs: number): Promise<void> {
    return sleep(this.#services.clock, delayMs, this.#services.signal)
  }
}
