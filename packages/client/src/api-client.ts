import { jsonTypeName } from '@gyropilot/api'
import type { KubernetesObject, ObjectList, ResourceType, WatchEvent } from '@gyropilot/api'
import { silentLogger, silentMetrics } from '@gyropilot/foundation'
import type { Clock, Logger, MetricsRegistry } from '@gyropilot/foundation'
import type {
  Client,
  DeleteOptions,
  GetOptions,
  ListOptions,
  Patch,
  PatchOptions,
  RawRequest,
  ResourceClient,
  WatchOptions,
  WriteOptions,
} from './client.ts'
import { clientErrors } from './errors.ts'
import type { RequestRateLimiter } from './requests/rate-limit.ts'
import { rateLimiterFor } from './requests/rate-limit.ts'
import { RequestSender } from './requests/request-sender.ts'
import * as requests from './requests/request.ts'
import type { Target } from './requests/request.ts'
import type { ServerBackoffSettings } from './requests/server-backoff.ts'
import type { Transport } from './transport.ts'
import type { WarningHandler } from './requests/warnings.ts'

const PAGE_SIZE = 500
const PARTIAL = { version: 'v1', kind: 'PartialObjectMetadata' }

/** Only transport and clock are needed. A client has one rate limit: make one for each program or controller. */
export interface ApiClientOptions {
  readonly transport: Transport
  readonly clock: Clock
  readonly logger?: Logger
  readonly metrics?: MetricsRegistry
  /** The `host` label of metrics: `10.0.0.1:6443`. Default: `in-process`. */
  readonly host?: string
  readonly userAgent?: string
  /** Requests a second; 0: the default of 5; negative: no limit. */
  readonly qps?: number
  /** Requests at once; 0: the default of 10 (only with a QPS of 0). */
  readonly burst?: number
  /** Instead of `qps` and `burst`. */
  readonly rateLimiter?: RequestRateLimiter
  /** Longer waits between retries than servers ask for: `serverBackoffFrom(host)`. Default: none. */
  readonly backoff?: ServerBackoffSettings
  /** Bound for a whole call with its retries, watches excepted. 0: none. */
  readonly requestTimeoutMs?: number
  /** Default: logs `Warning: ...`. */
  readonly onWarning?: WarningHandler
  /** Sent with writes that name no field manager. Default: none; servers then take the program of the user agent. */
  readonly fieldManager?: string
}

/** A Client over any transport: one identity, one rate limit. */
export class ApiClient implements Client {
  readonly #sender: RequestSender
  readonly #fieldManager: string | undefined

  constructor(options: ApiClientOptions) {
    const { clock, logger = silentLogger, metrics = silentMetrics } = options
    this.#fieldManager = options.fieldManager
    this.#sender = new RequestSender({
      transport: options.transport,
      clock,
      logger,
      metrics,
      host: options.host ?? 'in-process',
      userAgent: options.userAgent ?? 'gyropilot',
      rateLimiter: options.rateLimiter ?? rateLimiterFor(clock, options.qps, options.burst),
      backoff: options.backoff,
      requestTimeoutMs: options.requestTimeoutMs ?? 0,
      onWarning: options.onWarning ?? ((text) => logger.info(`Warning: ${text}`)),
    })
  }

  resource<T extends KubernetesObject>(
    type: ResourceType<T>,
    namespace?: string,
  ): ResourceClient<T> {
    return new TypedResourceClient<T>(
      this.#sender,
      { type: type as ResourceType, namespace },
      this.#fieldManager,
    )
  }

  raw<T = unknown>(request: RawRequest): Promise<T> {
    const headers: Record<string, string> = { accept: 'application/json, */*' }
    if (request.json !== undefined) headers['content-type'] = 'application/json'
    return this.#sender.send<T>({
      method: request.method,
      path: request.path,
      headers: { ...headers, ...request.headers },
      json: request.json,
      ...(request.about && { about: request.about }),
      signal: request.signal,
    })
  }
}

class TypedResourceClient<T extends KubernetesObject> implements ResourceClient<T> {
  readonly #sender: RequestSender
  readonly #target: Target
  readonly #fieldManager: string | undefined

  constructor(sender: RequestSender, target: Target, fieldManager: string | undefined) {
    this.#sender = sender
    this.#target = target
    this.#fieldManager = fieldManager
  }

  async get(name: string, options?: GetOptions): Promise<T> {
    return this.#sender.sendForObject(requests.getRequest(this.#target, name, options))
  }

  async list(options?: ListOptions): Promise<ObjectList<T>> {
    const list = await this.#sender.sendForObject<ObjectList<T>>(
      requests.listRequest(this.#target, options),
    )
    if (Array.isArray(list.items)) return list
    // Servers that are written in Go may say null for no items.
    const items: unknown = list.items ?? undefined
    if (items === undefined) return { ...list, items: [] }
    const { version, kind } = options?.metadataOnly ? PARTIAL : this.#target.type
    // To take it for no items would have caches forget all that there is.
    throw clientErrors.make(
      'ANSWER_UNDECODABLE',
      `json: cannot unmarshal ${jsonTypeName(items)} into Go struct field ${kind}List.items of type []${version}.${kind}`,
    )
  }

  async *pages(options: ListOptions = {}): AsyncGenerator<ObjectList<T>> {
    const limit = options.limit ?? PAGE_SIZE
    let page = await this.list({ ...options, limit })
    yield page
    while (page.metadata.continue) {
      const { resourceVersion: _, resourceVersionMatch: __, ...rest } = options
      page = await this.list({ ...rest, limit, continue: page.metadata.continue })
      yield page
    }
  }

  async watch(options: WatchOptions = {}): Promise<AsyncIterable<WatchEvent<T>>> {
    const events = await this.#sender.watch(requests.watchRequest(this.#target, options))
    return events as AsyncIterable<WatchEvent<T>>
  }

  async create(object: T, options?: WriteOptions): Promise<T> {
    return this.#sender.sendForObject(
      requests.createRequest(this.#target, object, this.#managed(options)),
    )
  }

  async update(object: T, options?: WriteOptions): Promise<T> {
    return this.#sender.sendForObject(
      requests.updateRequest(this.#target, object, this.#managed(options)),
    )
  }

  async patch(name: string, patch: Patch, options?: PatchOptions): Promise<T> {
    return this.#sender.sendForObject(
      requests.patchRequest(this.#target, name, patch, this.#managed(options)),
    )
  }

  async apply(
    name: string,
    object: T,
    options: PatchOptions & { readonly fieldManager: string },
  ): Promise<T> {
    return this.#sender.sendForObject(requests.applyRequest(this.#target, name, object, options))
  }

  async delete(name: string, options?: DeleteOptions): Promise<KubernetesObject> {
    return this.#sender.send(requests.deleteRequest(this.#target, name, options))
  }

  async deleteCollection(options?: DeleteOptions & ListOptions): Promise<KubernetesObject> {
    return this.#sender.send(requests.deleteCollectionRequest(this.#target, options))
  }

  async createSubresource<R extends KubernetesObject>(
    name: string,
    subresource: string,
    body: KubernetesObject,
    options?: Omit<WriteOptions, 'subresource' | 'due' | 'repeated' | 'unread'>,
  ): Promise<R> {
    return this.#sender.sendForObject<R>(
      requests.createSubresourceRequest(
        this.#target,
        name,
        subresource,
        body,
        this.#managed(options),
      ),
    )
  }

  #managed<O extends WriteOptions>(options: O | undefined): O | WriteOptions | undefined {
    if (this.#fieldManager === undefined || options?.fieldManager !== undefined) return options
    return { ...options, fieldManager: this.#fieldManager }
  }
}
