/** The order of checks of every request. Contract: docs/behaviour/api-server/requests.md, "Order of checks". */
import { parseFieldQuery, type FieldQuery } from '@gyropilot/api'
import type { Clock, Logger, RandomSource } from '@gyropilot/foundation'
import { uuid } from '@gyropilot/foundation'
import { ANONYMOUS, forbiddenRequest, impersonate } from '../auth/index.ts'
import {
  ApiError,
  type Authenticator,
  type Authorizer,
  type RequestAttributes,
  type ServerInternals,
  type SubresourceHandler,
  type UserInfo,
} from '../contracts.ts'
import { text, type Answer } from '../http/answer.ts'
import { badRequest, internalError, methodNotAllowed } from '../http/errors.ts'
import { headerOf, type ServerRequest } from '../http/exchange.ts'
import { parseDuration } from '../http/go-duration.ts'
import { errorMediaType, negotiate } from '../http/negotiation.ts'
import { isPretty } from '../http/pretty.ts'
import { parseRequestInfo, type RequestInfo } from '../http/request-info.ts'
import { Warnings } from '../http/warnings.ts'
import type { ResourceRegistry } from '../registry/resource-registry.ts'
import type { ResourceCall } from './call.ts'
import { pinnedName } from './field-selector.ts'
import type { ResourceHandler } from './resource-handler.ts'
import type { SubresourceEndpoint } from './subresource-endpoint.ts'
import { findRoute, isObjectSubresource, objectSubresourceOperation, type Route } from './routes.ts'

/** Answers paths that are no resources: discovery, health, version, metrics. Undefined: no such path. */
export interface NonResourceHandler {
  answer(
    request: ServerRequest,
    info: RequestInfo,
    pretty: boolean,
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
  readonly endpoints: SubresourceEndpoint
  readonly nonResources: NonResourceHandler
  readonly subresources: readonly SubresourceHandler[]
  readonly internals: ServerInternals
  /** Uids of the flow schema and priority level that a request is counted under. */
  flowControlUids(
    user: UserInfo,
  ): { readonly flowSchema: string; readonly priorityLevel: string } | undefined
}

const LONG_RUNNING_SUBRESOURCES = new Set(['attach', 'exec', 'log', 'portforward', 'proxy'])
const REQUEST_TIMEOUT_MS = 60_000
const NOT_FOUND = '404 page not found\n'

export class Pipeline {
  readonly #parts: PipelineParts
  readonly #handlers: ReadonlyMap<string, SubresourceHandler>
  readonly #auditIds: RandomSource

  constructor(parts: PipelineParts) {
    this.#parts = parts
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
    const warnings = new Warnings()
    const headers: Record<string, string | readonly string[]> = {
      'audit-id': headerOf(request.headers, 'audit-id') || uuid(this.#auditIds),
      'cache-control': 'no-cache, private',
    }
    let answer: Answer
    try {
      answer = await this.#checked(request, warnings, headers)
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
    return {
      status: refusal.code,
      headers: { ...(retryAfter ? { 'retry-after': String(retryAfter) } : {}), ...refusal.headers },
      mediaType: errorMediaType(headerOf(request.headers, 'accept')),
      pretty: false,
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
    warnings: Warnings,
    headers: Record<string, string | readonly string[]>,
  ): Promise<Answer> {
    const info = parseRequestInfo(request.method, request.path)
    if (info === undefined) {
      const why = `unable to determine kind and namespace from url, ${request.path}`
      return text(
        500,
        `Internal Server Error: ${JSON.stringify(request.path)}: failed to create RequestInfo: ${why}\n`,
      )
    }
    const timeoutMs = requestTimeout(info)
    const shown = this.#parts.authenticator.authenticate(request)
    const caller = (shown instanceof Promise ? await shown : shown) ?? ANONYMOUS
    const user = impersonate(request, attributesOf(info, caller), this.#parts.authorizer)
    const uids = this.#parts.flowControlUids(user)
    if (uids !== undefined) {
      headers['x-kubernetes-pf-flowschema-uid'] = uids.flowSchema
      headers['x-kubernetes-pf-prioritylevel-uid'] = uids.priorityLevel
    }
    const attributes = attributesOf(info, user)
    const { allowed, reason } = this.#parts.authorizer.authorize(attributes)
    if (!allowed) throw forbiddenRequest(attributes, reason)
    const answer = this.#routed(request, info, user, warnings)
    return timeoutMs === undefined ? answer : this.#withDeadline(answer, timeoutMs)
  }

  /** What a request that takes too long is answered; the work goes on unseen. */
  async #withDeadline(answer: Promise<Answer>, timeoutMs: number): Promise<Answer> {
    const { promise, resolve } = Promise.withResolvers<Answer>()
    const timer = this.#parts.clock.after(timeoutMs, () => {
      const { kind: _kind, apiVersion: _apiVersion, ...status } = timedOut().toStatus()
      resolve({
        status: 504,
        contentType: 'text/plain; charset=utf-8',
        body: { kind: 'object', value: status },
      })
    })
    try {
      return await Promise.race([answer, promise])
    } finally {
      timer.cancel()
    }
  }

  async #routed(
    request: ServerRequest,
    info: RequestInfo,
    user: UserInfo,
    warnings: Warnings,
  ): Promise<Answer> {
    const pretty = isPretty(info, headerOf(request.headers, 'user-agent'))
    if (!info.isResourceRequest) {
      const answer = info.malformed
        ? undefined
        : await this.#parts.nonResources.answer(request, info, pretty)
      return answer ?? text(404, NOT_FOUND, { 'x-content-type-options': 'nosniff' })
    }
    const route = findRoute(this.#parts.registry, request.method, info)
    if (route === undefined) return text(404, NOT_FOUND, { 'x-content-type-options': 'nosniff' })
    if (route.resource.deprecationWarning !== undefined)
      warnings.add(route.resource.deprecationWarning)
    const watch = route.operation === 'watch'
    const collection = watch || route.operation === 'list'
    const watchable = collection && route.resource.info.verbs.includes('watch')
    const accept = headerOf(request.headers, 'accept')
    // Streams of bytes (logs, proxies, connections) are not negotiated.
    const raw = LONG_RUNNING_SUBRESOURCES.has(route.subresource)
    const output = negotiate(raw ? undefined : accept, { watch, watchable, transformable: true })
    const { resource, namespace, name, subresource } = route
    const call: ResourceCall = {
      request,
      info,
      user,
      warnings,
      resource,
      namespace,
      name,
      subresource,
      output,
      pretty,
    }
    return this.#dispatch(call, route)
  }

  #dispatch(call: ResourceCall, route: Route): Promise<Answer> | Answer {
    const { resources, endpoints, internals } = this.#parts
    const { group, resource } = route.resource.info
    const own = route.resource.subresources?.find(
      ({ subresource }) => subresource === route.subresource,
    )
    const handler = own ?? this.#handlers.get(`${group}/${resource}/${route.subresource}`)
    if (handler !== undefined) {
      if (!(handler.methods as readonly string[]).includes(call.request.method))
        throw methodNotAllowed()
      return endpoints.answer(call, handler, internals)
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
        return resources.delete(call)
      default:
        return resources.deleteCollection(call)
    }
  }
}

function timedOut(): ApiError {
  return new ApiError(
    504,
    'Timeout',
    'Timeout: request did not complete within the allotted timeout',
    { details: {} },
  )
}

/** Undefined for long-running requests. Throws 400 for a parameter that is no duration. */
function requestTimeout(info: RequestInfo): number | undefined {
  if (
    info.verb === 'watch' ||
    info.verb === 'proxy' ||
    LONG_RUNNING_SUBRESOURCES.has(info.subresource)
  )
    return undefined
  const asked = info.query.get('timeout')
  if (asked === null || asked === '') return REQUEST_TIMEOUT_MS
  const durationMs = parseDuration(asked)
  if (durationMs === undefined)
    throw badRequest(
      `invalid timeout specified in the request URL - time: invalid duration ${JSON.stringify(asked)}`,
    )
  return durationMs <= 0 || durationMs > REQUEST_TIMEOUT_MS ? REQUEST_TIMEOUT_MS : durationMs
}

function attributesOf(info: RequestInfo, user: UserInfo): RequestAttributes {
  const { verb, group, version, resource, subresource, namespace, path, isResourceRequest } = info
  let { name } = info
  const selectors: { fieldSelector?: string; labelSelector?: string } = {}
  if (verb === 'list' || verb === 'watch' || verb === 'deletecollection') {
    const fieldSelector = info.query.get('fieldSelector')
    const labelSelector = info.query.get('labelSelector')
    if (fieldSelector) {
      selectors.fieldSelector = fieldSelector
      if (name === '') name = pinnedName(termsOf(fieldSelector)) ?? ''
    }
    if (labelSelector) selectors.labelSelector = labelSelector
  }
  return {
    user,
    verb,
    group,
    version,
    resource,
    subresource,
    namespace,
    name,
    path,
    isResourceRequest,
    ...selectors,
  }
}

/** A selector that cannot be read pins nothing here and is refused later. */
function termsOf(fieldSelector: string): FieldQuery['terms'] {
  try {
    return parseFieldQuery(fieldSelector).terms
  } catch {
    return []
  }
}
