/** The order of checks of every request. Contract: docs/behaviour/api-server/requests.md, "Order of checks". */
import type { Clock, Logger, RandomSource } from '@gyropilot/foundation'
import { isPretty, uuid } from '@gyropilot/foundation'
import { ANONYMOUS, forbiddenRequest, Impersonation } from '../auth/index.ts'
import {
  ApiError,
  type Authenticator,
  type Authorizer,
  type RequestAttributes,
  type SubresourceHandler,
  type UserInfo,
} from '../contracts.ts'
import { text, type Answer } from '../http/answer.ts'
import { badRequest, internalError, methodNotAllowed } from '../http/errors.ts'
import { headerOf, type ServerRequest } from '../http/exchange.ts'
import { errorType, negotiate, requireRoutedType } from '../http/negotiation.ts'
import { isUnreadable, parseRequestInfo, queryOf, type RequestInfo } from '../http/request-info.ts'
import { Warnings } from '../http/warnings.ts'
import type { ResourceRegistry } from '../registry/resource-registry.ts'
import type { AccessMetrics } from './access-metrics.ts'
import type { Call, ResourceCall } from './call.ts'
import {
  isMutating,
  isPassedOn,
  isStreamOfBytes,
  timeBoundOf,
  type Deadline,
  type TimeBound,
} from './limits/deadline.ts'
import type { DeletionHandler } from './writes/deletion-handler.ts'
import { patchTypeOf } from './writes/patch.ts'
import { tooManyRequests, type InFlight } from './limits/in-flight.ts'
import type { Internals } from './internals.ts'
import { attributesOf } from './request-attributes.ts'
import type { RequestMetrics } from './request-metrics.ts'
import type { ResourceHandler } from './resource-handler.ts'
import { isShownInTables, isTyped } from './route-forms.ts'
import type { SubresourceEndpoint } from './subresource-endpoint.ts'
import { findRoute, isObjectSubresource, objectSubresourceOperation, type Route } from './routes.ts'

/** Answers paths that are no resources: discovery, health, version, metrics. Undefined: no such path. */
export interface NonResourceHandler {
  answer(
    request: ServerRequest,
    info: RequestInfo,
    pretty: boolean,
    user: UserInfo,
  ): Answer | undefined | Promise<Answer | undefined>
}

export interface PipelineParts {
  readonly clock: Clock
  readonly random: RandomSource
  readonly logger: Logger
  readonly registry: ResourceRegistry
  readonly authenticator: Authenticator
  readonly authorizer: Authorizer
  readonly resources: ResourceHandler
  readonly deletions: DeletionHandler
  readonly endpoints: SubresourceEndpoint
  readonly nonResources: NonResourceHandler
  /** What another server answers, where a group version is announced to be its. */
  readonly foreign: {
    answer(
      request: ServerRequest,
      group: string,
      version: string,
      user: UserInfo,
    ): Answer | Promise<Answer> | undefined
  }
  readonly subresources: readonly SubresourceHandler[]
  readonly internals: Internals
  /** Uids of the flow schema and priority level that a request is counted under. */
  flowControlUids(
    request: RequestAttributes,
  ): { readonly flowSchema: string; readonly priorityLevel: string } | undefined
  readonly inFlight: InFlight
  readonly metrics?: RequestMetrics
  readonly access?: AccessMetrics
}

const NO_DEADLINE: Deadline = { passed: false }
const FLOW_SCHEMA = 'x-kubernetes-pf-flowschema-uid'
const PRIORITY_LEVEL = 'x-kubernetes-pf-prioritylevel-uid'
const NOT_FOUND = '404 page not found\n'

export class Pipeline {
  readonly #parts: PipelineParts
  readonly #handlers: ReadonlyMap<string, SubresourceHandler>
  readonly #auditIds: RandomSource
  readonly #impersonation: Impersonation

  constructor(parts: PipelineParts) {
    this.#parts = parts
    this.#impersonation = new Impersonation(parts.authorizer)
    this.#auditIds = parts.random.fork('audit-ids')
    this.#handlers = new Map(
      parts.subresources.map((handler) => [
        `${handler.group}/${handler.resource}/${handler.subresource}`,
        handler,
      ]),
    )
  }

  /** Never rejects: every failure becomes an answer. */
  async answer(request: ServerRequest): Promise<Answer> {
    if (isUnreadable(request.path)) return text(400, '400 Bad Request')
    const warnings = new Warnings()
    const headers: Record<string, string | readonly string[]> = {
      'audit-id': headerOf(request.headers, 'audit-id') || uuid(this.#auditIds),
      'cache-control': 'no-cache, private',
    }
    const info = parseRequestInfo(request.method, request.path)
    if (info === undefined)
      return notTakenApart(request.path, { 'audit-id': headers['audit-id'] as string })
    let answer: Answer
    try {
      answer = await this.#checked(request, info, warnings, headers)
    } catch (error) {
      answer = this.#refusal(request, error)
    }
    const warned = warnings.headers()
    if (warned.length > 0) headers['warning'] = warned
    return { ...answer, headers: { ...headers, ...answer.headers } }
  }

  #refusal(request: ServerRequest, error: unknown): Answer {
    const refusal = error instanceof ApiError ? error : this.#unexpected(request, error)
    const retryAfter = refusal.details?.retryAfterSeconds
    const type = errorType(headerOf(request.headers, 'accept'))
    const asked = isPretty(queryOf(request.path), headerOf(request.headers, 'user-agent'))
    const sent = this.#parts.metrics?.sentOf(refusal)
    return {
      ...(sent === undefined ? {} : { sent }),
      status: refusal.code,
      headers: { ...(retryAfter ? { 'retry-after': String(retryAfter) } : {}), ...refusal.headers },
      // What nobody asked for in this form is written for the eye.
      mediaType: type?.mediaType ?? 'application/json',
      pretty: type === undefined || type.pretty || asked,
      body: { kind: 'object', value: refusal.toStatus() },
    }
  }

  #unexpected(request: ServerRequest, error: unknown): ApiError {
    this.#parts.logger.error(error, 'request failed', {
      method: request.method,
      path: request.path,
    })
    return internalError(error instanceof Error ? error.message : String(error))
  }

  async #checked(
    request: ServerRequest,
    info: RequestInfo,
    warnings: Warnings,
    headers: Record<string, string | readonly string[]>,
  ): Promise<Answer> {
    const bound = timeBoundOf(info)
    const asked = attributesOf(info, await this.#caller(request, warnings))
    const attributes = this.#impersonation.requestAs(request, asked)
    // Streams of bytes are not counted under any flow schema.
    const uids = isStreamOfBytes(info.subresource)
      ? undefined
      : this.#parts.flowControlUids(attributes)
    if (uids !== undefined) {
      headers[FLOW_SCHEMA] = uids.flowSchema
      headers[PRIORITY_LEVEL] = uids.priorityLevel
    }
    if (bound === undefined) {
      request.unbounded?.()
      return this.#authorized(request, info, attributes, warnings, NO_DEADLINE)
    }
    const { inFlight } = this.#parts
    const mutating = isMutating(info)
    if (!inFlight.enter(mutating, attributes.user)) {
      this.#parts.metrics?.terminated(info, request, 429)
      return tooManyRequests()
    }
    const deadline = { passed: false }
    const answer = this.#authorized(request, info, attributes, warnings, deadline)
    const left = (): void => inFlight.leave(mutating)
    // What is still being done after its time is still being done.
    answer.then(left, left)
    const timely = await this.#inTime(answer, bound, deadline)
    if (deadline.passed && bound.isOutermost) {
      delete headers[FLOW_SCHEMA]
      delete headers[PRIORITY_LEVEL]
    }
    return timely
  }

  /** Throws 401. */
  async #caller(request: ServerRequest, warnings: Warnings): Promise<UserInfo> {
    const { authenticator, access } = this.#parts
    const startMs = access?.startedMs() ?? 0
    let caller: UserInfo | undefined
    try {
      const shown = authenticator.authenticate(request, warnings)
      caller = (shown instanceof Promise ? await shown : shown) ?? ANONYMOUS
      return caller
    } finally {
      access?.authenticated(startMs, caller?.name)
    }
  }

  /** Throws 403. */
  #authorize(attributes: RequestAttributes): void {
    const { authorizer, access } = this.#parts
    const startMs = access?.startedMs() ?? 0
    const { allowed, reason } = authorizer.authorize(attributes)
    access?.authorized(startMs, allowed)
    if (!allowed) throw forbiddenRequest(attributes, reason)
  }

  /** What takes too long is answered without it; the work goes on unseen until it would store something. */
  #inTime(
    answer: Promise<Answer>,
    bound: TimeBound,
    deadline: { passed: boolean },
  ): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const timer = this.#parts.clock.after(bound.afterMs, () => {
        deadline.passed = true
        resolve(bound.answer())
      })
      answer.then(resolve, reject)
      const done = (): void => timer.cancel()
      answer.then(done, done)
    })
  }

  async #authorized(
    request: ServerRequest,
    info: RequestInfo,
    attributes: RequestAttributes,
    warnings: Warnings,
    deadline: Deadline,
  ): Promise<Answer> {
    const { user } = attributes
    this.#authorize(attributes)
    if (!info.isResourceRequest) return this.#nonResource(request, info, user)
    let route: Route | undefined
    try {
      route = findRoute(this.#parts.registry, request.method, info)
    } catch (refusal) {
      // Another server may have other versions of a group that is built in here.
      const passed = this.#parts.foreign.answer(request, info.group, info.version, user)
      if (passed === undefined) throw refusal
      return passed
    }
    if (route === undefined) return this.#unrouted(request, info, user)
    if (route.resource.definition !== undefined) {
      const passed = this.#parts.foreign.answer(request, info.group, info.version, user)
      if (passed !== undefined) return passed
    }
    const { metrics } = this.#parts
    const answer = this.#routed({ request, info, user, warnings, deadline }, route)
    // What has no handler is not counted.
    if (metrics === undefined || (route.refusal !== undefined && route.refusal.code !== 400))
      return answer
    return metrics.measure(info, request, answer)
  }

  /** The group version of another server, or nobody's. */
  #unrouted(
    request: ServerRequest,
    { group, version, doubledSlash }: RequestInfo,
    user: UserInfo,
  ): Answer | Promise<Answer> {
    const { foreign } = this.#parts
    return orNotFound(doubledSlash ? undefined : foreign.answer(request, group, version, user))
  }

  async #nonResource(request: ServerRequest, info: RequestInfo, user: UserInfo): Promise<Answer> {
    const { nonResources, metrics } = this.#parts
    const pretty = isPretty(info.query, headerOf(request.headers, 'user-agent'))
    const isNobodys = info.malformed || info.doubledSlash
    const found = isNobodys ? undefined : nonResources.answer(request, info, pretty, user)
    if (metrics !== undefined) return metrics.measure(info, request, orNotFound(found))
    return orNotFound(found)
  }

  async #routed(call: Call, route: Route): Promise<Answer> {
    const { request, info, warnings } = call
    // What is passed on to others (proxies, connections) is not negotiated here.
    const passedOn = isPassedOn(route.subresource)
    const wishes = passedOn ? undefined : headerOf(request.headers, 'accept')
    if (!route.resource.custom && !passedOn) checkRouted(request, route, wishes)
    const { deprecationWarning } = route.resource
    if (deprecationWarning !== undefined) {
      warnings.add(deprecationWarning)
      this.#parts.metrics?.deprecated(info)
    }
    if (route.refusal !== undefined) throw route.refusal
    if (route.resource.custom) checkWritten(request, info)
    const options = {
      watch: false,
      transformable: true,
      tables: isShownInTables(route),
      messages: isTyped(route.resource) ? 'all' : 'metadata',
    } as const
    const output = negotiate(wishes, options)
    // A watch is first of all a list, and judged as one.
    const streamType = () => negotiate(wishes, { ...options, watch: true }).mediaType
    const { resource, namespace, name, subresource } = route
    const pretty = output.pretty || isPretty(info.query, headerOf(request.headers, 'user-agent'))
    return this.#dispatch(
      { ...call, resource, namespace, name, subresource, output, pretty, streamType },
      route,
    )
  }

  #dispatch(call: ResourceCall, route: Route): Promise<Answer> | Answer {
    const { resources, deletions, endpoints, internals } = this.#parts
    const { group, resource } = route.resource.info
    const own = route.resource.subresources?.find(
      ({ subresource }) => subresource === route.subresource,
    )
    const handler = own ?? this.#handlers.get(`${group}/${resource}/${route.subresource}`)
    if (handler !== undefined) {
      if (!(handler.methods as readonly string[]).includes(call.request.method))
        throw methodNotAllowed()
      return endpoints.answer(call, handler, internals.within(call.deadline))
    }
    let { operation } = route
    if (operation === 'subresource') {
      if (!isObjectSubresource(route.resource, route.subresource)) {
        throw internalError(`${resource}/${route.subresource} is not served by this server`)
      }
      operation = objectSubresourceOperation(call.request.method as 'GET' | 'PUT' | 'PATCH')
    }
    switch (operation) {
      case 'get':
        return resources.get(call)
      case 'list':
        return resources.list(call)
      case 'watch':
        return resources.watch(call)
      case 'create':
        return resources.create(call)
      case 'update':
        return resources.update(call)
      case 'patch':
        return resources.patch(call)
      case 'delete':
        return deletions.delete(call)
      default:
        return deletions.deleteCollection(call)
    }
  }
}

/** Refused before anything else has looked at the request. */
function notTakenApart(path: string, headers: Readonly<Record<string, string>>): Answer {
  const why = `unable to determine kind and namespace from url, ${path}`
  return text(
    500,
    `Internal Server Error: ${JSON.stringify(path)}: failed to create RequestInfo: ${why}\n`,
    { ...headers, 'x-content-type-options': 'nosniff' },
  )
}

async function orNotFound(
  found: Answer | undefined | Promise<Answer | undefined>,
): Promise<Answer> {
  return (await found) ?? text(404, NOT_FOUND, { 'x-content-type-options': 'nosniff' })
}

/** Routes know types of bodies and answers, and are found by them before anything is handled. Throws 415 and 406. */
function checkRouted(request: ServerRequest, route: Route, accept: string | undefined): void {
  if (request.method === 'PATCH') patchTypeOf(headerOf(request.headers, 'content-type'), true)
  const collection = route.operation === 'watch' || route.operation === 'list'
  requireRoutedType(accept, { collection, log: route.subresource === 'log' })
}

/** One handler serves all custom resources, and looks at what it is given first. Throws 415 and 400. */
function checkWritten(request: ServerRequest, { verb, name }: RequestInfo): void {
  if (verb === 'patch') patchTypeOf(headerOf(request.headers, 'content-type'), false)
  if (name === '' && (verb === 'patch' || verb === 'update'))
    throw badRequest('name must be provided')
}
