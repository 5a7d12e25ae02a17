import type { KubernetesObject, ObjectList, ResourceType, WatchEvent } from '@gyropilot/api'
import type { Decoding } from './answers/decode-object.ts'

/** One identity talking to one API server, with its own rate limit. */
export interface Client {
  /** The verbs of a resource, in one namespace, or in all of them (list and watch only) or cluster-scoped when left out. */
  resource<T extends KubernetesObject>(type: ResourceType<T>, namespace?: string): ResourceClient<T>
  /** Any other path: discovery, /healthz, a review. Rejects as the verbs of ResourceClient do; a text is given as it is. */
  raw<T = unknown>(request: RawRequest): Promise<T>
}

/**
 * A request beside the resource verbs. `path` begins with `/` and has its query; `json` is sent as application/json
 * unless `headers` say otherwise.
 */
export interface RawRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  readonly path: string
  readonly json?: unknown
  readonly headers?: Readonly<Record<string, string>>
  /** What the path is of: told by the error of an answer that has no Status. */
  readonly about?: { readonly group: string; readonly resource: string; readonly name?: string }
  readonly signal?: AbortSignal
}

/**
 * Every verb rejects with StatusError for a refusal (a code outside 200 to 206, or a Status that says Failure), with TransportError for
 * no answer, and with a GyropilotError of `clientErrors` for what cannot be sent (REQUEST_INVALID, CREDENTIALS_UNREADABLE, ...) and for
 * an answer of success that is not what was asked for (ANSWER_UNDECODABLE): a write may then have been done, or never have come to a server.
 */
export interface ResourceClient<T extends KubernetesObject> {
  get(name: string, options?: GetOptions): Promise<T>
  list(options?: ListOptions): Promise<ObjectList<T>>
  /** Page after page until `continue` is empty. */
  pages(options?: ListOptions): AsyncIterable<ObjectList<T>>
  /** Resolves once the server answered 200. The stream ends when the server closes it or `signal` aborts. */
  watch(options?: WatchOptions): Promise<AsyncIterable<WatchEvent<T>>>
  create(object: T, options?: WriteOptions): Promise<T>
  update(object: T, options?: WriteOptions): Promise<T>
  patch(name: string, patch: Patch, options?: PatchOptions): Promise<T>
  /** Server-side apply under `options.fieldManager`, which is required. */
  apply(
    name: string,
    object: T,
    options: PatchOptions & { readonly fieldManager: string },
  ): Promise<T>
  /** Answers the object while finalizers or a grace period hold it, else a Status. */
  delete(name: string, options?: DeleteOptions): Promise<KubernetesObject>
  deleteCollection(options?: DeleteOptions & ListOptions): Promise<KubernetesObject>
  /** `pods/binding`, `serviceaccounts/token`, `pods/eviction`: create on a subresource. */
  createSubresource<R extends KubernetesObject>(
    name: string,
    subresource: string,
    body: KubernetesObject,
    options?: Omit<WriteOptions, 'subresource' | 'due' | 'repeated' | 'unread'>,
  ): Promise<R>
}

/** An abort gives the request up: a pending verb rejects with TransportError `ABORTED`, a watch ends. */
export interface RequestOptions {
  readonly signal?: AbortSignal
  /**
   * What the caller needs of objects that come as JSON, so that the rest need not be decoded: `lean`: all but metadata.managedFields;
   * `metadata`: kind, apiVersion and metadata without managedFields. More than that may be there. Lists are always whole. Default: `whole`.
   */
  readonly decode?: Decoding
}

/** `resourceVersion` "0": any version, from the server's cache; absent: the newest. */
export interface GetOptions extends RequestOptions {
  readonly resourceVersion?: string
  readonly subresource?: string
  /** Ask for PartialObjectMetadata only. */
  readonly metadataOnly?: boolean
}

/**
 * Selectors in their text form (`app=web,tier!=cache`, `spec.nodeName=n1`). Combinations that servers refuse:
 * docs/behaviour/api-server/storage-and-watch.md.
 */
export interface ListOptions extends RequestOptions {
  readonly labelSelector?: string
  readonly fieldSelector?: string
  readonly resourceVersion?: string
  readonly resourceVersionMatch?: 'Exact' | 'NotOlderThan'
  readonly limit?: number
  readonly continue?: string
  /** Ask for PartialObjectMetadata only. */
  readonly metadataOnly?: boolean
  /**
   * Uids or the like. Who is interested only in objects in which one of them stands says so: objects of a list in which none stands
   * anywhere are not decoded, and then there are none. What else a list has is not left out; `itemsLeftOut: true` says that it had
   * some.
   */
  readonly mentioning?: readonly string[]
}

/**
 * Without a resourceVersion the watch begins with an ADDED event for each object there is. Servers end watches by
 * themselves, after `timeoutSeconds` or about half an hour.
 */
export interface WatchOptions extends RequestOptions {
  readonly labelSelector?: string
  readonly fieldSelector?: string
  readonly resourceVersion?: string
  readonly resourceVersionMatch?: 'NotOlderThan'
  readonly sendInitialEvents?: boolean
  readonly allowWatchBookmarks?: boolean
  readonly timeoutSeconds?: number
  readonly metadataOnly?: boolean
}

/** Of create, update and patch. Without `fieldManager` the client's own, else the server takes the program of the user agent. */
export interface WriteOptions extends RequestOptions {
  /** `status`, `scale`, `finalize`, `approval`. */
  readonly subresource?: string
  readonly fieldManager?: string
  readonly fieldValidation?: 'Ignore' | 'Warn' | 'Strict'
  readonly dryRun?: boolean
  /** Its time has come, and it is late for as long as it waits: a process may let its other writes wait for it. Of creations. */
  readonly due?: boolean
  /** The very same object is sent several times in a row and edited by nobody: its JSON need be written once only. Of creations. */
  readonly repeated?: boolean
  /** Nobody reads the answer: one of success is not decoded, and stands for an object without fields. */
  readonly unread?: boolean
}

/** Of patch and apply. */
export interface PatchOptions extends WriteOptions {
  /** Server-side apply only: take over fields of other managers. */
  readonly force?: boolean
}

/** JSON Patch (RFC 6902), JSON Merge Patch (RFC 7386), or a strategic merge patch, which servers take for built-in types only. */
export type Patch =
  | { readonly type: 'json'; readonly operations: readonly unknown[] }
  | { readonly type: 'merge'; readonly value: unknown }
  | { readonly type: 'strategic'; readonly value: unknown }

/**
 * Defaults are the server's: the kind's grace period, and mostly Background propagation. A precondition that does not
 * hold is a Conflict.
 */
export interface DeleteOptions extends RequestOptions {
  readonly gracePeriodSeconds?: number
  readonly propagationPolicy?: 'Orphan' | 'Background' | 'Foreground'
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string }
  /** As of a creation: something that is due waits for this deletion. */
  readonly due?: boolean
  readonly dryRun?: boolean
}
