import type { Status } from '@gyropilot/api'

const BRAND = Symbol.for('@gyropilot/client StatusError')

/**
 * The server's refusal, with its Status. `message` is the Status message. One that another copy of this package made is one too: a
 * program and what it loads may each have their own.
 */
export class StatusError extends Error {
  static override [Symbol.hasInstance](value: unknown): boolean {
    return typeof value === 'object' && value !== null && BRAND in value
  }

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

// Not a member: classes of two copies have the same type.
Object.defineProperty(StatusError.prototype, BRAND, { value: true })

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

/** 404: the object, or the resource itself, does not exist. */
export const isNotFound = hasReason('NotFound', 404)
/** For `get(name).catch(ignoreNotFound)`: undefined for what does not exist; any other error is thrown. */
export function ignoreNotFound(error: unknown): undefined {
  if (!isNotFound(error)) throw error
}
/** 409 to a create: there is one of that name. */
export const isAlreadyExists = hasReason('AlreadyExists')
/** 409 to another write: the object has changed since it was read, or a precondition did not hold. Read anew, then try again. */
export const isConflict = hasReason('Conflict', 409)
/** 422: validation refused the object; `status.details.causes` name the fields. */
export const isInvalid = hasReason('Invalid', 422)
/** 403: authorization, admission or a quota said no. */
export const isForbidden = hasReason('Forbidden', 403)
/** 401: the credentials are missing, expired or unknown. */
export const isUnauthorized = hasReason('Unauthorized', 401)
/** 400: the request could not be understood. */
export const isBadRequest = hasReason('BadRequest', 400)
/** 405: the resource does not have this verb. */
export const isMethodNotSupported = hasReason('MethodNotAllowed', 405)
/** 406: none of the accepted media types can be answered. */
export const isNotAcceptable = hasReason('NotAcceptable', 406)
/** 413: the body is too large, or the object too large for the store. */
export const isRequestEntityTooLarge = hasReason('RequestEntityTooLarge', 413)
/** 415: the body has a type that is not taken here: a strategic merge patch of a custom resource. */
export const isUnsupportedMediaType = hasReason('UnsupportedMediaType', 415)
/** 500: something in the server failed; a webhook that could not be called is one too. */
export const isInternalError = hasReason('InternalError', 500)
/** 503: the server, or the one it passes on to, does not serve now. */
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
