/**
 * Who asks, and whether they may: decided by the cluster. Contract: docs/behaviour/runtime/manager.md, Serving. Without a
 * client for reviews every request without certificate is anonymous, and only always-allowed paths are served.
 */
import { errorText } from '@gyropilot/foundation'
import type { Authentication } from './authentication.ts'
import type { Authorization } from './authorization.ts'
import type { IncomingRequest, PlainAnswer } from './request.ts'

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

  constructor(authentication: Authentication, authorization: Authorization) {
    this.#authentication = authentication
    this.#authorization = authorization
  }

  /** Undefined: go on. Else the refusal. */
  async refusal(request: IncomingRequest): Promise<PlainAnswer | undefined> {
    const who = await this.#authentication.authenticate(request)
    if ('refused' in who) return { status: 401, body: 'Unauthorized\n' }
    const { user } = who
    const path = request.path
    const verb = VERBS[request.method] ?? request.method.toLowerCase()
    try {
      if (await this.#authorization.allows(user, verb, path)) return undefined
    } catch (error) {
      const body = `Internal Server Error: ${JSON.stringify(path)}: ${errorText(error)}\n`
      return { status: 500, body }
    }
    const body = `forbidden: User ${JSON.stringify(user.name)} cannot ${verb} path ${JSON.stringify(path)}\n`
    return { status: 403, body }
  }
}
