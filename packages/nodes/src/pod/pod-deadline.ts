import type { Pod } from '@gyropilot/api'
import type { Clock, Timer } from '@gyropilot/foundation'
import type { LocalPod } from '../running/local-pod.ts'

/** When a pod has run for `activeDeadlineSeconds`, counted from the start that its status tells. */
export class PodDeadline {
  readonly #local: LocalPod
  readonly #clock: Clock
  readonly #life: AbortSignal
  readonly #onPassed: () => void
  #seconds: number | undefined
  #timer: Timer | undefined

  constructor(local: LocalPod, clock: Clock, life: AbortSignal, onPassed: () => void) {
    this.#local = local
    this.#clock = clock
    this.#life = life
    this.#onPassed = onPassed
  }

  /** Counts again when the pod has another deadline than before. */
  watch({ spec, status }: Pod): void {
    const seconds = spec?.activeDeadlineSeconds
    if (seconds === undefined || seconds === this.#seconds) return
    this.#seconds = seconds
    this.#timer?.cancel()
    const startedMs = Date.parse(status?.startTime ?? '') || this.#local.startedAtMs
    const remainingMs = startedMs + seconds * 1000 - this.#clock.nowMs()
    const timer = this.#clock.after(Math.max(0, remainingMs), this.#onPassed)
    this.#timer = timer
    this.#life.addEventListener('abort', () => timer.cancel(), { once: true })
  }
}
