import type { Status } from '@gyropilot/api'

/** The server's refusal, with its Status. `message` is the Status message. */
export class StatusError extends Error {
  readonly status: Status
  readonly code: number
  /** Empty when the server gave none. */
  readonly reason: string

  constructor(status: Status) {
    super(status.message ?? status.reason ?? 'unknown')
    this.name = 'StatusError'
    this.status = status
    this.code = status.code ?? 500
    this.reason = status.reason ?? ''
  }

  /** How long the server asks to stay away: any hint above 0, and for ServerTimeout also 0. Undefined: it does not ask. */
  get retryAfterMs(): number | undefined {
    const seconds = this.status.details?.retryAfterSeconds ?? 0
    if (this.reason === 'ServerTimeout') return seconds * 1000
    return seconds > 0 ? seconds * 1000 : undefined
  }
}

const KNOWN_REASONS: ReadonlySet<string> = new Set([
  'Unauthorized',
  'Forbidden',
  'NotFound',
  'AlreadyExists',
  'Conflict',
  'Gone',
  'Invalid',
  'ServerTimeout',
  'StorageReadError',
  'Timeout',
  'TooManyRequests',
  'BadRequest',
  'MethodNotAllowed',
  'NotAcceptable',
  'RequestEntityTooLarge',
  'UnsupportedMediaType',
  'InternalError',
  'Expired',
  'ServiceUnavailable',
])

/** The StatusError that `error` is or wraps as its `cause`, however deep. */
export function statusErrorIn(error: unknown): StatusError | undefined {
  const seen = new Set<unknown>()
  for (
    let current = error;
    current instanceof Error && !seen.has(current);
    current = current.cause
  ) {
    if (current instanceof StatusError) return current
    seen.add(current)
  }
  return undefined
}

/** Tests the reason; the code only where the reason is none that Kubernetes knows. */
const hasReason =
  (reason: string, code?: number) =>
  (error: unknown): boolean => {
    const found = statusErrorIn(error)
    if (found === undefined) return false
    return found.reason === reason || (!KNOWN_REASONS.has(found.reason) && found.code === code)
  }

export const isNotFound = hasReason('NotFound', 404)
export const isAlreadyExists = hasReason('AlreadyExists')
export const isConflict = hasReason('Conflict', 409)
export const isInvalid = hasReason('Invalid', 422)
export const isForbidden = hasReason('Forbidden', 403)
export const isUnauthorized = hasReason('Unauthorized', 401)
export const isBadRequest = hasReason('BadRequest', 400)
export const isMethodNotSupported = hasReason('MethodNotAllowed', 405)
export const isNotAcceptable = hasReason('NotAcceptable', 406)
export const isRequestEntityTooLarge = hasReason('RequestEntityTooLarge', 413)
export const isUnsupportedMediaType = hasReason('UnsupportedMediaType', 415)
export const isInternalError = hasReason('InternalError', 500)
export const isServiceUnavailable = hasReason('ServiceUnavailable', 503)
/** The server gave up in the middle: the write may have been done. */
export const isTimeout = hasReason('Timeout', 504)
/** The server asks to try again: nothing was done. */
export const isServerTimeout = hasReason('ServerTimeout')
/** Also any other answer with code 429. */
export const isTooManyRequests = (error: unknown): boolean =>
  statusErrorIn(error)?.reason === 'TooManyRequests' || statusErrorIn(error)?.code === 429
/** 410: the resourceVersion or continue token is too old. */
export const isExpired = (error: unknown): boolean =>
  hasReason('Expired', 410)(error) || hasReason('Gone', 410)(error)

/** True when the Status names this cause: `NamespaceTerminating`, `ResourceVersionTooLarge`. */
export function hasCause(error: unknown, reason: string): boolean {
  return (statusErrorIn(error)?.status.details?.causes ?? []).some(
    (cause) => cause.reason === reason,
  )
}
