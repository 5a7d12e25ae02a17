/** Tells when a pod has gone over a limit of its own: its time on the node, or what it may keep there. */
import type { Pod } from '@gyropilot/api'
import type { Clock, Timer } from '@gyropilot/foundation'
import type { LocalPod } from '../running/local-pod.ts'
import { hasStorageLimits, storageProblem } from './storage-limits.ts'
import type { StoredBytes } from './storage-limits.ts'

/** How often a node looks at what its pods keep. */
const STORAGE_PERIOD_MS = 10_000
/** Pods that keep too much get no more time than that. */
const EVICTION_GRACE_MS = 1_000
const DEFAULT_GRACE_SECONDS = 30

/** How the pod is ended. */
export interface LimitPassed {
  readonly type: 'Normal' | 'Warning'
  readonly reason: string
  readonly message: string
  readonly graceMs: number
  readonly isEviction: boolean
}

interface PodLimitsOptions {
  readonly local: LocalPod
  readonly clock: Clock
  /** Of the pod on its node. */
  readonly life: AbortSignal
  /** As stored now. */
  pod(): Pod
  /** Undefined: nobody has looked at its files. */
  stored(): StoredBytes | undefined
  passed(limit: LimitPassed): void
}

/** Few pods have any. */
export function hasLimits(pod: Pod): boolean {
  return pod.spec?.activeDeadlineSeconds !== undefined || hasStorageLimits(pod)
}

export class PodLimits {
  readonly #options: PodLimitsOptions
  #seconds: number | undefined
  #deadline: Timer | undefined
  #look: Timer | undefined

  constructor(options: PodLimitsOptions) {
    this.#options = options
    const stop = (): void => {
      this.#deadline?.cancel()
      this.#look?.cancel()
    }
    options.life.addEventListener('abort', stop, { once: true })
  }

  /** Counts again when the pod has another deadline than before. */
  watch(pod: Pod): void {
    this.#watchDeadline(pod)
    if (hasStorageLimits(pod) && this.#look === undefined) this.#lookLater()
  }

  /** From the start that its status tells. */
  #watchDeadline({ spec, status }: Pod): void {
    const seconds = spec?.activeDeadlineSeconds
    if (seconds === undefined || seconds === this.#seconds) return
    this.#seconds = seconds
    this.#deadline?.cancel()
    const { clock, local, passed } = this.#options
    const startedMs = Date.parse(status?.startTime ?? '') || local.startedAtMs
    const remainingMs = startedMs + seconds * 1000 - clock.nowMs()
    const graceSeconds = Number(spec?.terminationGracePeriodSeconds ?? DEFAULT_GRACE_SECONDS)
    this.#deadline = clock.after(Math.max(0, remainingMs), () =>
      passed({
        type: 'Normal',
        reason: 'DeadlineExceeded',
        message: 'Pod was active on the node longer than the specified deadline',
        graceMs: graceSeconds * 1000,
        isEviction: false,
      }),
    )
  }

  #lookLater(): void {
    const { clock, pod, stored, passed, life } = this.#options
    if (life.aborted) return
    this.#look = clock.after(STORAGE_PERIOD_MS, () => {
      const bytes = stored()
      const message = bytes && storageProblem(pod(), bytes)
      if (message === undefined) return this.#lookLater()
      const graceMs = EVICTION_GRACE_MS
      passed({ type: 'Warning', reason: 'Evicted', message, graceMs, isEviction: true })
    })
  }
}
