/** Contract: docs/behaviour/runtime/custom-controllers.md, Client and cache. */
import type { KubernetesObject, ObjectList, ResourceType, WatchEvent } from '@gyropilot/api'
import { apiVersionOf, groupResourceOf } from '@gyropilot/api'
import type {
  Client,
  GetOptions,
  ListOptions,
  RawRequest,
  RequestOptions,
  ResourceClient,
  WatchOptions,
} from '@gyropilot/client'
import { anySignal } from '@gyropilot/foundation'
import type { ScopedSignal } from '@gyropilot/foundation'
import { notFound } from '../cache/lister.ts'
import { controllerErrors } from '../builder/errors.ts'
import { namingKind } from './naming-kind.ts'
import { isUnstructured } from './unstructured.ts'
import { verbsOf } from './verbs.ts'
import type { ObjectCache } from './object-cache.ts'

/** Which reads go where. */
export interface CachedClientOptions {
  readonly cache: ObjectCache
  readonly live: Client
  /** Read these from the API server. */
  readonly uncached?: readonly ResourceType[]
  /** Types made by `unstructured` are cached too. Default false: they are read from the API server. */
  readonly cacheUnstructured?: boolean
}

/**
 * A client whose `get` and `list` read the cache, and whose other verbs go to the API server. After a write the cache may
 * still show what was before: a conflict, or an object that is not there yet, is normal and gone at the next try.
 */
export class CachedClient implements Client {
  readonly #options: CachedClientOptions
  readonly #uncached: ReadonlySet<string>

  constructor(options: CachedClientOptions) {
    this.#options = options
    this.#uncached = new Set(options.uncached?.map(groupResourceOf))
  }

  resource<T extends KubernetesObject>(
    type: ResourceType<T>,
    namespace?: string,
  ): ResourceClient<T> {
    const { live, cache, cacheUnstructured = false } = this.#options
    const resource = namingKind(live.resource(type, namespace), type)
    const reads =
      (cacheUnstructured || !isUnstructured(type)) && !this.#uncached.has(groupResourceOf(type))
    return reads
      ? cachedReads(resource, cache, type, type.namespaced ? namespace : undefined)
      : resource
  }

  raw<T = unknown>(request: RawRequest): Promise<T> {
    return this.#options.live.raw<T>(request)
  }
}

function cachedReads<T extends KubernetesObject>(
  live: ResourceClient<T>,
  cache: ObjectCache,
  type: ResourceType<T>,
  namespace: string | undefined,
): ResourceClient<T> {
  const get = async (name: string, options: GetOptions = {}): Promise<T> => {
    if (options.subresource !== undefined) return live.get(name, options)
    // Nothing has this key, and "not found" would be taken for the state of the object.
    if (type.namespaced && !namespace) {
      throw controllerErrors.make(
        'CACHE_READ_REFUSED',
        'an empty namespace may not be set when a resource name is provided',
      )
    }
    const filled = await cache.filled(type, options)
    const object = filled.read(namespace, name)
    if (object === undefined) throw notFound(type, name)
    return object
  }
  const list = async (options: ListOptions = {}): Promise<ObjectList<T>> => {
    if (options.continue) {
      throw controllerErrors.make(
        'CACHE_READ_REFUSED',
        'continue list option is not supported by the cache',
      )
    }
    const filled = await cache.filled(type, options)
    const { labelSelector, fieldSelector, limit } = options
    return {
      apiVersion: apiVersionOf(type),
      kind: `${type.kind}List`,
      metadata: { continue: 'continue-not-supported' },
      items: filled.query({ namespace, labelSelector, fieldSelector, limit }),
    }
  }
  return {
    ...verbsOf(live),
    get,
    list,
    async *pages(options = {}) {
      const { limit: _, ...all } = options
      yield await list(all)
    },
  }
}

/** The same client, each request given up when `signal` aborts. */
export function withSignal(client: Client, signal: AbortSignal): Client {
  return {
    resource: (type, namespace) => signalled(client.resource(type, namespace), signal),
    raw: (request) => within(signal, request, (bound) => client.raw(bound)),
  }
}

function signalled<T extends KubernetesObject>(
  resource: ResourceClient<T>,
  signal: AbortSignal,
): ResourceClient<T> {
  const bound = <O extends RequestOptions, R>(
    options: O | undefined,
    send: (options: O & RequestOptions) => Promise<R>,
  ): Promise<R> => within(signal, options, send)
  return {
    get: (name, options) => bound(options, (all) => resource.get(name, all)),
    list: (options) => bound(options, (all) => resource.list(all)),
    async *pages(options) {
      using both = anySignal([signal, options?.signal])
      yield* resource.pages({ ...options, signal: both.signal })
    },
    watch: (options) => watchWithin(signal, resource, options),
    create: (object, options) => bound(options, (all) => resource.create(object, all)),
    update: (object, options) => bound(options, (all) => resource.update(object, all)),
    patch: (name, patch, options) => bound(options, (all) => resource.patch(name, patch, all)),
    apply: (name, object, options) => bound(options, (all) => resource.apply(name, object, all)),
    delete: (name, options) => bound(options, (all) => resource.delete(name, all)),
    deleteCollection: (options) => bound(options, (all) => resource.deleteCollection(all)),
    createSubresource: (name, subresource, body, options) =>
      bound(options, (all) => resource.createSubresource(name, subresource, body, all)),
  }
}

/** Both signals count for as long as the stream lasts. */
async function watchWithin<T extends KubernetesObject>(
  signal: AbortSignal,
  resource: ResourceClient<T>,
  options: WatchOptions | undefined,
): Promise<AsyncIterable<WatchEvent<T>>> {
  if (options?.signal === undefined) return resource.watch({ ...options, signal })
  const both = anySignal([signal, options.signal])
  try {
    const events = await resource.watch({ ...options, signal: both.signal })
    return endedBy(events, both)
  } catch (error) {
    both.dispose()
    throw error
  }
}

function endedBy<T>(events: AsyncIterable<T>, scope: ScopedSignal): AsyncIterable<T> {
  return {
    [Symbol.asyncIterator]() {
      const inner = events[Symbol.asyncIterator]()
      return {
        async next() {
          const result = await inner.next()
          if (result.done) scope.dispose()
          return result
        },
        async return() {
          scope.dispose()
          await inner.return?.()
          return { done: true, value: undefined }
        },
      }
    },
  }
}

async function within<O extends RequestOptions, R>(
  signal: AbortSignal,
  options: O | undefined,
  send: (options: O & RequestOptions) => Promise<R>,
): Promise<R> {
  if (options?.signal === undefined) return send({ ...options, signal } as O & RequestOptions)
  using both = anySignal([signal, options.signal])
  return await send({ ...options, signal: both.signal })
}
