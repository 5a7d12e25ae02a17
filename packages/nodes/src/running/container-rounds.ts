/**
 * The rounds of a pod whose rules may restart all of its containers: when a container ends with an exit code that says so, what
 * runs is killed, and all begin again in their order, init containers too. Contract: docs/behaviour/simulation/kubelet.md, Restarts.
 */
import { anySignal, sleep } from '@gyropilot/foundation'
import type { LocalContainer, LocalPod } from './local-pod.ts'
import type { RunnerServices } from './runner-services.ts'

/** Of what is killed at once. */
const KILLED_EXIT_CODE = 137
const REASON = 'RestartingAllContainers'
/** Until it is seen that nothing runs any more. */
const CLEARING_MS = 1_000
const AGAIN = Symbol('again')

interface Round {
  readonly end: AbortController
  readonly signal: AbortSignal
  readonly again: PromiseWithResolvers<typeof AGAIN>
}

export class ContainerRounds {
  readonly #local: LocalPod
  readonly #services: RunnerServices
  #round: Round | undefined

  constructor(local: LocalPod, services: RunnerServices) {
    this.#local = local
    this.#services = services
  }

  /** Of the round that goes on. */
  get signal(): AbortSignal {
    return this.#round?.signal ?? this.#services.signal
  }

  /** Resolves when a round has come to its end by itself: what goes on beside it is let go. */
  async runAll(runOnce: () => Promise<void>): Promise<void> {
    for (;;) {
      const end = new AbortController()
      using scope = anySignal([this.#services.signal, end.signal])
      const { signal } = scope
      this.#round = { end, signal, again: Promise.withResolvers<typeof AGAIN>() }
      const once = runOnce()
      const outcome = await Promise.race([once, this.#round.again.promise])
      end.abort(new Error('the round is over'))
      if (outcome !== AGAIN) return
      once.catch(() => {})
      await this.#clear()
    }
  }

  /** Ends the round; the course that asked for it goes no further. */
  restartAll(): Promise<never> {
    const { signal } = this
    this.#round?.again.resolve(AGAIN)
    return new Promise((_, reject) => {
      const stop = (): void => reject(signal.reason as Error)
      if (signal.aborted) stop()
      signal.addEventListener('abort', stop, { once: true })
    })
  }

  /** As if nothing had been started, but for what is counted. */
  async #clear(): Promise<void> {
    const { clock, changed, signal } = this.#services
    this.#local.isRestartingAll = true
    for (const container of this.#local.containers) this.#reset(container, clock.nowMs())
    this.#local.initReruns = 'all'
    changed()
    await sleep(clock, CLEARING_MS, signal)
    this.#local.isRestartingAll = false
    changed()
  }

  #reset(container: LocalContainer, finishedAtMs: number): void {
    const { state } = container
    if (state.state !== 'running' && state.state !== 'terminated') return
    const { startedAtMs } = state
    const { containerId = '' } = container
    const ended = { exitCode: KILLED_EXIT_CODE, reason: REASON }
    container.last = { ...ended, startedAtMs, finishedAtMs, containerId }
    container.state = { state: 'waiting', reason: REASON }
    container.started = container.ready = container.isEnding = false
    container.finish = container.trap = undefined
  }
}
