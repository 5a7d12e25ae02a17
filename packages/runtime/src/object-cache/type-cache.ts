import type { KubernetesObject, ResourceType } from '@gyropilot/api'
import { apiVersionOf, groupResourceOf, parseFieldQuery, parseLabelQuery } from '@gyropilot/api'
import { isNotFound } from '@gyropilot/client'
import { anySignal, deepFreeze } from '@gyropilot/foundation'
import { MutationDetector } from '../cache/mutation-detector.ts'
import { logWatchError } from '../cache/reflector/watch-errors.ts'
import { SharedInformer } from '../cache/shared-informer.ts'
import { controllerErrors } from '../builder/errors.ts'
import type {
  EventHandler,
  HandlerRegistration,
  IndexFunction,
  Informer,
  Lister,
} from '../informer.ts'
import { draftOf } from '../object-writes/draft.ts'
import type { ObjectCacheOptions, ReadMode, ResolvedScope } from './cache-options.ts'

const DEFAULT_SYNC_PERIOD_MS = 10 * 3_600_000

interface CacheQuery {
  readonly namespace?: string
  readonly labelSelector?: string
  readonly fieldSelector?: string
  readonly limit?: number
}

/** The cache of one kind: one informer over everything, or one per namespace, seen as one. */
export class TypeCache<T extends KubernetesObject> implements Informer<T> {
  readonly type: ResourceType<T>
  readonly lister: Lister<T>
  readonly #parts: readonly {
    readonly scope: ResolvedScope
    readonly informer: SharedInformer<T>
  }[]
  readonly #waiting = new Set<AbortController>()
  /** The server has last said that it has no such collection. */
  #notServed = false

  constructor(
    type: ResourceType<T>,
    metadataOnly: boolean,
    scopes: readonly ResolvedScope[],
    options: ObjectCacheOptions,
  ) {
    this.type = type
    const logger = options.logger.with({ resource: groupResourceOf(type) })
    const onWatchError = (error: unknown): void => {
      logWatchError(logger, error)
      if (isNotFound(error)) this.#refuseWaiting()
    }
    this.#parts = scopes.map((scope) => ({
      scope,
      informer: informerOf(type, metadataOnly, scope, options, onWatchError),
    }))
    this.lister = {
      get: (namespace, name) =>
        this.#partOf(namespace, 'get')?.informer.lister.get(namespace, name),
      getByKey: (key) => this.#first((lister) => lister.getByKey(key)),
      list: (namespace) => this.#from(namespace, (lister) => lister.list(namespace)),
      count: (namespace) => this.lister.list(namespace).length,
      byIndex: (index, value) => this.#from(undefined, (lister) => lister.byIndex(index, value)),
    }
  }

  /** Resolves when all have stopped. */
  async run(signal: AbortSignal): Promise<void> {
    await Promise.all(this.#parts.map(({ informer }) => informer.run(signal)))
  }

  hasSynced(): boolean {
    return this.#parts.every(({ informer }) => informer.hasSynced())
  }

  whenSynced(signal: AbortSignal): Promise<boolean> {
    return everySynced(
      this.#parts.map(({ informer }) => informer),
      signal,
    )
  }

  /**
   * Resolves once it is filled. Rejects with KIND_NOT_SERVED as soon as the server says that there is no such kind (404): only a
   * definition can help, and the next call asks again. Of a refusal (403) and of failures it waits for the end, as they
   * may end any time. False when `signal` aborts first.
   */
  async whenFilled(signal: AbortSignal): Promise<boolean> {
    const refusal = new AbortController()
    using either = anySignal([signal, refusal.signal])
    this.#waiting.add(refusal)
    if (this.#notServed) this.#askAgain()
    try {
      const filled = await this.whenSynced(either.signal)
      if (!filled && refusal.signal.aborted) throw refusal.signal.reason
      return filled
    } finally {
      this.#waiting.delete(refusal)
    }
  }

  /** Of a cache of several namespaces there is no such thing: empty. */
  lastSyncResourceVersion(): string {
    return this.#parts.length === 1 ? this.#parts[0]!.informer.lastSyncResourceVersion() : ''
  }

  addHandler(
    handler: EventHandler<T>,
    options?: { readonly resyncPeriodMs?: number },
  ): HandlerRegistration {
    const registrations = this.#parts.map(({ informer }) => informer.addHandler(handler, options))
    return {
      hasSynced: () => registrations.every((registration) => registration.hasSynced()),
      whenSynced: (signal) => everySynced(registrations, signal),
      remove: () => registrations.forEach((registration) => registration.remove()),
    }
  }

  addIndex(name: string, index: IndexFunction<T>): void {
    for (const { informer } of this.#parts) informer.addIndex(name, index)
  }

  addFieldIndex(field: string, valuesOf: IndexFunction<T>): void {
    this.addIndex(indexNameOf(field), (object) => {
      const namespace = object.metadata?.namespace
      return valuesOf(object).flatMap((value) =>
        namespace ? [indexValue('', value), indexValue(namespace, value)] : [indexValue('', value)],
      )
    })
  }

  read(namespace: string | undefined, name: string): T | undefined {
    const part = this.#partOf(namespace, 'get', name)
    const object = part?.informer.lister.get(namespace, name)
    return object && presented(object, part?.scope.reads)
  }

  query({ namespace, labelSelector, fieldSelector, limit }: CacheQuery): readonly T[] {
    const labels = labelSelector ? parseLabelQuery(labelSelector) : undefined
    const parts = namespace ? [this.#partOf(namespace, 'list')] : this.#parts
    const found: T[] = []
    for (const part of parts) {
      if (part === undefined) continue
      const { lister } = part.informer
      const candidates = fieldSelector
        ? matchingFields(lister, namespace, fieldSelector)
        : lister.list(namespace || undefined)
      for (const object of candidates) {
        if (limit && found.length >= limit) return found
        if (labels !== undefined && !labels.matches(object.metadata?.labels)) continue
        found.push(presented(object, part.scope.reads))
      }
    }
    return found
  }

  #askAgain(): void {
    this.#notServed = false
    for (const { informer } of this.#parts) informer.tryNow()
  }

  #refuseWaiting(): void {
    this.#notServed = true
    const kind = `kind ${JSON.stringify(this.type.kind)}`
    const version = JSON.stringify(apiVersionOf(this.type))
    const text = `no matches for ${kind} in version ${version}`
    // Not with the answer as its cause: that a kind is missing must not be taken for a missing object.
    const error = controllerErrors.make('KIND_NOT_SERVED', text)
    for (const waiting of this.#waiting) waiting.abort(error)
  }

  #partOf(namespace: string | undefined, verb: 'get' | 'list', name?: string) {
    const own = this.#parts.find(({ scope }) => scope.namespace === namespace)
    const part = own ?? this.#parts.find(({ scope }) => scope.namespace === undefined)
    if (part !== undefined) return part
    const what = name === undefined ? (namespace ?? '') : `${namespace ?? ''}/${name}`
    throw controllerErrors.make(
      'CACHE_READ_REFUSED',
      `unable to ${verb}: ${what} because of unknown namespace for the cache`,
    )
  }

  #first<R>(ask: (lister: Lister<T>) => R | undefined): R | undefined {
    for (const { informer } of this.#parts) {
      const answer = ask(informer.lister)
      if (answer !== undefined) return answer
    }
    return undefined
  }

  #from(namespace: string | undefined, ask: (lister: Lister<T>) => readonly T[]): readonly T[] {
    if (namespace !== undefined) return ask(this.#partOf(namespace, 'list')!.informer.lister)
    if (this.#parts.length === 1) return ask(this.#parts[0]!.informer.lister)
    return this.#parts.flatMap(({ informer }) => ask(informer.lister))
  }
}

function informerOf<T extends KubernetesObject>(
  type: ResourceType<T>,
  metadataOnly: boolean,
  scope: ResolvedScope,
  options: ObjectCacheOptions,
  onWatchError: (error: unknown) => void,
): SharedInformer<T> {
  const { client, clock, random, logger, watchList, firstList, onAltered, onInconsistentList } =
    options
  const name = groupResourceOf(type)
  const stream = random.fork(`informer/${type.resource}.${type.group}/${scope.namespace ?? ''}`)
  const { namespace, labelSelector, fieldSelector, watchBookmarks } = scope
  return new SharedInformer<T>({
    client,
    clock,
    logger,
    random: stream,
    type,
    metadataOnly,
    namespace,
    labelSelector,
    fieldSelector,
    watchList,
    firstList,
    watchBookmarks,
    onInconsistentList,
    onWatchError,
    mutationDetector: onAltered && new MutationDetector({ clock, name, onAltered }),
    transform: scope.transform as ((object: T) => T) | undefined,
    // Many informers of one age should not resync in one moment.
    defaultResyncMs: (scope.syncPeriodMs ?? DEFAULT_SYNC_PERIOD_MS) * (0.9 + 0.2 * stream.next()),
  })
}

function matchingFields<T extends KubernetesObject>(
  lister: Lister<T>,
  namespace: string | undefined,
  fieldSelector: string,
): readonly T[] {
  const { terms } = parseFieldQuery(fieldSelector)
  if (terms.some(({ operator }) => operator !== '=')) {
    throw controllerErrors.make(
      'CACHE_READ_REFUSED',
      'non-exact field matches are not supported by the cache',
    )
  }
  let found: readonly T[] | undefined
  for (const { field, value } of terms) {
    let matching: readonly T[]
    try {
      matching = lister.byIndex(indexNameOf(field), indexValue(namespace ?? '', value))
    } catch (cause) {
      throw controllerErrors.make(
        'CACHE_READ_REFUSED',
        `Index with name ${indexNameOf(field)} does not exist`,
        { cause },
      )
    }
    const known = found && new Set(found)
    found = known === undefined ? matching : matching.filter((object) => known.has(object))
  }
  return found ?? []
}

function indexNameOf(field: string): string {
  return `field:${field}`
}

/** One index answers for a namespace and for all of them: names of namespaces have no slash. */
function indexValue(namespace: string, value: string): string {
  return `${namespace}/${value}`
}

function presented<T>(object: T, reads: ReadMode = 'frozen'): T {
  if (reads === 'frozen') return deepFreeze(object)
  return reads === 'copies' ? (draftOf(object) as T) : object
}

async function everySynced(
  parts: readonly Pick<HandlerRegistration, 'whenSynced'>[],
  signal: AbortSignal,
): Promise<boolean> {
  const synced = await Promise.all(parts.map((part) => part.whenSynced(signal)))
  return synced.every((done) => done)
}
