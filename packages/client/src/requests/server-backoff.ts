import type { HostEnvironment } from '@gyropilot/foundation'

/** Waits between the tries of one request to a server that says it is overloaded: `baseMs`, twice that, up to `mostMs`. */
export interface ServerBackoffSettings {
  readonly baseMs: number
  readonly mostMs: number
}

/** KUBE_CLIENT_BACKOFF_BASE and KUBE_CLIENT_BACKOFF_DURATION, whole seconds. Undefined unless both are set. */
export function serverBackoffFrom(
  host: Pick<HostEnvironment, 'env'>,
): ServerBackoffSettings | undefined {
  const base = host.env('KUBE_CLIENT_BACKOFF_BASE') ?? ''
  const duration = host.env('KUBE_CLIENT_BACKOFF_DURATION') ?? ''
  if (!SECONDS.test(base) || !SECONDS.test(duration)) return undefined
  return { baseMs: Number(base) * 1000, mostMs: Number(duration) * 1000 }
}

const SECONDS = /^\d+$/

/**
 * The state of one request: client-go too makes a new one for each, so that it only lengthens the waits between retries.
 * Contract: docs/behaviour/runtime/rest-client.md, Client-side rate limit.
 */
export class ServerBackoff {
  readonly #settings: ServerBackoffSettings | undefined
  #delayMs = 0
  #changedMs = 0

  constructor(settings: ServerBackoffSettings | undefined) {
    this.#settings = settings
  }

  /** The wait before the next try, after an answer with this code; 0 stands for no answer. */
  after(code: number, nowMs: number): number {
    if (this.#settings === undefined) return 0
    const { baseMs, mostMs } = this.#settings
    const isOverloaded = code === 429 || code >= 500
    const isForgotten = this.#delayMs === 0 || nowMs - this.#changedMs > 2 * mostMs
    this.#changedMs = nowMs
    if (!isOverloaded) this.#delayMs = 0
    else this.#delayMs = isForgotten ? baseMs : Math.min(this.#delayMs * 2, mostMs)
    return this.#delayMs
  }
}
