/**
 * The Status of an answer that refuses. Servers send one; proxies, flow control and broken servers do not, and then one
 * is made up by code (docs/behaviour/runtime/rest-client.md, part "Errors").
 */
import { groupResourceOf } from '@gyropilot/api'
import type { Status } from '@gyropilot/api'
import type { ApiRequest } from '../requests/request.ts'

const LONGEST_QUOTED_BYTES = 2048

interface Generic {
  readonly reason: string
  readonly message: (serverMessage: string) => string
}

const GENERIC_BY_CODE: Readonly<Record<number, Generic>> = {
  400: {
    reason: 'BadRequest',
    message: () => 'the server rejected our request for an unknown reason',
  },
  401: {
    reason: 'Unauthorized',
    message: () => 'the server has asked for the client to provide credentials',
  },
  403: { reason: 'Forbidden', message: (text) => text },
  404: { reason: 'NotFound', message: () => 'the server could not find the requested resource' },
  405: {
    reason: 'MethodNotAllowed',
    message: () => 'the server does not allow this method on the requested resource',
  },
  406: {
    reason: 'NotAcceptable',
    message: (text) =>
      text === '' || text === 'unknown'
        ? 'the server was unable to respond with a content type that the client supports'
        : text,
  },
  409: { reason: 'Conflict', message: () => 'the server reported a conflict' },
  415: { reason: 'UnsupportedMediaType', message: (text) => text },
  422: {
    reason: 'Invalid',
    message: () => 'the server rejected our request due to an error in our request',
  },
  429: {
    reason: 'TooManyRequests',
    message: () => 'the server has received too many requests and has asked us to try again later',
  },
  503: {
    reason: 'ServiceUnavailable',
    message: () => 'the server is currently unable to handle the request',
  },
  504: {
    reason: 'Timeout',
    message: () =>
      'the server was unable to return a response in the time allotted, but may still be processing the request',
  },
}

/** The value is a Status as servers write it. */
export function isStatus(value: unknown): value is Status {
  return (
    typeof value === 'object' &&
    value !== null &&
    (value as Status).kind === 'Status' &&
    (value as Status).apiVersion === 'v1'
  )
}

/** Status for a refusal: the server's own, with a missing code or hint filled in, or one made up from the code. */
export function statusFromAnswer(
  request: Pick<ApiRequest, 'method' | 'about'>,
  answer: {
    readonly code: number
    /** Decoded JSON, or the text where the answer is text or has no type, or undefined. */
    readonly body: unknown
    readonly retryAfterSeconds?: number
  },
): Status {
  if (isStatus(answer.body) && answer.body.status !== 'Success') {
    return answer.body.code === undefined || answer.body.code === 0
      ? { ...answer.body, code: answer.code }
      : answer.body
  }
  const text = typeof answer.body === 'string' ? quoted(answer.body) : 'unknown'
  const generic = GENERIC_BY_CODE[answer.code] ?? otherCode(answer.code)
  const reason = answer.code === 409 && request.method === 'POST' ? 'AlreadyExists' : generic.reason
  const { about } = request
  const where =
    about === undefined
      ? ''
      : ` (${request.method.toLowerCase()} ${groupResourceOf(about)}${about.name === undefined ? '' : ` ${about.name}`})`
  return {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message: generic.message(text) + where,
    ...(reason === '' ? {} : { reason }),
    details: {
      ...(about?.name === undefined ? {} : { name: about.name }),
      ...(about?.group ? { group: about.group } : {}),
      ...(about === undefined ? {} : { kind: about.resource }),
      causes: [{ reason: 'UnexpectedServerResponse', message: text }],
      ...(answer.retryAfterSeconds === undefined
        ? {}
        : { retryAfterSeconds: answer.retryAfterSeconds }),
    },
    code: answer.code,
  }
}

function otherCode(code: number): Generic {
  if (code >= 500) {
    return {
      reason: 'InternalError',
      message: (text) =>
        `an error on the server (${JSON.stringify(text)}) has prevented the request from succeeding`,
    }
  }
  return {
    reason: '',
    message: () =>
      `the server responded with the status code ${code} but did not return more information`,
  }
}

function quoted(text: string): string {
  const bytes = new TextEncoder().encode(text)
  if (bytes.length <= LONGEST_QUOTED_BYTES) return text.trim()
  return new TextDecoder().decode(bytes.subarray(0, LONGEST_QUOTED_BYTES)).trim()
}
