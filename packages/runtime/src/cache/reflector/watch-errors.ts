import {
  StatusError,
  TransportError,
  hasCause,
  isConnectionRefused,
  isExpired,
  isTooManyRequests,
} from '@gyropilot/client'
import type { Logger } from '@gyropilot/foundation'

/** The server no longer has this resourceVersion, or does not have it yet: ask without one. */
export function isVersionUnavailable(error: unknown): boolean {
  return isExpired(error) || isVersionTooLarge(error)
}

function isVersionTooLarge(error: unknown): boolean {
  if (hasCause(error, 'ResourceVersionTooLarge')) return true
  return (
    error instanceof StatusError &&
    error.reason === 'Timeout' &&
    error.message.includes('Too large resource version')
  )
}

/** Worth the same request again after a while: nothing listens, or the server has too much to do. */
export function isWorthWaiting(error: unknown): boolean {
  return isConnectionRefused(error) || isTooManyRequests(error)
}

export function isInternalError(error: unknown): boolean {
  return error instanceof StatusError && error.reason === 'InternalError'
}

/** The server closed at once and sent nothing: watching again at once would spin. */
export class VeryShortWatch extends Error {
  constructor() {
    super('very short watch: closed within 1 s without an event')
    this.name = 'VeryShortWatch'
  }
}

/** How long a server may answer InternalError to watches before the round is given up. */
export class InternalErrorBudget {
  readonly #budgetMs: number
  #firstMs: number | undefined
  #lastMs = 0

  constructor(budgetMs: number) {
    this.#budgetMs = budgetMs
  }

  /** Counts an InternalError at `nowMs`; true while watching again at once is within the budget. */
  allows(nowMs: number): boolean {
    if (this.#budgetMs <= 0) return false
    if (this.#firstMs === undefined || nowMs - this.#lastMs > 60_000) this.#firstMs = nowMs
    this.#lastMs = nowMs
    if (nowMs - this.#firstMs <= this.#budgetMs) return true
    this.#firstMs = undefined
    return false
  }
}

/** What becomes of an error that ends a round, where nobody else is told of it. */
export function logWatchError(logger: Logger, error: unknown): void {
  if (isExpired(error)) logger.verbosity(4).info('Watch closed', { error })
  else if (error instanceof TransportError && error.code === 'EOF')
    logger.verbosity(1).info('Watch ended early', { error })
  else logger.error(error, 'Failed to watch')
}
