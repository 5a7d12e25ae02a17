import type { KubernetesObject, ObjectList, ResourceType, Status, WatchEvent } from '@gyropilot/api'
import {
  applyJsonPatch,
  applyMergePatch,
  groupResourceOf,
  keyOf,
  parseLabelQuery,
  pathOf,
} from '@gyropilot/api'
import type { JsonPatchOperation } from '@gyropilot/api'
import { StatusError } from '@gyropilot/client'
import type {
  Client,
  Decoding,
  DeleteOptions,
  ListOptions,
  Patch,
  RawRequest,
  RequestOptions,
  ResourceClient,
  WatchOptions,
  WriteOptions,
} from '@gyropilot/client'
import { errorText } from '@gyropilot/foundation'
import { FakeWatch, metadataOf } from './fake-watch.ts'
import { leftByDeletion, leftByWrite } from './finalizer-rules.ts'
import { generationOf } from './generation-rules.ts'
import { refusalOf } from './list-option-rules.ts'
import { seenThrough, selected } from './selection.ts'

/** A request as the fake server saw it. */
export interface FakeRequest {
  readonly verb: string
  readonly path: string
  readonly options: Readonly<Record<string, unknown>>
  /** What the caller decodes of the answer: servers are not told. */
  readonly decode?: Decoding
  readonly body?: unknown
}

const PAGE_SIZE = 500

/** What watches can still start behind. */
const KEPT_CHANGES = 1_000

interface Change {
  readonly type: ResourceType
  readonly event: WatchEvent
  readonly previous: KubernetesObject | undefined
}

/**
 * A client over a map, for tests of the runtime alone: one global resourceVersion, optimistic locking, preconditions, dry runs, finalizers,
 * selectors, watches from a version on. Any request can be answered or refused by `onRequest` first; options of lists and watches that no
 * API server takes are refused, and what this one cannot do (lists in pages, or of a former version) is an error. It knows no kinds and no
 * validation, of field selectors only those that ask for equality or its contrary, of any field; it merges strategic patches and applied
 * objects as merge patches, and deletes nothing in the foreground. What must agree with a real server is tested against the embedded one.
 */
export class FakeServer implements Client {
  readonly requests: FakeRequest[] = []
  /** May throw a StatusError or TransportError, or answer in the server's place. */
  onRequest: ((request: FakeRequest) => unknown) | undefined
  /** Of these, status is written through its subresource only, and the rest past it only; their generation counts changes of the rest. */
  withStatusSubresource: readonly ResourceType[] = []
  /** For deletion timestamps. */
  nowMs: () => number = () => Date.UTC(2026, 0, 1)
  readonly #objects = new Map<string, KubernetesObject>()
  readonly #watches = new Set<FakeWatch>()
  readonly #changes: Change[] = []
  #version = 0

  get resourceVersion(): string {
    return String(this.#version)
  }

  resource<T extends KubernetesObject>(
    type: ResourceType<T>,
    namespace?: string,
  ): ResourceClient<T> {
    return resourceClient(this, type as ResourceType, namespace) as unknown as ResourceClient<T>
  }

  /** Other paths are answered by `onRequest` alone. */
  async raw<T>({ method, path }: RawRequest): Promise<T> {
    const answer = await this.admit({ verb: method, path, options: {} })
    if (answer === undefined)
      throw new Error(`the fake server has no other paths: nothing answers ${path}`)
    return answer as T
  }

  /** Open watches, oldest first: to end them, or to send what no real server would. */
  get watches(): readonly FakeWatch[] {
    return [...this.#watches]
  }

  /** Requests of these verbs, in order. */
  requested(...verbs: readonly string[]): readonly FakeRequest[] {
    return this.requests.filter(({ verb }) => verbs.includes(verb))
  }

  /** Stores without a request, as another client would. */
  put<T extends KubernetesObject>(type: ResourceType<T>, object: T): T {
    const key = pathOf(type, object.metadata?.namespace, object.metadata?.name)
    const known = this.#objects.get(key)
    const uid = object.metadata?.uid ?? known?.metadata?.uid ?? `uid-${this.#version + 1}`
    const resourceVersion = String(++this.#version)
    const stored = { ...object, metadata: { ...object.metadata, uid, resourceVersion } }
    this.#objects.set(key, stored)
    const event = { type: known === undefined ? 'ADDED' : 'MODIFIED', object: stored } as const
    this.#notify({ type, event, previous: known })
    return stored
  }

  /** Removes without a request. */
  remove(type: ResourceType, target: KubernetesObject): void {
    const key = pathOf(type, target.metadata?.namespace, target.metadata?.name)
    const known = this.#objects.get(key)
    if (known === undefined) return
    this.#objects.delete(key)
    const resourceVersion = String(++this.#version)
    const object = { ...known, metadata: { ...known.metadata, resourceVersion } }
    this.#notify({ type, event: { type: 'DELETED', object }, previous: known })
  }

  get(
    type: ResourceType,
    namespace: string | undefined,
    name: string,
  ): KubernetesObject | undefined {
    return this.#objects.get(pathOf(type, namespace, name))
  }

  list(type: ResourceType, namespace?: string): KubernetesObject[] {
    const prefix = `${pathOf(type, namespace)}/`
    const inAll = new RegExp(`^${pathOf({ ...type, namespaced: false })}/`)
    return [...this.#objects]
      .filter(([key]) => {
        if (namespace !== undefined || !type.namespaced) return key.startsWith(prefix)
        return inAll.test(key.replace(/\/namespaces\/[^/]+/, ''))
      })
      .map(([, object]) => object)
  }

  /** Records the request; what `onRequest` answers takes the place of the server's own answer. */
  async admit(request: FakeRequest): Promise<unknown> {
    this.requests.push(request)
    const { verb, options } = request
    const refusal = verb === 'list' || verb === 'watch' ? refusalOf(verb, options) : undefined
    if (refusal !== undefined) throw statusError(422, 'Invalid', refusal)
    refuseSelector(options)
    const answer = await this.onRequest?.(request)
    if (answer === undefined) refuseUnable(request, this.resourceVersion)
    return answer
  }

  /** What a write makes of the object that was there. */
  separated(
    type: ResourceType,
    before: KubernetesObject,
    after: KubernetesObject,
    subresource?: string,
  ): KubernetesObject {
    const resource = groupResourceOf(type)
    if (!this.withStatusSubresource.some((member) => groupResourceOf(member) === resource))
      return after
    const statusOf = (object: KubernetesObject): object => {
      const { status } = object as { status?: unknown }
      return status === undefined ? {} : { status }
    }
    if (subresource === 'status') return { ...before, ...statusOf(after) }
    const { status: _, ...rest } = after as KubernetesObject & { status?: unknown }
    const generation = generationOf(before, after)
    return { ...rest, metadata: { ...rest.metadata, generation }, ...statusOf(before) }
  }

  openWatch(type: ResourceType, namespace: string | undefined, options: WatchOptions): FakeWatch {
    const watch = new FakeWatch(type, namespace, options, () => this.#watches.delete(watch))
    if (options.sendInitialEvents) {
      for (const object of selected(this.list(type, namespace), options))
        watch.send({ type: 'ADDED', object })
      watch.bookmark(this.resourceVersion, { 'k8s.io/initial-events-end': 'true' })
    } else for (const change of this.#changesSince(options.resourceVersion)) tell(watch, change)
    this.#watches.add(watch)
    return watch
  }

  /** Of a watch that is for all that is newer than what its caller has. */
  #changesSince(resourceVersion = ''): readonly Change[] {
    const version = Number(resourceVersion)
    if (version === 0) return []
    const [oldest] = this.#changes
    if (this.#changes.length === KEPT_CHANGES && versionOf(oldest!) > version + 1)
      throw statusError(410, 'Expired', `too old resource version: ${resourceVersion}`)
    return this.#changes.filter((change) => versionOf(change) > version)
  }

  #notify(change: Change): void {
    this.#changes.push(change)
    if (this.#changes.length > KEPT_CHANGES) this.#changes.shift()
    for (const watch of this.#watches) tell(watch, change)
  }
}

function refuseSelector({ labelSelector }: ListOptions): void {
  try {
    parseLabelQuery(labelSelector ?? '')
  } catch (error) {
    throw statusError(400, 'BadRequest', errorText(error))
  }
}

/** What a test would otherwise take for the behaviour of a server. */
function refuseUnable({ verb, path, options }: FakeRequest, newest: string): void {
  if (verb !== 'list') return
  const { continue: from, resourceVersion, resourceVersionMatch } = options as ListOptions
  if (from)
    throw new Error(`the fake server lists in one page: it gave no continue token of ${path}`)
  if (resourceVersionMatch === 'Exact' && resourceVersion !== newest)
    throw new Error(`the fake server has no former version of ${path}: answer by onRequest`)
}

function versionOf({ event }: Change): number {
  return Number(event.object.metadata?.resourceVersion)
}

function tell(watch: FakeWatch, { type, event, previous }: Change): void {
  if (groupResourceOf(watch.type) !== groupResourceOf(type)) return
  if (watch.namespace !== undefined && watch.namespace !== event.object.metadata?.namespace) return
  const seen = seenThrough(watch.options, event, previous)
  if (seen !== undefined) watch.send(seen)
}

/** An answer of the server that is a failure: `throw statusError(409, 'Conflict')`. */
export function statusError(
  code: number,
  reason: string,
  message = reason,
  details?: Status['details'],
): StatusError {
  return new StatusError({
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    code,
    reason,
    message,
    details,
  })
}

function conflict(type: ResourceType, { metadata }: KubernetesObject, why?: string): StatusError {
  const text = `Operation cannot be fulfilled on ${groupResourceOf(type)} "${metadata?.name}"`
  return statusError(409, 'Conflict', why === undefined ? text : `${text}: ${why}`)
}

function resourceClient(
  server: FakeServer,
  type: ResourceType,
  namespace: string | undefined,
): ResourceClient<KubernetesObject> {
  const request = (
    verb: string,
    name: string | undefined,
    options: object | undefined,
    body?: unknown,
  ): FakeRequest => {
    const { signal: _, decode, ...asked } = (options ?? {}) as RequestOptions
    const decoding = decode === undefined ? {} : { decode }
    return { verb, path: pathOf(type, namespace, name), options: asked, ...decoding, body }
  }
  const existing = (name: string): KubernetesObject => {
    const found = server.get(type, namespace, name)
    if (found === undefined)
      throw statusError(404, 'NotFound', `${groupResourceOf(type)} "${name}" not found`)
    return found
  }
  const stored = (
    known: KubernetesObject,
    written: KubernetesObject,
    { dryRun }: WriteOptions = {},
  ): KubernetesObject => {
    const left = leftByWrite(known, written)
    if (dryRun) return left ?? written
    if (left !== undefined) return server.put(type, left)
    server.remove(type, known)
    const { resourceVersion } = server
    return { ...written, metadata: { ...written.metadata, resourceVersion } }
  }
  const created = (
    name: string,
    object: KubernetesObject,
    { dryRun }: WriteOptions = {},
  ): KubernetesObject => {
    const named = { ...object, metadata: { ...object.metadata, namespace, name } }
    const made = server.separated(type, {}, named)
    return dryRun ? made : server.put(type, made)
  }
  const patched = (name: string, patch: Patch, options: WriteOptions = {}): KubernetesObject => {
    const known = existing(name)
    const written = (
      patch.type === 'json'
        ? applyJsonPatch(known, patch.operations as readonly JsonPatchOperation[])
        : applyMergePatch(known, patch.value)
    ) as KubernetesObject
    refuseOld(known, written)
    return stored(known, server.separated(type, known, written, options.subresource), options)
  }
  /** Answers what is left of it. */
  const deleted = (
    known: KubernetesObject,
    { preconditions, dryRun }: DeleteOptions = {},
  ): KubernetesObject | undefined => {
    for (const [field, wanted] of Object.entries(preconditions ?? {})) {
      const found = known.metadata?.[field as keyof typeof preconditions]
      if (wanted !== undefined && wanted !== found)
        throw conflict(type, known, `Precondition failed: ${field} is ${found}, not ${wanted}`)
    }
    const left = leftByDeletion(known, server.nowMs())
    if (dryRun) return left
    if (left === undefined) server.remove(type, known)
    return left === undefined || left === known ? left : server.put(type, left)
  }
  /** Of an update, and of what a patch makes: one that names a version is for that version. */
  const refuseOld = (known: KubernetesObject, written: KubernetesObject): void => {
    const version = written.metadata?.resourceVersion
    if (version === undefined || version === known.metadata?.resourceVersion) return
    throw conflict(type, known)
  }
  const client: ResourceClient<KubernetesObject> = {
    async get(name, options) {
      const answer = (await server.admit(request('get', name, options))) as KubernetesObject
      return answer ?? (options?.metadataOnly ? metadataOf(existing(name)) : existing(name))
    },
    async list(options?: ListOptions) {
      const answer = await server.admit(request('list', undefined, options))
      const found = selected(server.list(type, namespace), options)
      const items = options?.metadataOnly ? found.map(metadataOf) : found
      return (answer ?? {
        metadata: { resourceVersion: server.resourceVersion },
        items,
      }) as ObjectList
    },
    async *pages(options) {
      // All on the first page, but asked for as pages are.
      yield await client.list({ limit: PAGE_SIZE, ...options })
    },
    async watch(options: WatchOptions = {}) {
      const answer = await server.admit(request('watch', undefined, options))
      return (answer ?? server.openWatch(type, namespace, options)) as AsyncIterable<WatchEvent>
    },
    async create(object, options) {
      const answer = await server.admit(request('create', object.metadata?.name, options, object))
      if (answer !== undefined) return answer as KubernetesObject
      const name =
        object.metadata?.name ?? `${object.metadata?.generateName ?? ''}${server.resourceVersion}`
      if (server.get(type, namespace, name) !== undefined) {
        throw statusError(409, 'AlreadyExists', `${groupResourceOf(type)} "${name}" already exists`)
      }
      const made = created(name, object, options)
      const { apiVersion, kind, metadata } = made
      return options?.decode === 'metadata' ? { apiVersion, kind, metadata } : made
    },
    async update(object, options) {
      const name = object.metadata?.name ?? ''
      const answer = await server.admit(request('update', name, options, object))
      if (answer !== undefined) return answer as KubernetesObject
      const known = existing(name)
      refuseOld(known, object)
      return stored(known, server.separated(type, known, object, options?.subresource), options)
    },
    async patch(name, patch: Patch, options) {
      const answer = await server.admit(request('patch', name, options, patch))
      if (answer !== undefined) return answer as KubernetesObject
      return patched(name, patch, options)
    },
    async apply(name, object, options) {
      const patch: Patch = { type: 'merge', value: object }
      const answer = await server.admit(request('patch', name, options, patch))
      if (answer !== undefined) return answer as KubernetesObject
      const isNew = server.get(type, namespace, name) === undefined
      return isNew && options.subresource === undefined
        ? created(name, object, options)
        : patched(name, patch, options)
    },
    async delete(name, options?: DeleteOptions) {
      const answer = await server.admit(request('delete', name, options))
      if (answer !== undefined) return answer as KubernetesObject
      return deleted(existing(name), options) ?? { kind: 'Status', apiVersion: 'v1' }
    },
    async deleteCollection(options) {
      const answer = await server.admit(request('deleteCollection', undefined, options))
      if (answer !== undefined) return answer as KubernetesObject
      for (const object of selected(server.list(type, namespace), options)) deleted(object, options)
      return { kind: 'Status', apiVersion: 'v1' }
    },
    async createSubresource(name, subresource, body, options) {
      const answer = await server.admit(request(`create ${subresource}`, name, options, body))
      return (answer ?? { ...body, metadata: { ...body.metadata, name } }) as never
    },
  }
  return client
}

/** For assertions: the keys of objects, sorted. */
export function keysOf(objects: Iterable<KubernetesObject>): string[] {
  return [...objects].map(keyOf).sort()
}
