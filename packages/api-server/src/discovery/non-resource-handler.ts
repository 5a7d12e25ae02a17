/** Paths that are no resources. Contract: docs/behaviour/api-server/requests.md, "Discovery" and "Other endpoints". */
import { hash } from 'node:crypto'
import type { MetricsRegistry } from '@gyropilot/foundation'
import type { NonResourceHandler } from '../handlers/pipeline.ts'
import type { UserInfo } from '../contracts.ts'
import { AGGREGATED_PARAMETERS, AGGREGATED_TYPE } from '../aggregation/discovered.ts'
import { listedGroups, discoveredGroups } from './discovered-groups.ts'
import type { Announcements, DiscoveredGroup } from './discovered-groups.ts'
import type { Answer } from '../http/answer.ts'
import { methodNotAllowed, routeNotFound } from '../http/errors.ts'
import { headerOf, type ServerRequest } from '../http/exchange.ts'
import { aggregatedType, negotiate, requireRoutedType, requireType } from '../http/negotiation.ts'
import { withoutLastSlashes, type RequestInfo } from '../http/request-info.ts'
import type { ResourceRegistry } from '../registry/resource-registry.ts'
import type { ComponentPages } from './component-pages.ts'
import { aggregated, apiVersions, group, groupList, resourceList } from './documents.ts'
import { healthAnswer, healthPaths, type HealthCheck } from './health.ts'
import type { OpenApiDocuments } from './openapi.ts'
import type { VersionInfo } from './version.ts'

interface NonResourceParts {
  readonly registry: ResourceRegistry
  readonly version: VersionInfo
  readonly checks: readonly HealthCheck[]
  readonly metrics: MetricsRegistry | undefined
  readonly openApi: OpenApiDocuments
  /** Group versions of other servers. */
  readonly foreign: Announcements & {
    answer(
      request: ServerRequest,
      group: string,
      version: string,
      user: UserInfo,
    ): Answer | Promise<Answer> | undefined
    passed(
      apiService: string,
      request: ServerRequest,
      user: UserInfo,
    ): Answer | Promise<Answer> | undefined
    onChange(listener: () => void): void
  }
  readonly pages: ComponentPages
  /** `/.well-known/openid-configuration` and `/openid/v1/jwks`. */
  readonly openId?: { configuration(): unknown; readonly keySet: unknown }
  /** `host:port` for clients that ask `/api`. */
  serverAddress(): string
}

/** What `/` lists besides the API groups. */
const PATHS = [
  '/.well-known/openid-configuration',
  '/api',
  '/api/v1',
  '/apis',
  '/apis/',
  '/flagz',
  '/metrics',
  '/metrics/slis',
  '/openapi/v2',
  '/openapi/v3',
  '/openapi/v3/',
  '/openid/v1/jwks',
  '/statusz',
  '/version',
]

const ROOT: ReadonlySet<string> = new Set(['/', '/index.html', '/apis'])

/** One tag for all its forms, of which JSON is the one that is asked for again and again. */
interface AggregatedDocument {
  /** Of the registry that it tells of. */
  readonly edition: number
  readonly value: object
  readonly bytes: Uint8Array
  readonly etag: string
}

export class NonResources implements NonResourceHandler {
  readonly #parts: NonResourceParts
  readonly #aggregated = new Map<boolean, AggregatedDocument>()

  constructor(parts: NonResourceParts) {
    this.#parts = parts
    parts.foreign.onChange(() => this.#aggregated.clear())
  }

  answer(
    request: ServerRequest,
    info: RequestInfo,
    pretty: boolean,
    user: UserInfo,
  ): Answer | undefined | Promise<Answer | undefined> {
    const path = withoutLastSlashes(info.path)
    const { pages, checks } = this.#parts
    const page = pages.answer(info.path, headerOf(request.headers, 'accept'))
    if (page !== undefined) return page
    const health = healthAnswer(checks, info.path, info.query, (check, endpoint, healthy) =>
      pages.checked(check, endpoint, healthy),
    )
    if (health !== undefined) return health
    const describedBy = this.#parts.openApi.describedElsewhere(info.path)
    if (describedBy !== undefined) return this.#parts.foreign.passed(describedBy, request, user)
    if (path.startsWith('/openapi/'))
      return this.#parts.openApi.answer(request, info.path, info.query)
    const [prefix, group = '', version] = path.slice(1).split('/')
    if (prefix === 'apis' && version !== undefined) {
      const passed = this.#parts.foreign.answer(request, group, version, user)
      if (passed !== undefined) return passed
    }
    const value = this.#document(request, info, path)
    if (value === undefined) return undefined
    if (request.method !== 'GET' && !this.#answersAnyMethod(path)) throw methodNotAllowed()
    if (isAnswer(value)) return value
    const accept = headerOf(request.headers, 'accept')
    if (!this.#answersAnyMethod(path)) requireRoutedType(accept, {})
    const output = negotiate(accept, {
      watch: false,
      transformable: false,
      messages: 'all',
      serverVersions: false,
    })
    return {
      status: 200,
      mediaType: output.mediaType,
      pretty: pretty || output.pretty,
      body: { kind: 'object', value },
    }
  }

  /** Documents that no route leads to: whoever names them gets them. */
  #answersAnyMethod(path: string): boolean {
    const [prefix, group, version] = path.slice(1).split('/')
    if (ROOT.has(path) || path === '/metrics') return true
    if (prefix !== 'apis') return false
    return version === undefined || !this.#parts.registry.isBuiltInGroup(group ?? '')
  }

  /** A JSON value, or an answer of its own form. */
  #document(request: ServerRequest, info: RequestInfo, path: string): object | Answer | undefined {
    const { registry, version, metrics, openId, pages } = this.#parts
    switch (path) {
      case '/':
      case '/index.html':
        if (info.path !== path) return undefined
        return {
          status: 200,
          pretty: true,
          body: { kind: 'object', value: { paths: this.#paths() } },
        } satisfies Answer
      case '/version':
        if (request.method === 'GET')
          requireType(headerOf(request.headers, 'accept'), 'application/json')
        return {
          status: 200,
          pretty: true,
          body: { kind: 'object', value: version },
        } satisfies Answer
      case '/metrics':
        if (metrics === undefined || info.path !== path) return undefined
        return pages.prometheus(metrics.expose(), headerOf(request.headers, 'accept'))
      case '/api':
        return this.#aggregatedAnswer(request, true) ?? apiVersions(this.#parts.serverAddress())
      case '/apis':
        if (info.path === path)
          return this.#aggregatedAnswer(request, false) ?? groupList(this.#listedGroups())
        // With a slash the list alone is known, with more nothing.
        return info.path === '/apis/' ? groupList(this.#listedGroups()) : undefined
      case '/.well-known/openid-configuration':
        return openId && cacheable(request, openId.configuration(), 'application/json')
      case '/openid/v1/jwks':
        return openId && cacheable(request, openId.keySet, 'application/jwk-set+json')
    }
    const parts = path.slice(1).split('/')
    if (parts[0] === 'version') throw routeNotFound()
    if (parts[0] === 'api' && parts.length === 2) return this.#resources('', parts[1]!)
    if (parts[0] !== 'apis') return undefined
    const [, name = ''] = parts
    if (name === '' || parts.length > 3) return undefined
    if (parts.length === 3)
      return registry.hasGroup(name) ? this.#resources(name, parts[2]!) : undefined
    // Without an APIService the group tells of itself.
    const found = [...this.#listedGroups(), ...this.#groups()].find((one) => one.group === name)
    return found && group(found)
  }

  #listedGroups(): readonly DiscoveredGroup[] {
    return listedGroups(this.#parts.registry, this.#parts.foreign)
  }

  #groups(): readonly DiscoveredGroup[] {
    return discoveredGroups(this.#parts.registry, this.#parts.foreign)
  }

  /** Versions that nobody defined are unknown paths; those of a built-in group are looked for below its route. */
  #resources(groupName: string, version: string): object | undefined {
    const { registry } = this.#parts
    const served = registry.version(groupName, version)
    if (served !== undefined) return resourceList(served)
    if (registry.isBuiltInGroup(groupName)) throw routeNotFound()
    return undefined
  }

  #paths(): string[] {
    const own = this.#parts.registry.groups().filter(({ group: name }) => name !== '')
    const groups = own.flatMap(({ group: name, versions }) => [
      `/apis/${name}`,
      ...versions.map(({ version }) => `/apis/${name}/${version}`),
    ])
    const { checks } = this.#parts
    return [...PATHS, ...healthPaths(checks), ...groups].sort()
  }

  /** Undefined when the client did not ask for the aggregated form. */
  #aggregatedAnswer(request: ServerRequest, legacy: boolean): Answer | undefined {
    const mediaType = aggregatedType(headerOf(request.headers, 'accept'))
    if (mediaType === undefined) return undefined
    let document = this.#aggregated.get(legacy)
    const { edition } = this.#parts.registry
    if (document?.edition !== edition) {
      const value = aggregated(this.#groups(), legacy)
      const bytes = Buffer.from(`${JSON.stringify(value)}\n`)
      document = { edition, value, bytes, etag: `"${hash('sha512', bytes).toUpperCase()}"` }
      this.#aggregated.set(legacy, document)
    }
    const headers = { 'cache-control': 'public', vary: 'Accept', etag: document.etag }
    if (headerOf(request.headers, 'if-none-match') === document.etag)
      return { status: 304, headers, body: { kind: 'empty' } }
    const { value, bytes } = document
    return mediaType === 'application/json'
      ? { status: 200, headers, body: { kind: 'bytes', bytes, contentType: AGGREGATED_TYPE } }
      : {
          status: 200,
          headers,
          mediaType,
          contentType: `${mediaType};${AGGREGATED_PARAMETERS}`,
          body: { kind: 'object', value },
        }
  }
}

function isAnswer(value: object): value is Answer {
  return 'status' in value && 'body' in value
}

function cacheable(
  { method, headers }: ServerRequest,
  value: unknown,
  contentType: string,
): Answer {
  if (method === 'GET') requireType(headerOf(headers, 'accept'), contentType)
  const bytes = Buffer.from(JSON.stringify(value))
  return {
    status: 200,
    headers: { 'cache-control': 'public, max-age=3600' },
    body: { kind: 'bytes', bytes, contentType },
  }
}
