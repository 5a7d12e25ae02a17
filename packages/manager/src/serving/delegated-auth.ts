/**
 * Who asks, and whether they may: decided by the cluster. Contract: docs/behaviour/runtime/manager.md, Serving. Without a
 * client for reviews every request without certificate is anonymous, and only always-allowed paths are served.
 */
import { errorText } from '@gyropilot/foundation'
import type { AuthMetrics } from './auth-metrics.ts'
import type { Authentication } from './authentication.ts'
import type { Authorization } from './authorization.ts'
import type { Answer, IncomingRequest } from './request.ts'

/** What HTTP methods are called in authorization. */
const VERBS: Readonly<Record<string, string>> = {
  GET: 'get',
  HEAD: 'head',
  POST: 'post',
  PUT: 'put',
}

export class DelegatedAuth {
  readonly #authentication: Authentication
  readonly #authorization: Authorization
  readonly #metrics: AuthMetrics

  constructor(authentication: Authentication, authorization: Authorization, metrics: AuthMetrics) {
    this.#authentication = authentication
    this.#authorization = authorization
    this.#metrics = metrics
  }

  /** Undefined: go on. Else the refusal. */
  async refusal(request: IncomingRequest): Promise<Answer | undefined> {
    const metrics = this.#metrics
    const askedMs = metrics.startedMs()
    const who = await this.#authentication.authenticate(request)
    if ('refused' in who) {
      metrics.authenticated('error', askedMs)
      return refused(401, 'Unauthorized', 'Unauthorized')
    }
    const { user } = who
    metrics.authenticated('success', askedMs, user.name)
    const knownMs = metrics.startedMs()
    const path = request.path
    const verb = VERBS[request.method] ?? request.method.toLowerCase()
    try {
      const isAllowed = await this.#authorization.allows(user, verb, path)
      metrics.authorized(isAllowed ? 'allowed' : 'no-opinion', knownMs)
      if (isAllowed) return undefined
    } catch (error) {
      metrics.authorized('error', knownMs)
      const body = `Internal Server Error: ${JSON.stringify(path)}: ${errorText(error)}\n`
      return { status: 500, contentType: 'text/plain; charset=utf-8', body }
    }
    const message = `forbidden: User ${JSON.stringify(user.name)} cannot ${verb} path ${JSON.stringify(path)}`
    return refused(403, 'Forbidden', message, { details: {} })
  }
}

/** As an API server refuses. */
function refused(code: number, reason: string, message: string, more: object = {}): Answer {
  const status = {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message,
    reason,
    ...more,
    code,
  }
  const body = JSON.stringify(status, null, 2)
  return { status: code, contentType: 'application/json', body }
}
