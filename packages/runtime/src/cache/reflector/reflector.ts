import type { KubernetesObject, ObjectList, ResourceType } from '@gyropilot/api'
import { groupResourceOf } from '@gyropilot/api'
import { isDecodedForCaller, isExpired, isTooManyRequests } from '@gyropilot/client'
import type { Client, Decoding, ListOptions, ResourceClient } from '@gyropilot/client'
import type { Clock, Logger, RandomSource } from '@gyropilot/foundation'
import { anySignal, every, sleep } from '@gyropilot/foundation'
import { inTurns } from '../../turn.ts'
import { listPages } from './list-pages.ts'
import { ReflectorBackoff } from './reflector-backoff.ts'
import { sentShapeOf } from '../transform.ts'
import type { ObjectShape } from '../transform.ts'
import {
  InternalErrorBudget,
  isInternalError,
  isVersionUnavailable,
  isWorthWaiting,
  logWatchError,
} from './watch-errors.ts'
import { closeStream, followStream } from './watch-stream.ts'
import type { Stream, StreamEnd, StreamReader, StreamTarget } from './watch-stream.ts'

/**
 * `any`: what the server has in its cache, from whatever time (`resourceVersion=0`). `latest`: nothing that was answered before is
 * missing (no version). A list that is streamed is always that. Servers have the latest in their cache since 1.31; older ones
 * read it from etcd.
 */
export type FirstList = 'any' | 'latest'

/** Where a reflector puts what it learns. `replaced` and `changed` throw when an object cannot be taken in. */
export interface ReflectorSink<T extends KubernetesObject> {
  /** Waited for: a list may take more than a turn. */
  replaced(objects: Iterable<T>, resourceVersion: string): Promise<void>
  changed(type: 'Added' | 'Updated' | 'Deleted', object: T): void
  bookmarked(resourceVersion: string): void
  /** An empty sink of the same kind for a streaming list, which is given to `replaced` when it is complete. */
  temporary(): TemporarySink<T>
}

interface TemporarySink<T extends KubernetesObject> {
  changed(type: 'Added' | 'Updated' | 'Deleted', object: T): void
  /** What tells its objects apart from these, which are the caller's own; undefined: nothing. */
  differenceTo(listed: readonly T[]): string | undefined
  /** As they were changed: not to be changed again. */
  complete(resourceVersion: string): void
}

export interface ReflectorOptions<T extends KubernetesObject> {
  readonly client: Client
  readonly type: ResourceType<T>
  readonly sink: ReflectorSink<T>
  readonly clock: Clock
  readonly random: RandomSource
  readonly logger: Logger
  readonly namespace?: string
  readonly labelSelector?: string
  readonly fieldSelector?: string
  readonly metadataOnly?: boolean
  /** Of objects in watches; see RequestOptions. */
  readonly decode?: Decoding
  /** Objects per page of a list. Default: 500 where the server pages at all. */
  readonly pageSize?: number
  /** Watches end after once to twice this time. Default and least: 5 minutes. */
  readonly minWatchTimeoutMs?: number
  /** Stream the initial list. Default true; false for clients that cannot. */
  readonly watchList?: boolean
  /** What the first list asks for, where lists are not streamed. Default `any`. */
  readonly firstList?: FirstList
  /** Ask for bookmarks, so that a watch can be taken up again after a quiet time. Default true. */
  readonly watchBookmarks?: boolean
  /** Compares each streamed list with an ordinary one, and is told of a difference. Costs a request; for tests. */
  readonly onInconsistentList?: (error: Error) => void
  /** How long InternalError of watches is answered by watching again at once. Default 0. */
  readonly internalErrorBudgetMs?: number
  /** Called with each object that was decoded for this reflector alone, before the sink has it: may change it. */
  readonly onDecoded?: (object: T) => void
  /** Called every `periodMs` while watching. */
  readonly resync?: { readonly periodMs: number; tick(): void }
  /** Told of errors that end a round. Must return fast; the wait happens anyway. */
  readonly onWatchError?: (error: unknown) => void
}

const DEFAULT_PAGE_SIZE = 500
const LEAST_WATCH_TIMEOUT_MS = 5 * 60_000

/**
 * Keeps a sink equal to one collection of the server: fetch everything, watch until something ends it, again. Never throws;
 * every failure is waited out. resourceVersions are tokens here, nothing is read from their form.
 * Contract: docs/behaviour/runtime/informers.md, Reflector.
 */
export class Reflector<T extends KubernetesObject> {
  readonly #options: ReflectorOptions<T>
  readonly #resource: ResourceClient<T>
  readonly #selectors: Pick<
    ListOptions,
    'labelSelector' | 'fieldSelector' | 'metadataOnly' | 'decode'
  >
  readonly #shape: ObjectShape
  readonly #logger: Logger
  readonly #backoff: ReflectorBackoff
  readonly #internalErrors: InternalErrorBudget
  readonly #firstVersion: '' | '0'
  #waiting = new AbortController()
  #lastVersion = ''
  #versionUnavailable = false
  #serverPaginates = false

  constructor(options: ReflectorOptions<T>) {
    this.#options = options
    this.#resource = options.client.resource(options.type, options.namespace)
    const { labelSelector, fieldSelector, metadataOnly, decode } = options
    this.#selectors = {
      ...(labelSelector ? { labelSelector } : {}),
      ...(fieldSelector ? { fieldSelector } : {}),
      ...(metadataOnly ? { metadataOnly } : {}),
      decode,
    }
    this.#shape = sentShapeOf(options.type, metadataOnly ?? false)
    this.#logger = options.logger.with({ resource: groupResourceOf(options.type) })
    this.#backoff = new ReflectorBackoff(options.clock, options.random)
    this.#firstVersion = options.firstList === 'latest' ? '' : '0'
    this.#internalErrors = new InternalErrorBudget(options.internalErrorBudgetMs ?? 0)
  }

  /** Where the next watch starts; empty before the first list. */
  get lastSyncResourceVersion(): string {
    return this.#lastVersion
  }

  /** Resolves after `signal` aborted. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        await this.#round(signal)
      } catch (error) {
        if (signal.aborted) return
        this.#report(error)
      }
      this.#waiting = new AbortController()
      using either = anySignal([signal, this.#waiting.signal])
      await this.#pause(either.signal).catch(() => {})
    }
  }

  /** Ends the wait for the next round, where there is one: somebody needs to know now whether it goes better. */
  tryNow(): void {
    this.#waiting.abort()
  }

  async #round(signal: AbortSignal): Promise<void> {
    const stream = (this.#options.watchList ?? true) ? await this.#streamList(signal) : undefined
    if (stream === undefined) await this.#list(signal)
    const { resync, clock } = this.#options
    const timer =
      resync && resync.periodMs > 0 ? every(clock, resync.periodMs, () => resync.tick()) : undefined
    try {
      await this.#watch(stream, signal)
    } finally {
      timer?.cancel()
    }
  }

  async #list(signal: AbortSignal): Promise<void> {
    const firstVersion = this.#versionUnavailable ? '' : this.#lastVersion || this.#firstVersion
    const limit = this.#pageLimit(firstVersion)
    const attempt = (resourceVersion: string) =>
      listPages(this.#resource, {
        ...this.#selectors,
        ...(resourceVersion === '' ? {} : { resourceVersion }),
        ...(limit === 0 ? {} : { limit }),
        signal,
        onPage: (page) => this.#decodedPage(page),
      })
    let listed
    try {
      listed = await attempt(firstVersion)
    } catch (error) {
      if (!isVersionUnavailable(error)) throw error
      this.#versionUnavailable = true
      listed = await attempt('')
    }
    signal.throwIfAborted()
    if (firstVersion === '0' && listed.pages > 1) this.#serverPaginates = true
    this.#versionUnavailable = false
    await this.#options.sink.replaced(listed.items, listed.resourceVersion)
    this.#lastVersion = listed.resourceVersion
  }

  /** A list at a known version comes from the server's cache, which answers in one piece. */
  #pageLimit(resourceVersion: string): number {
    if (this.#options.pageSize !== undefined) return this.#options.pageSize
    if (this.#serverPaginates) return DEFAULT_PAGE_SIZE
    return resourceVersion === '' || resourceVersion === '0' ? DEFAULT_PAGE_SIZE : 0
  }

  /** Undefined: this round must list. Else the stream, positioned behind the initial events. */
  async #streamList(signal: AbortSignal): Promise<Stream<T> | undefined> {
    let closes = 0
    for (;;) {
      const from = this.#versionUnavailable ? '' : this.#lastVersion
      const temporary = this.#options.sink.temporary()
      let version = ''
      let stream: Stream<T> | undefined
      let end: StreamEnd
      try {
        stream = await this.#openStreamingList(from, signal)
        const state = { complete: false }
        end = await followStream(stream, this.#reader(signal), {
          changed: (type, object) => {
            this.#decoded(stream!, object)
            temporary.changed(type, object)
          },
          bookmarked: (_, isEndOfInitialEvents) => {
            state.complete = isEndOfInitialEvents
          },
          applied: (resourceVersion) => {
            version = resourceVersion
            return state.complete
          },
          warnWhenSilent: true,
        })
      } catch (error) {
        end = { ended: 'error', error }
      }
      signal.throwIfAborted()
      if (end.ended === 'asked') {
        this.#versionUnavailable = false
        try {
          await this.#checkStreamedList(temporary, version, signal)
          temporary.complete(version)
        } catch (error) {
          closeStream(stream!)
          throw error
        }
        this.#lastVersion = version
        return stream
      }
      if (stream !== undefined) closeStream(stream)
      if (end.ended !== 'error') {
        // Once is a connection that broke; again is a server that closes whatever is opened.
        if (closes++ > 0) await this.#pause(signal)
      } else if (isVersionUnavailable(end.error)) {
        this.#versionUnavailable = true
        // Without a version there is nothing to do better at once.
        if (from === '') await this.#pause(signal)
      } else if (isWorthWaiting(end.error)) {
        await this.#pause(signal)
      } else {
        this.#logger.info('Streaming list failed, falling back to list', { error: end.error })
        return undefined
      }
    }
  }

  async #checkStreamedList(
    streamed: TemporarySink<T>,
    resourceVersion: string,
    signal: AbortSignal,
  ): Promise<void> {
    const { onInconsistentList, clock } = this.#options
    if (onInconsistentList === undefined) return
    const { listAtVersion } = await import('./streaming-list-check.ts')
    const listed = await listAtVersion({
      resource: this.#resource,
      selectors: this.#selectors,
      resourceVersion,
      clock,
      logger: this.#logger,
      signal,
    })
    signal.throwIfAborted()
    const difference = listed && streamed.differenceTo(listed)
    if (difference === undefined) return
    const name = groupResourceOf(this.#options.type)
    onInconsistentList(new Error(`data inconsistency detected for ${name}: ${difference}`))
  }

  async #openStreamingList(version: string, signal: AbortSignal): Promise<Stream<T>> {
    const events = await this.#resource.watch({
      ...this.#selectors,
      ...(version === '' ? {} : { resourceVersion: version }),
      resourceVersionMatch: 'NotOlderThan',
      sendInitialEvents: true,
      allowWatchBookmarks: true,
      timeoutSeconds: this.#timeoutSeconds(),
      signal,
    })
    return events[Symbol.asyncIterator]()
  }

  async #watch(first: Stream<T> | undefined, signal: AbortSignal): Promise<void> {
    let stream = first
    let startedAnywhere = false
    for (;;) {
      signal.throwIfAborted()
      if (stream === undefined) {
        startedAnywhere = this.#lastVersion === '' || this.#lastVersion === '0'
        stream = await this.#openWatch(signal)
        continue
      }
      const end = await followStream(
        stream,
        this.#reader(signal),
        this.#liveTarget(stream, startedAnywhere),
      )
      closeStream(stream)
      stream = undefined
      if (end.ended !== 'error') continue
      if (!(await this.#goesOnAfter(end.error, signal))) return
    }
  }

  /** Undefined: the request was refused for now, and the wait is over. */
  async #openWatch(signal: AbortSignal): Promise<Stream<T> | undefined> {
    try {
      const events = await this.#resource.watch({
        ...this.#selectors,
        ...(this.#lastVersion === '' ? {} : { resourceVersion: this.#lastVersion }),
        allowWatchBookmarks: this.#options.watchBookmarks ?? true,
        timeoutSeconds: this.#timeoutSeconds(),
        signal,
      })
      return events[Symbol.asyncIterator]()
    } catch (error) {
      if (!isWorthWaiting(error)) throw error
      this.#logger.verbosity(2).info('Watch was refused, will try again', { error })
      await this.#pause(signal)
      return undefined
    }
  }

  /** What follows a watch that ended with an error: true to watch again from where it was, false to end the round. */
  async #goesOnAfter(error: unknown, signal: AbortSignal): Promise<boolean> {
    const mayRetry =
      isInternalError(error) && this.#internalErrors.allows(this.#options.clock.monotonicMs())
    if (mayRetry) return true
    if (isTooManyRequests(error)) {
      this.#logger.verbosity(2).info('Watch was refused, will try again', { error })
      await this.#pause(signal)
      return true
    }
    if (isExpired(error)) this.#logger.verbosity(4).info('Watch closed', { error })
    else this.#logger.info('Watch ended with an error', { error })
    return false
  }

  #decoded(source: object, object: T): void {
    const { onDecoded } = this.#options
    if (onDecoded !== undefined && isDecodedForCaller(source)) onDecoded(object)
  }

  async #decodedPage(page: ObjectList<T>): Promise<void> {
    const { onDecoded, clock } = this.#options
    if (onDecoded === undefined || !isDecodedForCaller(page)) return
    await inTurns(clock, page.items, onDecoded)
  }

  #liveTarget(stream: Stream<T>, startedAnywhere: boolean): StreamTarget<T> {
    const { sink } = this.#options
    let onlyAdded = startedAnywhere
    return {
      changed: (type, object) => {
        if (type !== 'Added') onlyAdded = false
        this.#decoded(stream, object)
        sink.changed(type, object)
      },
      bookmarked: (resourceVersion) => {
        onlyAdded = false
        sink.bookmarked(resourceVersion)
      },
      // The initial events of such a watch come in no order: the version of one of them is no place to go on from.
      applied: (resourceVersion) => {
        if (!onlyAdded) this.#lastVersion = resourceVersion
        return false
      },
      warnWhenSilent: false,
    }
  }

  #reader(signal: AbortSignal): StreamReader {
    return { clock: this.#options.clock, logger: this.#logger, shape: this.#shape, signal }
  }

  #timeoutSeconds(): number {
    const leastMs = Math.max(this.#options.minWatchTimeoutMs ?? 0, LEAST_WATCH_TIMEOUT_MS)
    return Math.floor((leastMs / 1000) * (1 + this.#options.random.next()))
  }

  async #pause(signal: AbortSignal): Promise<void> {
    await sleep(this.#options.clock, this.#backoff.nextDelayMs(), signal)
  }

  #report(error: unknown): void {
    if (this.#options.onWatchError !== undefined) this.#options.onWatchError(error)
    else logWatchError(this.#logger, error)
  }
}
