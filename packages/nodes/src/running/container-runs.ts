/** One run of a container, from its start to its exit code: its own course, its probes, and who ends it. */
import type { Container, Pod } from '@gyropilot/api'
import { anySignal, sleep, untilAborted } from '@gyropilot/foundation'
import type { ContainerBehavior, PodBehavior, ProbeKind, Run } from '../behavior/behavior.ts'
import { programOf } from '../behavior/image-program.ts'
import type { ContainerEnds } from './container-ends.ts'
import { recordOn } from './container-news.ts'
import { ContainerProbes } from './container-probes.ts'
import { GraceTime } from './grace-time.ts'
import { isInteractive } from './local-pod.ts'
import type { LocalContainer } from './local-pod.ts'
import type { RunnerServices } from './runner-services.ts'

/** Of containers for debugging that nobody can attach to. */
const EPHEMERAL_RUN_MS = 1_000

export class ContainerRuns {
  readonly #behavior: PodBehavior
  readonly #ends: ContainerEnds
  readonly #services: RunnerServices
  readonly #isEnding: () => boolean

  /** `isEnding`: the pod is; who stops its containers stops what runs in them. */
  constructor(
    behavior: PodBehavior,
    ends: ContainerEnds,
    services: RunnerServices,
    isEnding: () => boolean,
  ) {
    this.#behavior = behavior
    this.#ends = ends
    this.#services = services
    this.#isEnding = isEnding
  }

  keepProbingReadiness(container: LocalContainer, signal: AbortSignal): void {
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
      unhealthy: (kind, outcome) => this.#unhealthy(container, kind, outcome),
    })
  }

  /** Answers the exit code. */
  async run(container: LocalContainer, behavior: ContainerBehavior, run: Run): Promise<number> {
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
      if (!this.#isEnding()) this.#ends.kill(container)
      over?.abort(new Error('the run is over'))
    }
  }

  /** An init container that has succeeded runs once more, unseen, where it may have left files of the pod. */
  async repeat(container: LocalContainer): Promise<void> {
    const { pod, programs, signal } = this.#services
    const { spec, role, state } = container
    if (state.state !== 'terminated' || state.exitCode !== 0 || !mayLeaveFiles(spec, pod())) return
    if (!this.#behavior.container(spec, role).runsAreScripted)
      await programs.repeat(container, state, signal)
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
      const onAbort = (): void => reject(signal.reason)
      container.finish = (exitCode) => {
        signal.removeEventListener('abort', onAbort)
        resolve(exitCode)
      }
      if (signal.aborted) onAbort()
      signal.addEventListener('abort', onAbort, { once: true })
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
    const { clock } = this.#services
    if (!behavior.runsAreScripted && !isInteractive(container.spec)) {
      const exitCode = await untilAborted(this.#program(container, startedAtMs), signal)
      if (exitCode !== undefined) return exitCode
    }
    const durationMs = runMs(container, behavior, run)
    if (!Number.isFinite(durationMs)) return aborted(signal)
    await sleep(clock, Math.max(0, startedAtMs + durationMs - clock.nowMs()), signal)
    return run.exitCode
  }

  async #program(container: LocalContainer, startedAtMs: number): Promise<number | undefined> {
    if (programOf(container.spec).length === 0) return undefined
    const { life, programs } = this.#services
    const over = new AbortController()
    using scope = anySignal([life, over.signal])
    const ended = programs.program(container, startedAtMs, scope.signal)
    container.program = { ended, kill: () => over.abort(new Error('the program was killed')) }
    return await ended
  }

  #unhealthy(container: LocalContainer, kind: ProbeKind, outcome: string): void {
    const name = `${kind[0]!.toUpperCase()}${kind.slice(1)}`
    recordOn(container, this.#services, 'Warning', 'Unhealthy', `${name} probe ${outcome}`)
  }

  /** Answers the exit code. */
  async #killUnhealthy(container: LocalContainer, kind: ProbeKind): Promise<number> {
    const { name, livenessProbe, startupProbe } = container.spec
    const text = `Container ${name} failed ${kind} probe, will be restarted`
    recordOn(container, this.#services, 'Normal', 'Killing', text)
    const probe = kind === 'startup' ? startupProbe : livenessProbe
    const seconds = probe?.terminationGracePeriodSeconds
    const graceMs = seconds === undefined ? this.#ends.graceMs() : Number(seconds) * 1000
    const { clock, signal } = this.#services
    const grace = new GraceTime(clock, graceMs)
    await this.#ends.preStop(container, grace, signal)
    return this.#ends.exitCodeOfStop(container, grace, signal)
  }
}

/** No probes and no command line. */
function isSimple({ spec }: LocalContainer, { readyAfterMs }: ContainerBehavior): boolean {
  const { startupProbe, readinessProbe, livenessProbe, command, args } = spec
  const parts = [startupProbe, readinessProbe, livenessProbe, command, args, readyAfterMs]
  return parts.every((part) => part === undefined) && programOf(spec).length === 0
}

/** Files that end with the process: those of volumes that the pod has for itself. */
function mayLeaveFiles({ volumeMounts = [] }: Container, { spec }: Pod): boolean {
  return (spec?.volumes ?? []).some(
    ({ name, emptyDir }) => emptyDir && volumeMounts.some((mount) => mount.name === name),
  )
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
