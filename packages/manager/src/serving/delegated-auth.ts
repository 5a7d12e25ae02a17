/**
 * Who asks, and whether they may: decided by the cluster. Contract: docs/behaviour/runtime/manager.md, Serving. Without a
 * client for reviews every request without certificate is anonymous, and only always-allowed paths are served.
 */
import { errorText } from '@gyropilot/foundation'
import type { AuthMetrics } from './auth-metrics.ts'
import { ANONYMOUS } from './authentication.ts'
import type { Authentication } from './authentication.ts'
import type { Authorization } from './authorization.ts'
import type { Answer, IncomingRequest } from './request.ts'
import { statusAnswer } from './status-answer.ts'

/** What HTTP methods are called in authorization. */
const VERBS: Readonly<Record<string, string>> = {
  GET: 'get',
  HEAD: 'head',
  POST: 'post',
  PUT: 'put',
}

interface Judgement {
  /** Who asks has said who they are, and it was believed. */
  readonly isKnown: boolean
  /** Undefined: go on. */
  readonly refusal?: Answer
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

  async judge(request: IncomingRequest): Promise<Judgement> {
    const metrics = this.#metrics
    const askedMs = metrics.startedMs()
    const who = await this.#authentication.authenticate(request)
    if ('refused' in who) {
      metrics.authenticated('error', askedMs)
      const refusal = await statusAnswer(request, 401, {
        message: 'Unauthorized',
        reason: 'Unauthorized',
      })
      return { isKnown: false, refusal: { ...refusal, sniffable: true } }
    }
    const { user } = who
    const isKnown = user.name !== ANONYMOUS.name
    metrics.authenticated('success', askedMs, user.name)
    const knownMs = metrics.startedMs()
    const path = request.path
    const verb = VERBS[request.method] ?? request.method.toLowerCase()
    try {
      const isAllowed = await this.#authorization.allows(user, verb, path)
      metrics.authorized(isAllowed ? 'allowed' : 'no-opinion', knownMs)
      if (isAllowed) return { isKnown }
    } catch (error) {
      metrics.authorized('error', knownMs)
      const body = `Internal Server Error: ${JSON.stringify(path)}: ${errorText(error)}\n`
      return { isKnown, refusal: { status: 500, contentType: 'text/plain; charset=utf-8', body } }
    }
    const message = `forbidden: User ${JSON.stringify(user.name)} cannot ${verb} path ${JSON.stringify(path)}`
    const refusal = await statusAnswer(request, 403, { message, reason: 'Forbidden', details: {} })
    return { isKnown, refusal }
  }
}
