/**
 * What a reconcile may do to the world, as data. A controller's rules are a generator: it yields effects, is handed their
 * outcomes, and never touches anything itself. So the same rules run against a server, against a table of outcomes in a
 * test, with a crash before or after any write, and can be printed as they go.
 *
 * ```ts
 * function* reconcile({ job, pods }: Observed): Reconcile {
 *   const created = yield* write(create(resources.pods, podFor(job)))
 *   if (!created.ok) return { error: created.error }
 *   return { requeueAfterMs: 1_000 }
 * }
 * ```
 */
import type { DiscoveredResource, KubernetesObject, ResourceType } from '@gyropilot/api'
import type { DeleteOptions, Discovered, Patch, RawRequest } from '@gyropilot/client'

/** One API write, as data. */
export type Write =
  | {
      readonly verb: 'create'
      readonly type: ResourceType
      readonly namespace?: string
      readonly object: KubernetesObject
      /** Of the answer the rules read the metadata alone: the outcome's object need not have more. */
      readonly metadataOnly?: boolean
      /** See WriteOptions, both. */
      readonly due?: boolean
      readonly repeated?: boolean
      /** `binding`, `eviction`, `token` of the object named `name`. */
      readonly subresource?: string
      readonly name?: string
    }
  | {
      readonly verb: 'update'
      readonly type: ResourceType
      readonly namespace?: string
      readonly object: KubernetesObject
      readonly subresource?: string
    }
  | {
      readonly verb: 'patch'
      readonly type: ResourceType
      readonly namespace?: string
      readonly name: string
      readonly patch: Patch
      readonly subresource?: string
    }
  /** Server-side apply: the object holds the fields to own and nothing else. */
  | {
      readonly verb: 'apply'
      readonly type: ResourceType
      readonly namespace?: string
      readonly name: string
      readonly object: KubernetesObject
      readonly fieldManager: string
      /** Takes fields over from other managers instead of answering a conflict. */
      readonly force: boolean
      readonly subresource?: string
    }
  | {
      readonly verb: 'delete'
      readonly type: ResourceType
      readonly namespace?: string
      readonly name: string
      readonly options?: DeleteOptions
    }
  | {
      readonly verb: 'deleteCollection'
      readonly type: ResourceType
      readonly namespace?: string
      readonly options?: DeleteOptions
      /**
       * At most so many, from `continue` on. The outcome's object is the list of them, whose items may be left out
       * (`itemsLeftOut: true`): `continue` in its metadata says that there are more.
       */
      readonly limit?: number
      readonly continue?: string
    }

/** A Write that answers a `T`. */
export type WriteOf<T extends KubernetesObject> = Write & { readonly answers?: T }

/** A live read, past all caches. */
export type Read =
  | {
      readonly verb: 'get'
      readonly type: ResourceType
      readonly namespace?: string
      readonly name: string
      readonly metadataOnly?: boolean
      /** `scale` of the object named `name`. */
      readonly subresource?: string
      /** One request may answer all who ask before it begins, so never with an older state than a request of one's own. */
      readonly shared?: boolean
    }
  | {
      readonly verb: 'list'
      readonly type: ResourceType
      readonly namespace?: string
      readonly labelSelector?: string
      readonly fieldSelector?: string
      readonly metadataOnly?: boolean
      /** See ListOptions: what does not mention it need not be in the list. */
      readonly mentioning?: string
      /** As of a get. */
      readonly shared?: boolean
      /** One page of at most so many objects; absent: all pages; 0: all in one answer, of servers that know no pages. `continue` in the list's metadata says that there are more. */
      readonly limit?: number
      /** With `limit`: the page that this token of an earlier one leads to. */
      readonly continue?: string
    }
  /** What the server has at this moment, or with `remembered` as the controller's `mapper` knows it; the outcome's object is a `Discovered`. */
  | { readonly verb: 'discover'; readonly remembered?: boolean }

/** An event about an object, recorded in the background; correlation and spam limits are the recorder's. */
export interface EventRecord {
  readonly regarding: KubernetesObject
  readonly type: 'Normal' | 'Warning'
  readonly reason: string
  readonly message: string
  /** The part of the object it is about: `spec.containers{web}`. */
  readonly fieldPath?: string
}

/** What a path is of, for a refusal that does not say it. */
export type AboutPath = NonNullable<RawRequest['about']>

/** A call by its name, as data. */
export interface OutsideCall {
  readonly name: string
  readonly arguments: readonly unknown[]
}

/** What became of an effect, handed back to the rules: refusals are values here, not exceptions. */
export type Outcome<T = KubernetesObject> =
  | { readonly ok: true; readonly object: T }
  /** `attempted` is false for a write that a slow start never reached. */
  | { readonly ok: false; readonly error: unknown; readonly attempted: boolean }

/** What rules may ask for. Performed by `perform`, by tables in tests, or not at all. */
export type Effect =
  /** `aside`: see writeAside. */
  | { readonly effect: 'write'; readonly write: Write; readonly aside?: true }
  | {
      readonly effect: 'writes'
      readonly writes: readonly Write[]
      /**
       * `parallel`: all at once. `slow-start`: batches of 1, 2, 4, ...; a batch with an error is finished and is the last.
       */
      readonly order: 'parallel' | 'slow-start'
      readonly expectations?: Expected
    }
  | { readonly effect: 'read'; readonly read: Read }
  /** Which resource serves a kind, as the controller's `mapper` knows it. */
  | {
      readonly effect: 'kind'
      readonly group: string
      readonly kind: string
      readonly version: string
    }
  /** A GET of any other path, its query included: discovery, APIs whose paths are no resources'. */
  | { readonly effect: 'fetch'; readonly path: string; readonly about?: AboutPath }
  /** A call to what is neither the API server nor this process, a cloud: the controller's `outside` performs it. */
  | { readonly effect: 'outside'; readonly call: OutsideCall }
  | { readonly effect: 'event'; readonly event: EventRecord }
  | { readonly effect: 'now' }
  | { readonly effect: 'elapsed' }
  /** Rules of their own, `atOnce` of them at a time; the outcome is what each came to, in their order. */
  | {
      readonly effect: 'beside'
      readonly rules: readonly Reconcile<unknown>[]
      readonly atOnce: number
    }
  /** The worker waits: for short pauses between tries whose count would be lost by going back to the queue. */
  | { readonly effect: 'wait'; readonly waitMs: number }
  /** Timers and sockets get a turn, if this one is long. */
  | { readonly effect: 'turn' }

/**
 * What informers should see come in before the key is worked on again. The shell sets it before the first write and lowers
 * it for every write that failed or was not attempted, except those whose error `keepOnError` accepts.
 */
export type Expected =
  | {
      readonly kind: 'creations'
      readonly key: string
      readonly keepOnError?: (error: unknown) => boolean
    }
  /** `dependents[i]` is the key of the object that `writes[i]` deletes. */
  | { readonly kind: 'deletions'; readonly key: string; readonly dependents: readonly string[] }

/** What the queue does next with the key. */
export interface Verdict {
  /** Retry with back-off. `requeueAfterMs` is then ignored. */
  readonly error?: unknown
  /** The error cannot be helped by a retry: it is logged, and the key waits for the next event. Its back-off is left as it is. */
  readonly terminal?: boolean
  /** The error is a matter of course: it is retried, but logged at verbosity 4 only. */
  readonly expected?: boolean
  /** Work on the key again after this time, without counting as a retry. Absent: wait for the next event. */
  readonly requeueAfterMs?: number
  /** With `requeueAfterMs`: failures counted so far stay, so that a later error continues their back-off. */
  readonly keepsFailures?: boolean
}

/** The rules of one reconcile. Returning nothing is success. */
export type Reconcile<R = Verdict | void> = Generator<Effect, R, unknown>

/** One write; the outcome never throws. */
export function* write<T extends KubernetesObject>(write: WriteOf<T>): Reconcile<Outcome<T>> {
  return (yield { effect: 'write', write: write as Write }) as Outcome<T>
}

/**
 * A write whose answer is awaited without a worker: the keys of this controller that are ready begin meanwhile, and before the rest of
 * these rules. For what is late when many are due at once, while the rest is not. The rules go on with what they have observed, which
 * may have changed: a conflict is more likely than without.
 */
export function* writeAside<T extends KubernetesObject>(write: WriteOf<T>): Reconcile<Outcome<T>> {
  return (yield { effect: 'write', write: write as Write, aside: true }) as Outcome<T>
}

/** Several writes; outcomes are in the order of the writes. */
export function* writeAll<T extends KubernetesObject>(
  writes: readonly WriteOf<T>[],
  order: 'parallel' | 'slow-start',
  expectations?: Expected,
): Reconcile<readonly Outcome<T>[]> {
  const effect: Effect =
    expectations === undefined
      ? { effect: 'writes', writes: writes as readonly Write[], order }
      : { effect: 'writes', writes: writes as readonly Write[], order, expectations }
  return (yield effect) as readonly Outcome<T>[]
}

/** A live GET; a missing object is an outcome with a NotFound error. */
export function* getLive<T extends KubernetesObject>(
  type: ResourceType<T>,
  namespace: string | undefined,
  name: string,
): Reconcile<Outcome<T>> {
  return (yield { effect: 'read', read: { verb: 'get', type, namespace, name } }) as Outcome<T>
}

/** A live list of all pages, or with `limit` of the first one; 0 asks for no pages. */
export function* listLive<T extends KubernetesObject>(
  type: ResourceType<T>,
  namespace?: string,
  options: {
    labelSelector?: string
    fieldSelector?: string
    metadataOnly?: boolean
    mentioning?: string
    shared?: boolean
    limit?: number
    continue?: string
  } = {},
): Reconcile<Outcome<LiveList<T>>> {
  return (yield {
    effect: 'read',
    read: { verb: 'list', type, namespace, ...options },
  }) as Outcome<LiveList<T>>
}

/** What a live list answers; `continue` is there where a page was asked for and others follow. */
export interface LiveList<T extends KubernetesObject> extends KubernetesObject {
  readonly metadata?: KubernetesObject['metadata'] & { readonly continue?: string }
  readonly items: readonly T[]
}

/** All resources of the server, asked for live. */
export function* discoverLive(): Reconcile<Outcome<Discovered>> {
  return (yield { effect: 'read', read: { verb: 'discover' } }) as Outcome<Discovered>
}

/** All resources of the server, as the controller's `mapper` knows them. After `discoverLive` it knows what that found. */
export function* discoverRemembered(): Reconcile<Outcome<Discovered>> {
  return (yield {
    effect: 'read',
    read: { verb: 'discover', remembered: true },
  }) as Outcome<Discovered>
}

/** A GET of a path, with its query; the object is the body. */
export function* getLivePath<T extends object>(
  path: string,
  about?: AboutPath,
): Reconcile<Outcome<T>> {
  return (yield { effect: 'fetch', path, ...(about && { about }) }) as Outcome<T>
}

/** A live GET of a subresource. */
export function* getLiveSubresource<T extends KubernetesObject>(
  type: ResourceType,
  namespace: string | undefined,
  name: string,
  subresource: string,
): Reconcile<Outcome<T>> {
  const read: Read = { verb: 'get', type, namespace, name, subresource }
  return (yield { effect: 'read', read }) as Outcome<T>
}

/** The resource that serves a kind; an outcome with an error where there is none. Of controllers with a `mapper`. */
export function* resourceOfKind(
  group: string,
  kind: string,
  version: string,
): Reconcile<Outcome<DiscoveredResource>> {
  return (yield { effect: 'kind', group, kind, version }) as Outcome<DiscoveredResource>
}

/** A call outside; what it rejects with is an outcome. Of controllers that have an `outside`. */
export function* callOutside<T>(
  name: string,
  ...callArguments: readonly unknown[]
): Reconcile<Outcome<T>> {
  return (yield { effect: 'outside', call: { name, arguments: callArguments } }) as Outcome<T>
}

/** An event about the object; recording never fails and is not waited for. */
export function* recordEvent(
  regarding: KubernetesObject,
  type: 'Normal' | 'Warning',
  reason: string,
  message: string,
): Reconcile<void> {
  yield { effect: 'event', event: { regarding, type, reason, message } }
}

/**
 * Rules that do not wait for each other, at most `atOnce` of them at a time; what they come to, in their order. They share what they
 * close over, and none sees another half-way through a step. When one throws, those that have begun are waited for, and no other begins.
 */
export function* beside<R>(
  rules: readonly Reconcile<R>[],
  atOnce: number,
): Reconcile<readonly R[]> {
  return (yield { effect: 'beside', rules, atOnce }) as readonly R[]
}

/** Wall time in milliseconds. Take it once per decision that needs one moment. */
export function* currentTimeMs(): Reconcile<number> {
  return (yield { effect: 'now' }) as number
}

/** Milliseconds since some moment, by a clock that nobody sets: how long something took is the difference of two. */
export function* elapsedTimeMs(): Reconcile<number> {
  return (yield { effect: 'elapsed' }) as number
}

/** A pause of the worker, in milliseconds. A key that can wait is requeued instead (`Verdict.requeueAfterMs`). */
export function* wait(waitMs: number): Reconcile<void> {
  yield { effect: 'wait', waitMs }
}

/**
 * Between the pieces of a long calculation, some dozens of objects each: lets timers and sockets have a turn when this one has gone
 * on for 10 ms. What rules took from caches before it stays as it was; what they look up after it may be newer.
 */
export function* giveWay(): Reconcile<void> {
  yield { effect: 'turn' }
}
