/** How long a request may take. Contract: docs/behaviour/api-server/requests.md, "Timeouts and limits". */
import { parseGoDuration } from '@gyropilot/foundation'
import { ApiError } from '../../contracts.ts'
import type { Answer } from '../../http/answer.ts'
import { badRequest } from '../../http/errors.ts'
import type { RequestInfo } from '../../http/request-info.ts'

/** After it has passed nothing is stored for the request any more: the client was told 504. */
export interface Deadline {
  readonly passed: boolean
}

/** How long a request has, and what it is answered then. */
export interface TimeBound {
  readonly afterMs: number
  readonly answer: () => Answer | Promise<never>
  /** The answer is that of the outermost filter, which knows nothing of what was found out about the request. */
  readonly isOutermost: boolean
}

const REQUEST_TIMEOUT_MS = 60_000
/** Below the bound of the whole request, so that writes are answered in words of their own. */
const MUTATION_TIMEOUT_MS = 34_000
const LONG_RUNNING_SUBRESOURCES = new Set(['attach', 'exec', 'log', 'portforward', 'proxy'])
const READING_VERBS = new Set(['get', 'list', 'watch'])

export function isStreamOfBytes(subresource: string): boolean {
  return LONG_RUNNING_SUBRESOURCES.has(subresource)
}

/** To a node or to a Service; a log is answered here. */
export function isPassedOn(subresource: string): boolean {
  return subresource !== 'log' && isStreamOfBytes(subresource)
}

function isLongRunning({ verb, subresource }: RequestInfo): boolean {
  return verb === 'watch' || isStreamOfBytes(subresource)
}

export function isMutating({ verb }: RequestInfo): boolean {
  return !READING_VERBS.has(verb)
}

/** Undefined for long-running requests. Throws 400 for a `timeout` that is no duration. */
export function timeBoundOf(info: RequestInfo): TimeBound | undefined {
  if (isLongRunning(info)) return undefined
  const afterMs = askedTimeout(info.query.get('timeout') ?? '')
  return info.isResourceRequest && isMutating(info) && afterMs > MUTATION_TIMEOUT_MS
    ? {
        afterMs: MUTATION_TIMEOUT_MS,
        answer: () => Promise.reject(mutationTimedOut()),
        isOutermost: false,
      }
    : { afterMs, answer: timedOut, isOutermost: true }
}

function askedTimeout(asked: string): number {
  if (asked === '') return REQUEST_TIMEOUT_MS
  const durationMs = parseGoDuration(asked)
  if (typeof durationMs === 'string')
    throw badRequest(`invalid timeout specified in the request URL - ${durationMs}`)
  return durationMs <= 0 || durationMs > REQUEST_TIMEOUT_MS ? REQUEST_TIMEOUT_MS : durationMs
}

/** Throws 504. To be asked before every step that changes something. */
export function checkDeadline(deadline: Deadline | undefined): void {
  if (deadline?.passed === true) throw mutationTimedOut()
}

function mutationTimedOut(): ApiError {
  return timeoutError(
    'request did not complete within requested timeout - context deadline exceeded',
  )
}

/** Written by a filter that knows nothing of kinds: no kind, no apiVersion, no JSON type. */
function timedOut(): Answer {
  const refusal = timeoutError('request did not complete within the allotted timeout')
  const { kind: _kind, apiVersion: _apiVersion, ...status } = refusal.toStatus()
  return {
    status: 504,
    contentType: 'text/plain; charset=utf-8',
    body: { kind: 'object', value: status },
  }
}

function timeoutError(why: string): ApiError {
  return new ApiError(504, 'Timeout', `Timeout: ${why}`, { details: {} })
}
