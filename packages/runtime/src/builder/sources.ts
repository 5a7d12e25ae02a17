/** Where events come from. Contract: docs/behaviour/runtime/custom-controllers.md, Builder. */
import type { KubernetesObject } from '@gyropilot/api'
import { keyOf } from '@gyropilot/api'
import { Fifo } from '@gyropilot/foundation'
import type { Logger } from '@gyropilot/foundation'
import { DeletedFinalStateUnknown } from '../informer.ts'
import type { EventHandler, Informer } from '../informer.ts'
import type { WatchHandler } from './event-handlers.ts'
import type { Predicate } from './predicates.ts'
import { requestQueue } from './request-queue.ts'
import type { KeyQueue, RequestQueue } from './request-queue.ts'

/** Of creations in the initial list and of resyncs: what changes now goes first. */
export const LOW_PRIORITY = -100

/** Begins to add to the queue, and ends when `signal` aborts. The logger is told of events that are lost. */
export interface Source {
  /** For messages: `Kind: Website`. */
  readonly description: string
  start(queue: KeyQueue, signal: AbortSignal, logger: Logger): void | Promise<void>
  /** True when the initial objects have reached the queue; false when `signal` aborts first. Default: at once. */
  whenSynced?(signal: AbortSignal): Promise<boolean>
}

/** Events of an informer of this or another cache. It is asked for at the start. */
export function informerSource<T extends KubernetesObject>(
  informerOf: () => Informer<T>,
  description: string,
  handler: WatchHandler<NoInfer<T>>,
  predicates: readonly Predicate<NoInfer<T>>[] = [],
): Source {
  let whenSynced: ((signal: AbortSignal) => Promise<boolean>) | undefined
  return {
    description,
    start(queue, signal, logger) {
      const onError = tellOf(logger, description, signal)
      const registration = informerOf().addHandler(
        eventHandler(handler, predicates, onError, (low) =>
          requestQueue(queue, low ? LOW_PRIORITY : 0),
        ),
      )
      whenSynced = (signal) => registration.whenSynced(signal)
      signal.addEventListener('abort', () => registration.remove(), { once: true })
    },
    whenSynced: (signal) => whenSynced?.(signal) ?? Promise.resolve(false),
  }
}

type OnError = (error: unknown, key: string) => void

/** A mapper that a stop interrupts has not failed. */
function tellOf(logger: Logger, source: string, signal: AbortSignal): OnError {
  return (error, key) => {
    if (signal.aborted) return
    logger.error(error, 'A predicate or event handler failed; its event is lost', { source, key })
  }
}

/** What `handle` throws or rejects with loses this event only: the informer would hold up the next ones for a second. */
function losing(
  object: KubernetesObject,
  onError: OnError,
  handle: () => void | Promise<void>,
): void | Promise<void> {
  try {
    const pending = handle()
    return pending instanceof Promise
      ? pending.catch((error: unknown) => onError(error, keyOf(object)))
      : undefined
  } catch (error) {
    return onError(error, keyOf(object))
  }
}

function eventHandler<T extends KubernetesObject>(
  handler: WatchHandler<T>,
  predicates: readonly Predicate<T>[],
  onError: OnError,
  queueOf: (low: boolean) => RequestQueue,
): EventHandler<T> {
  return {
    onAdd: (object, isInInitialList) =>
      losing(object, onError, () => {
        if (!predicates.every((predicate) => predicate.create?.(object) ?? true)) return undefined
        return handler.create?.({ object, isInInitialList }, queueOf(isInInitialList))
      }) as void,
    onUpdate: (previous, object) =>
      losing(object, onError, () => {
        if (!predicates.every((predicate) => predicate.update?.(previous, object) ?? true))
          return undefined
        const isResync = previous.metadata?.resourceVersion === object.metadata?.resourceVersion
        return handler.update?.({ previous, object }, queueOf(isResync))
      }) as void,
    onDelete(deleted) {
      const isFinalStateUnknown = deleted instanceof DeletedFinalStateUnknown
      const object = isFinalStateUnknown ? deleted.object : deleted
      if (object === undefined) return undefined
      return losing(object, onError, () => {
        if (!predicates.every((predicate) => predicate.delete?.(object) ?? true)) return undefined
        return handler.delete?.({ object, isFinalStateUnknown }, queueOf(false))
      }) as void
    },
  }
}

/**
 * Objects that something outside the cluster says have changed: a webhook, a timer, another system. While nobody listens, as on
 * a standby that does not lead, the last state of each object is kept, told apart by kind, namespace and name: as many as
 * there are objects, however long that takes and however often they are sent.
 */
export class EventChannel<T extends KubernetesObject = KubernetesObject> {
  readonly #listeners = new Set<(object: T) => void>()
  /** Sent while nobody listened. */
  readonly #early = new Map<string, T>()

  send(object: T): void {
    const { apiVersion, kind } = object
    if (this.#listeners.size === 0)
      this.#early.set(`${apiVersion}/${kind} ${keyOf(object)}`, object)
    for (const listener of this.#listeners) listener(object)
  }

  /** Answers how to stop. The first listener is given what was sent before, each object once. */
  listen(listener: (object: T) => void): () => void {
    this.#listeners.add(listener)
    const early = [...this.#early.values()]
    this.#early.clear()
    for (const object of early) listener(object)
    return () => void this.#listeners.delete(listener)
  }
}

/** Generic events of a channel, one after the other. `onError` is told of what a handler throws, whose event is lost; default: it is logged. */
export function channelSource<T extends KubernetesObject>(
  channel: EventChannel<T>,
  handler: WatchHandler<NoInfer<T>>,
  predicates: readonly Predicate<NoInfer<T>>[] = [],
  onError?: (error: unknown, key: string) => void,
): Source {
  return {
    description: 'channel',
    start(keys, signal, logger) {
      const queue = requestQueue(keys, 0)
      const pending = new Fifo<T>()
      const told = onError ?? tellOf(logger, 'channel', signal)
      let handling = false
      const handle = async (): Promise<void> => {
        handling = true
        for (let object = pending.shift(); object !== undefined; object = pending.shift()) {
          const sent = object
          await losing(sent, told, () => {
            if (!predicates.every((predicate) => predicate.generic?.(sent) ?? true))
              return undefined
            return handler.generic?.({ object: sent }, queue)
          })
        }
        handling = false
      }
      const stop = channel.listen((object) => {
        pending.push(object)
        if (!handling) void handle()
      })
      signal.addEventListener('abort', stop, { once: true })
    },
  }
}
