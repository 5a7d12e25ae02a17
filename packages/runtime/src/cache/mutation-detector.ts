/** Contract: docs/behaviour/runtime/informers.md, Mutation detector. */
import type { KubernetesObject } from '@gyropilot/api'
import { deepEqual } from '@gyropilot/api'
import type { Clock } from '@gyropilot/foundation'
import { every } from '@gyropilot/foundation'
import { draftOf } from '../object-writes/draft.ts'

const CHECK_PERIOD_MS = 1_000
const RETAIN_MS = 2 * 60_000

/** One detector per informer. */
export interface MutationDetectorOptions {
  readonly clock: Clock
  /** For the message: the resource. */
  readonly name: string
  /** Somebody edited a cached object: whatever the process does now rests on wrong data. A binary ends here. */
  readonly onAltered: (error: Error) => void
}

interface Captured {
  readonly object: KubernetesObject
  readonly copy: unknown
}

/**
 * Finds code that edits objects of a cache: keeps a copy of what handlers were given for two to four minutes, and compares.
 * For tests and for debugging; it costs memory and time for each event. Upstream turns it on by the environment variable
 * KUBE_CACHE_MUTATION_DETECTOR.
 */
export class MutationDetector {
  readonly #options: MutationDetectorOptions
  #current: Captured[] = []
  #retained: Captured[] = []
  #rotatedMs: number

  constructor(options: MutationDetectorOptions) {
    this.#options = options
    this.#rotatedMs = options.clock.monotonicMs()
  }

  /** Remembers how the object looks now. */
  capture(object: KubernetesObject): void {
    this.#current.push({ object, copy: draftOf(object) })
  }

  /** Compares every second until `signal` aborts. */
  start(signal: AbortSignal): void {
    if (signal.aborted) return
    const timer = every(this.#options.clock, CHECK_PERIOD_MS, () => this.check())
    signal.addEventListener('abort', () => timer.cancel(), { once: true })
  }

  check(): void {
    const { clock, name, onAltered } = this.#options
    const all = [...this.#retained, ...this.#current]
    all.forEach(({ object, copy }, index) => {
      if (!deepEqual(object, copy)) onAltered(new Error(`CACHE ${name}[${index}] ALTERED!`))
    })
    if (clock.monotonicMs() - this.#rotatedMs < RETAIN_MS) return
    this.#retained = this.#current
    this.#current = []
    this.#rotatedMs = clock.monotonicMs()
  }
}
