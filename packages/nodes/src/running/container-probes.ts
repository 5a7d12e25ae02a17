/** The probes of one run of a container. Contract: docs/behaviour/simulation/kubelet.md, Probes. */
import type { Container, Pod } from '@gyropilot/api'
import { errorText, sleep, untilAborted, withDeadline } from '@gyropilot/foundation'
import type { Clock } from '@gyropilot/foundation'
import type { ContainerBehavior, ProbeKind } from '../behavior/behavior.ts'
import { isAgnhost, programOf } from '../behavior/image-program.ts'
import { portProblem } from '../answers/port-answers.ts'
import { substituted } from '../container/pod-files.ts'
import { mayAnswerBadly } from '../container/web-answers.ts'
import type { LocalContainer } from './local-pod.ts'
import type { PodPrograms } from './pod-programs.ts'

type Probe = NonNullable<Container['livenessProbe']>

/** Undefined: success. Else what the kubelet says of the failure. */
type Verdict = string | undefined

interface ProbeServices {
  readonly clock: Clock
  /** Aborts when the run ends. */
  readonly signal: AbortSignal
  pod(): Pod
  readonly programs: Pick<PodPrograms, 'exec' | 'portProblem' | 'webProblem'>
  /** Something of the container's status has changed. */
  changed(): void
  /** `outcome`: what has become of the probe, in words that follow its name. */
  unhealthy(kind: ProbeKind, outcome: string): void
}

/** Times of the run, after its start. */
interface Times {
  readonly startedAtMs: number
  readonly readyAfterMs: number | undefined
}

export class ContainerProbes {
  readonly #container: LocalContainer
  readonly #behavior: ContainerBehavior
  readonly #services: ProbeServices
  readonly #times: Times
  readonly #failed = Promise.withResolvers<ProbeKind>()

  constructor(
    container: LocalContainer,
    behavior: ContainerBehavior,
    startedAtMs: number,
    services: ProbeServices,
  ) {
    this.#container = container
    this.#behavior = behavior
    this.#services = services
    this.#times = { startedAtMs, readyAfterMs: behavior.readyAfterMs }
  }

  /** Resolves with the probe that wants the container killed. */
  get failed(): Promise<ProbeKind> {
    return this.#failed.promise
  }

  /** Probes until the signal aborts. A container that was taken up again keeps what it was. */
  start(): void {
    void this.#course().catch(() => {})
  }

  /** Of a container that is about to end: how it is read by others goes on until then, and nothing restarts it. */
  startReadiness(): void {
    void this.#readiness().catch(() => {})
  }

  async #course(): Promise<void> {
    const { startupProbe, livenessProbe } = this.#container.spec
    if (startupProbe !== undefined && !this.#container.started) {
      const passed = await this.#untilPassed('startup', startupProbe)
      if (!passed) return this.#failed.resolve('startup')
    }
    if (!this.#container.started) {
      this.#container.started = true
      if (!this.#mayBeUnready()) this.#container.ready = true
      this.#services.changed()
    }
    void this.#readiness().catch(() => {})
    if (livenessProbe === undefined || this.#neverFails('liveness', livenessProbe)) return
    await this.#untilFailed('liveness', livenessProbe)
    this.#failed.resolve('liveness')
  }

  /** Whether readiness takes more than having started. */
  #mayBeUnready(): boolean {
    const { readyAfterMs } = this.#times
    const delay = (this.#container.spec.readinessProbe?.initialDelaySeconds ?? 0) * 1000
    const elapsedMs = this.#elapsedMs()
    const probe = this.#container.spec.readinessProbe
    if (readyAfterMs !== undefined) return Math.max(readyAfterMs, delay) > elapsedMs
    return probe !== undefined && (delay > elapsedMs || !this.#passesAtFirst('readiness', probe))
  }

  async #readiness(): Promise<void> {
    const probe = this.#container.spec.readinessProbe
    const { readyAfterMs } = this.#times
    const delayMs = (probe?.initialDelaySeconds ?? 0) * 1000
    if (readyAfterMs !== undefined || probe === undefined || this.#neverFails('readiness', probe)) {
      const atMs = Math.max(readyAfterMs ?? 0, delayMs)
      if (this.#container.ready || !Number.isFinite(atMs)) return
      await this.#sleepUntil(atMs)
      return this.#setReady(true)
    }
    await this.#sleepUntil(delayMs)
    const counts = { failures: 0, successes: 0 }
    for (;;) {
      const verdict = await this.#verdict('readiness', probe)
      this.#count(counts, verdict)
      if (counts.successes >= (probe.successThreshold ?? 1)) this.#setReady(true)
      if (counts.failures >= (probe.failureThreshold ?? 3)) this.#setReady(false)
      await this.#sleep((probe.periodSeconds ?? 10) * 1000)
    }
  }

  #setReady(ready: boolean): void {
    if (this.#container.ready === ready || this.#services.signal.aborted) return
    this.#container.ready = ready
    this.#services.changed()
  }

  /** False when it failed too often. */
  async #untilPassed(kind: ProbeKind, probe: Probe): Promise<boolean> {
    await this.#sleepUntil((probe.initialDelaySeconds ?? 0) * 1000)
    for (let failures = 0; ;) {
      const verdict = await this.#verdict(kind, probe)
      if (verdict === undefined) return true
      if (++failures >= (probe.failureThreshold ?? 3)) return false
      await this.#sleep((probe.periodSeconds ?? 10) * 1000)
    }
  }

  async #untilFailed(kind: ProbeKind, probe: Probe): Promise<void> {
    await this.#sleepUntil((probe.initialDelaySeconds ?? 0) * 1000)
    const counts = { failures: 0, successes: 0 }
    for (;;) {
      const verdict = await this.#verdict(kind, probe)
      this.#count(counts, verdict)
      if (counts.failures >= (probe.failureThreshold ?? 3)) return
      await this.#sleep((probe.periodSeconds ?? 10) * 1000)
    }
  }

  #count(counts: { failures: number; successes: number }, verdict: Verdict): void {
    counts.failures = verdict === undefined ? 0 : counts.failures + 1
    counts.successes = verdict === undefined ? counts.successes + 1 : 0
  }

  /** Probes that cannot fail are not asked: of many pods, that is most of the work. */
  #neverFails(kind: ProbeKind, probe: Probe): boolean {
    if (probe.httpGet && mayAnswerBadly(this.#container.spec, probe.httpGet)) return false
    return this.#passesAtFirst(kind, probe)
  }

  /** What is run here opens no port; a container that declares one is taken at its word. */
  #mayOpenNone(): boolean {
    const { spec } = this.#container
    return (spec.ports ?? []).length === 0 && programOf(spec).length > 0 && !isAgnhost(spec)
  }

  #passesAtFirst(kind: ProbeKind, probe: Probe): boolean {
    if (this.#behavior.probes[kind].some(({ success }) => !success)) return false
    if (probe.exec === undefined && this.#mayOpenNone()) return false
    return (
      probe.exec === undefined &&
      portProblem(this.#services.pod(), this.#container.spec, probe) === undefined
    )
  }

  /** A probe that cannot be run is told of, counts for nothing, and is due again a period later. */
  async #verdict(kind: ProbeKind, probe: Probe): Promise<Verdict> {
    const { signal, unhealthy } = this.#services
    for (;;) {
      try {
        const verdict = await this.#judge(kind, probe)
        if (verdict !== undefined) unhealthy(kind, `failed: ${verdict}`)
        return verdict
      } catch (error) {
        if (signal.aborted) throw error
        unhealthy(kind, `errored and resulted in unknown state: ${errorText(error)}`)
      }
      await this.#sleep((probe.periodSeconds ?? 10) * 1000)
    }
  }

  async #judge(kind: ProbeKind, probe: Probe): Promise<Verdict> {
    const scripted = this.#behavior.probes[kind]
    if (scripted.length > 0) {
      const elapsedMs = this.#elapsedMs()
      const result = scripted.findLast(({ atMs }) => atMs <= elapsedMs)
      return (result?.success ?? true) ? undefined : 'scripted failure'
    }
    if (probe.exec === undefined) {
      const { pod, programs } = this.#services
      const opensNone = this.#mayOpenNone() && (await this.#container.runsHere) === true
      if (portProblem(pod(), this.#container.spec, probe, opensNone) !== undefined)
        return programs.portProblem(this.#container, probe, opensNone)
      return programs.webProblem(this.#container, probe)
    }
    const { command = [] } = probe.exec
    const values = valuesOf(this.#container.spec)
    const words = command.map((word) => substituted(word, values))
    return this.#execProblem(words, (probe.timeoutSeconds ?? 1) * 1000)
  }

  async #execProblem(command: readonly string[], timeoutMs: number): Promise<Verdict> {
    const { clock, signal, programs } = this.#services
    using scope = withDeadline(clock, timeoutMs, signal)
    try {
      const end = await untilAborted(
        programs.exec(this.#container, command, scope.signal),
        scope.signal,
      )
      // A program of the real image, which is taken to be well.
      if (end === undefined || end.exitCode === 0) return undefined
      return end.output.trim()
    } catch (error) {
      if (signal.aborted || !scope.signal.aborted) throw error
      return `command timed out: ${JSON.stringify(command.join(' '))} timed out after ${timeoutMs / 1000}s`
    }
  }

  #elapsedMs(): number {
    return this.#services.clock.nowMs() - this.#times.startedAtMs
  }

  #sleepUntil(atMs: number): Promise<void> {
    return this.#sleep(atMs - this.#elapsedMs())
  }

  #sleep(delayMs: number): Promise<void> {
    const { clock, signal } = this.#services
    return delayMs <= 0 ? Promise.resolve() : sleep(clock, delayMs, signal)
  }
}

/** What a probe's command refers to: variables as the spec has them, and empty ones where it takes them from elsewhere. */
function valuesOf({ env = [] }: Container): ReadonlyMap<string, string> {
  return new Map(env.map(({ name, value = '' }) => [name, value]))
}
