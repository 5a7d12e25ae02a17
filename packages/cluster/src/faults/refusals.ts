import type { TransportResponse } from '@gyropilot/client'
import type { RequestFacts } from '../simulated/request-facts.ts'

const REFUSALS = {
  409: { reason: 'Conflict', retryAfterSeconds: 0 },
  429: { reason: 'TooManyRequests', retryAfterSeconds: 1 },
  500: { reason: 'InternalError', retryAfterSeconds: 0 },
  503: { reason: 'ServiceUnavailable', retryAfterSeconds: 0 },
} as const

/** What a server that did nothing answers. */
export function refusal(code: keyof typeof REFUSALS, request: RequestFacts): TransportResponse {
  const { reason, retryAfterSeconds } = REFUSALS[code]
  const { collection, name } = request
  return answer(
    code,
    {
      message: messageOf(code, request),
      reason,
      details: { name, kind: collection, ...(retryAfterSeconds ? { retryAfterSeconds } : {}) },
    },
    retryAfterSeconds === 0 ? {} : { 'retry-after': String(retryAfterSeconds) },
  )
}

export function notFound(collection: string, name: string): TransportResponse {
  return answer(404, {
    message: `${collection} ${JSON.stringify(name)} not found`,
    reason: 'NotFound',
    details: { name, kind: collection.split('.')[0] },
  })
}

function messageOf(code: keyof typeof REFUSALS, { collection, name }: RequestFacts): string {
  switch (code) {
    case 409:
      return `Operation cannot be fulfilled on ${collection} ${JSON.stringify(name)}: the object has been modified; please apply your changes to the latest version and try again`
    case 429:
      return 'too many requests, please try again later'
    case 500:
      return 'Internal error occurred: etcdserver: leader changed'
    case 503:
      return 'the server is currently unable to handle the request'
  }
}

function answer(
  code: number,
  status: object,
  headers: Readonly<Record<string, string>> = {},
): TransportResponse {
  const common = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure' }
  return {
    status: code,
    headers: { 'content-type': 'application/json', ...headers },
    body: { kind: 'value', value: { ...common, ...status, code } },
  }
}
