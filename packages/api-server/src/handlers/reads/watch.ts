/** Watches. Contract: docs/behaviour/api-server/storage-and-watch.md, "Watch". */
import type { Clock, RandomSource, Timer } from '@gyropilot/foundation'
import { integerBetween } from '@gyropilot/foundation'
import { ApiError } from '../../contracts.ts'
import { expired, unclassified } from '../../http/errors.ts'
import type { PreparedWatch, WatchEventType, WatchSink } from '../../http/watch-sink.ts'
import { goQuote } from '@gyropilot/schema/go-quote'
import type { Stored } from '@gyropilot/schema/objects'
import { withRevision } from '../../storage/revision-log.ts'
import type { Store, StoreEvent, StoreWatch } from '../../storage/store.ts'
import { matches, namespacePrefix, type ListRequest } from './list.ts'
import { parseVersion, type ListOptions } from '../options.ts'
import { reachRevision } from './revisions.ts'

const BOOKMARK_PERIOD_MS = 60_000
/** A last bookmark goes out this long before the watch times out. */
const LAST_BOOKMARK_MS = 2000
const SHORTEST_TIMEOUT_SECONDS = 1800
/** Of a reader that has left as much unread as it may, for all of it. */
const READER_PATIENCE_MS = 30_000

interface WatchParts {
  readonly store: Store
  readonly clock: Clock
  readonly random: RandomSource
}

interface Plan {
  /** Changes above this revision are sent. */
  readonly revision: number
  readonly initial: boolean
}

/** Throws for what is refused before the stream begins. */
export function prepareWatch(parts: WatchParts, request: ListRequest): PreparedWatch {
  const { options } = request
  const version = watchVersion(options)
  const implied = options.sendInitialEvents === undefined && version === 0
  const initial = options.sendInitialEvents === true || implied
  return {
    start(sink) {
      const session = new WatchSession(parts, request, sink)
      void session.run({ revision: version, initial }, implied)
      return () => session.stop()
    },
  }
}

function watchVersion({ resourceVersion }: ListOptions): number {
  if (resourceVersion === '') return 0
  const version = parseVersion(resourceVersion)
  if (typeof version === 'object') {
    throw unclassified(
      `resourceVersion: Invalid value: ${goQuote(resourceVersion)}: ${version.error}`,
    )
  }
  return version
}

/** Durations are counted in nanoseconds, in 64 bits. */
function durationMs(seconds: number): number {
  return Number(BigInt.asIntN(64, BigInt(seconds) * 1_000_000_000n) / 1_000_000n)
}

class WatchSession {
  readonly #parts: WatchParts
  readonly #request: ListRequest
  readonly #sink: WatchSink
  #subscription: StoreWatch | undefined
  #timers: Timer[] = []
  #ended = false
  /** For a version of the future. The time of the watch may run out meanwhile; whether the version came is told all the same. */
  #waits = false
  #overdue = false
  #converting: Promise<void> = Promise.resolve()
  /** The revision that the client has already, or asked to have. */
  #from = 0
  /** Of the last change that was sent, or is being converted. */
  #heard = 0
  #impatience: Timer | undefined

  constructor(parts: WatchParts, request: ListRequest, sink: WatchSink) {
    this.#parts = parts
    this.#request = request
    this.#sink = sink
  }

  async run(plan: Plan, implied: boolean): Promise<void> {
    const { store, clock } = this.#parts
    this.#startTimeout()
    try {
      if (plan.initial) {
        // The newest state is read at its source, for which no time is left. What is at hand is sent all the same.
        const { resourceVersion, timeoutSeconds = 0 } = this.#request.options
        if (durationMs(timeoutSeconds) < 0 && resourceVersion === '')
          throw new ApiError(500, 'InternalError', 'context deadline exceeded')
        if (!implied && plan.revision > store.revision) {
          this.#waits = true
          await reachRevision(store, clock, plan.revision, resourceVersion)
          this.#waits = false
          if (this.#overdue) this.stop()
        }
        if (this.#ended) return
        await this.#follow(await this.#sendInitialState())
      } else await this.#follow(plan.revision === 0 ? store.revision : plan.revision)
      if (!this.#ended && this.#request.options.allowWatchBookmarks) this.#startBookmarks()
    } catch (error) {
      this.#fail(error)
    }
  }

  stop(): void {
    if (this.#ended) return
    this.#ended = true
    this.#subscription?.stop()
    for (const timer of this.#timers) timer.cancel()
    this.#impatience?.cancel()
    this.#sink.end()
  }

  /** The revision that was sent. Changes meanwhile are read from the history afterwards: nothing waits in memory for a slow reader. */
  async #sendInitialState(): Promise<number> {
    const { store } = this.#parts
    const { resource, namespace, selection, options } = this.#request
    const snapshot = store.list(resource.storage.collection, namespacePrefix(resource, namespace))
    if (snapshot === 'expired')
      throw expired('The resourceVersion for the provided watch is too old.')
    await resource.storage.conversion?.prepare(snapshot.entries.map(({ object }) => object))
    for (const { object } of snapshot.entries) {
      if (!matches(resource, selection, object)) continue
      const ready = this.#sink.ready()
      if (ready !== undefined) await ready
      if (this.#ended || !this.#send('ADDED', object)) break
    }
    if (!this.#ended && options.allowWatchBookmarks && options.watch)
      this.#bookmark(snapshot.revision, { 'k8s.io/initial-events-end': 'true' })
    return snapshot.revision
  }

  /** Sends what happened since, at the pace of the reader, and everything from then on in the turn of its commit. */
  async #follow(from: number): Promise<void> {
    const { store } = this.#parts
    const { resource, namespace, selection } = this.#request
    const { collection } = resource.storage
    const prefix = namespacePrefix(resource, namespace)
    this.#from = from
    for (let revision = from; !this.#ended;) {
      const past: StoreEvent[] = []
      let live = false
      const subscription = store.watch(
        collection,
        prefix,
        revision,
        (event) => {
          if (live) this.#hear(event)
          else past.push(event)
        },
        selection.pin,
      )
      if (subscription === 'expired')
        throw expired(`too old resource version: ${revision} (${store.oldestRevision(collection)})`)
      const sent = this.#sendReadily(past)
      if (sent === past.length && !this.#ended) {
        this.#subscription = subscription
        this.#heard = past.at(-1)?.revision ?? revision
        live = true
        return
      }
      subscription.stop()
      await this.#sendPast(past.slice(sent))
      revision = past.at(-1)?.revision ?? revision
    }
  }

  /** In this turn. How many the reader took: objects may be large, and it cannot read before the turn is over. */
  #sendReadily(events: readonly StoreEvent[]): number {
    // What is converted goes out later, whenever that is.
    if (this.#request.resource.storage.conversion !== undefined) return 0
    let sent = 0
    for (const event of events) {
      if (this.#ended || this.#sink.ready() !== undefined) break
      this.#change(event)
      sent++
    }
    return sent
  }

  async #sendPast(events: readonly StoreEvent[]): Promise<void> {
    for (const event of events) {
      const ready = this.#sink.ready()
      if (ready !== undefined) await ready
      if (this.#ended) return
      this.#change(event)
      await this.#converting
    }
  }

  /** In the turn of the commit: a fault of ours ends this watch, and is none of the writer's and of other watches. */
  #hear(event: StoreEvent): void {
    if (this.#sink.isFull()) return this.#fallBehind()
    try {
      this.#heard = event.revision
      this.#change(event)
    } catch (error) {
      this.#fail(error)
    }
  }

  /**
   * Large objects that change in one turn of the event loop are more than may wait, before any reader could read: it goes on with the
   * history. One that does not read for a while is cut off.
   */
  #fallBehind(): void {
    this.#subscription?.stop()
    this.#subscription = undefined
    this.#impatience = this.#parts.clock.after(READER_PATIENCE_MS, () => this.stop())
    void this.#catchUp()
  }

  async #catchUp(): Promise<void> {
    try {
      await this.#converting
      await this.#sink.ready()
      this.#impatience?.cancel()
      if (!this.#ended) await this.#follow(this.#heard)
    } catch (error) {
      this.#fail(error)
    }
  }

  #change(event: StoreEvent): void {
    const { conversion } = this.#request.resource.storage
    if (conversion === undefined) {
      this.#sendChange(event)
      return
    }
    // What an object was is looked at by those who select some.
    const { labels, fields } = this.#request.selection
    const selects = labels !== undefined || fields !== undefined
    const states =
      event.previous === undefined || !selects ? [event.object] : [event.object, event.previous]
    this.#inOrder(async () => {
      await conversion.prepare(states)
      this.#sendChange(event)
    })
  }

  /** Sends after everything that is still being converted: whatever a webhook takes, nothing overtakes. */
  #inOrder(send: () => void | Promise<void>): void {
    if (this.#request.resource.storage.conversion === undefined) void send()
    else
      this.#converting = this.#converting
        .then(() => (this.#ended ? undefined : send()))
        .catch((error: unknown) => this.#fail(error))
  }

  #sendChange(event: StoreEvent): void {
    if (this.#ended) return
    const { resource, selection } = this.#request
    if (selection.labels === undefined && selection.fields === undefined) {
      if (event.type === 'deleted') this.#send('DELETED', event.object)
      else this.#send(event.type === 'created' ? 'ADDED' : 'MODIFIED', event.object)
      return
    }
    const before = event.previous !== undefined && matches(resource, selection, event.previous)
    const now = event.type !== 'deleted' && matches(resource, selection, event.object)
    if (now) this.#send(before ? 'MODIFIED' : 'ADDED', event.object)
    else if (before && event.type === 'deleted') this.#send('DELETED', event.object)
    else if (before)
      this.#sendView('DELETED', withRevision(this.#view(event.previous!), event.revision))
  }

  #view(stored: Stored): Stored {
    return this.#request.resource.storage.fromStored?.(stored) ?? stored
  }

  #send(type: WatchEventType, stored: Stored): boolean {
    return this.#sendView(type, this.#view(stored))
  }

  #sendView(type: WatchEventType, view: Stored): boolean {
    if (this.#sink.send(type, view)) return true
    this.stop()
    return false
  }

  #bookmark(revision: number, annotations?: Readonly<Record<string, string>>): void {
    const metadata = {
      resourceVersion: String(revision),
      ...(annotations === undefined ? {} : { annotations }),
    }
    const { info, emptyObject } = this.#request.resource
    const apiVersion = info.group === '' ? info.version : `${info.group}/${info.version}`
    const { metadata: ofKind, ...empty } = emptyObject?.() ?? {}
    const object: Stored = {
      kind: info.kind,
      apiVersion,
      metadata: {
        ...metadata,
        ...(ofKind === undefined ? {} : { annotations: { ...ofKind.annotations, ...annotations } }),
      },
      ...empty,
    }
    if (!this.#sink.send('BOOKMARK', object)) this.stop()
  }

  #startTimeout(): void {
    const { clock, random } = this.#parts
    const { timeoutSeconds, allowWatchBookmarks } = this.#request.options
    // Less than no time ends it at once; none at all is a wish for none.
    const timeoutMs =
      timeoutSeconds === undefined || timeoutSeconds === 0
        ? integerBetween(
            random,
            SHORTEST_TIMEOUT_SECONDS * 1000,
            2 * SHORTEST_TIMEOUT_SECONDS * 1000,
          )
        : Math.max(0, durationMs(timeoutSeconds))
    const timeOut = (): void => {
      if (this.#waits) this.#overdue = true
      else this.stop()
    }
    this.#timers.push(clock.after(timeoutMs, timeOut))
    if (allowWatchBookmarks && timeoutMs > LAST_BOOKMARK_MS) {
      this.#timers.push(clock.after(timeoutMs - LAST_BOOKMARK_MS, () => this.#periodicBookmark()))
    }
  }

  #startBookmarks(): void {
    const tick = (): void => {
      this.#periodicBookmark()
      if (!this.#ended) this.#timers[0] = this.#parts.clock.after(BOOKMARK_PERIOD_MS, tick)
    }
    this.#timers.unshift(this.#parts.clock.after(BOOKMARK_PERIOD_MS, tick))
  }

  /**
   * Everything up to the store's revision has been handed to this watch, events in the turn of their commit. What still
   * waits for a webhook is sent before the bookmark. A watch from the future has nothing to say until then.
   */
  #periodicBookmark(): void {
    if (this.#ended || this.#subscription === undefined) return
    const { revision } = this.#parts.store
    if (revision < this.#from) return
    try {
      this.#inOrder(() => this.#bookmark(revision))
    } catch (error) {
      this.#fail(error)
    }
  }

  #fail(error: unknown): void {
    if (this.#ended) return
    const refusal =
      error instanceof ApiError
        ? error
        : new ApiError(500, 'InternalError', `Internal error occurred: ${String(error)}`)
    try {
      this.#sink.send('ERROR', refusal.toStatus())
    } catch {
      // It cannot be told why, either.
    }
    this.stop()
  }
}
