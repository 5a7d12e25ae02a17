/** How containers of one pod come to their end: hooks, signals, and what is said of it. */
import { anySignal, sleep } from '@gyropilot/foundation'
import type { PodBehavior, Run } from '../behavior/behavior.ts'
import { recordOn } from './container-news.ts'
import { graceMsOf } from './grace-time.ts'
import type { GraceTime } from './grace-time.ts'
import { runHook } from './lifecycle-hooks.ts'
import type { LocalContainer, Terminated } from './local-pod.ts'
import type { TrapHandler } from '../shell/process.ts'
import type { RunnerServices } from './runner-services.ts'

const KILLED_EXIT_CODE = 137

export class ContainerEnds {
  readonly #behavior: PodBehavior
  readonly #services: RunnerServices

  constructor(behavior: PodBehavior, services: RunnerServices) {
    this.#behavior = behavior
    this.#services = services
  }

  /** What the container asks for before SIGTERM, as long as the grace time allows. */
  async preStop(container: LocalContainer, grace: GraceTime, signal: AbortSignal): Promise<void> {
    const hook = container.spec.lifecycle?.preStop
    if (hook === undefined) return
    await grace.allows(async (within) => {
      const problem = await runHook(hook, container, this.#services, within)
      if (problem !== undefined)
        recordOn(container, this.#services, 'Warning', 'FailedPreStopHook', 'PreStopHook failed')
    }, signal)
  }

  /** SIGTERM once its hook is over, and SIGKILL when that is not enough; its program may end by itself at any time. */
  async stop(
    container: LocalContainer,
    grace: GraceTime,
    signal: AbortSignal,
    hook: Promise<void> = Promise.resolve(),
  ): Promise<void> {
    const over = new AbortController()
    using scope = anySignal([signal, over.signal])
    const stopped = hook.then(() => this.exitCodeOfStop(container, grace, scope.signal))
    stopped.catch(() => {})
    const exitCode = await Promise.race([ownExitCode(container), stopped])
    over.abort(new Error('the container has stopped'))
    this.kill(container)
    await this.conclude(container, { durationMs: 0, exitCode })
  }

  /** Whatever of it still runs. */
  kill(container: LocalContainer): void {
    container.program?.kill()
    container.program = undefined
  }

  async exitCodeOfStop(
    container: LocalContainer,
    grace: GraceTime,
    signal: AbortSignal,
  ): Promise<number> {
    const { spec, role, trap } = container
    container.isEnding = true
    const { terminateMs, terminateExitCode, terminationIsScripted, ignoresTermination } =
      this.#behavior.container(spec, role)
    if (trap !== undefined && !terminationIsScripted)
      return this.#exitCodeOfTrap(trap, grace, signal, terminateExitCode)
    const ended = await grace.passes(ignoresTermination ? Infinity : terminateMs, signal)
    return ended ? terminateExitCode : KILLED_EXIT_CODE
  }

  /** Of a program that only the real image has, or when the server did not answer, it is `otherwise`: it ends as most do. */
  async #exitCodeOfTrap(
    trap: TrapHandler,
    grace: GraceTime,
    signal: AbortSignal,
    otherwise: number,
  ): Promise<number> {
    const over = new AbortController()
    using scope = anySignal([signal, over.signal])
    const handled = trap((delayMs) => sleep(this.#services.clock, delayMs, scope.signal)).catch(
      (error: unknown) => {
        if (scope.signal.aborted) throw error
        return otherwise
      },
    )
    const killed = grace.passes(Infinity, scope.signal).then(() => KILLED_EXIT_CODE)
    handled.catch(() => {})
    killed.catch(() => {})
    try {
      // Without an exit code the program goes on.
      return (await Promise.race([handled, killed])) ?? (await killed)
    } finally {
      over.abort(new Error('over'))
    }
  }

  /** The pod's own. */
  graceMs(): number {
    return graceMsOf(this.#services.pod())
  }

  /** With what the container says at its end, unless that is scripted. */
  async conclude(container: LocalContainer, run: Run): Promise<void> {
    this.end(container, await this.endOf(container, run))
  }

  async endOf(container: LocalContainer, run: Run): Promise<Terminated | undefined> {
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

  end(container: LocalContainer, end: Terminated | undefined): void {
    if (end === undefined || container.state.state !== 'running') return
    container.state = { state: 'terminated', ...end }
    container.started = false
    container.ready = false
    this.#services.changed()
  }
}

/** Never resolves when no program of it runs, or is killed. */
async function ownExitCode({ program }: LocalContainer): Promise<number> {
  const exitCode = await program?.ended.catch(() => undefined)
  return exitCode ?? new Promise<never>(() => {})
}
