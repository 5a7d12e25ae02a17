import type { KubernetesObject, ObjectList, ResourceType, Status, WatchEvent } from '@gyropilot/api'
import { applyJsonPatch, applyMergePatch, groupResourceOf, keyOf, pathOf } from '@gyropilot/api'
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
} from '@gyropilot/client'
import { leftByDeletion, leftByWrite } from './finalizer-rules.ts'
import { FakeWatch, metadataOf } from './fake-watch.ts'
import { refusalOf } from './list-option-rules.ts'

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

/**
 * A client over a map, for tests of the runtime alone: one global resourceVersion, optimistic locking, finalizers, watches. Any request
 * can be answered or refused by `onRequest` first; options of lists and watches that no API server takes are refused. It knows no kinds, no validation, no selectors of labels, of fields
 * only those that ask for equality or its contrary and do not change, and merges strategic patches and applied objects as merge patches, deletes nothing in the foreground; what must agree with a real server is tested against the embedded one.
 */
export class FakeServer implements Client {
  readonly requests: FakeRequest[] = []
  /** May throw a StatusError or TransportError, or answer in the server's place. */
  onRequest: ((request: FakeRequest) => unknown) | undefined
  /** Of these, status is written through its subresource only, and the rest past it only. */
  withStatusSubresource: readonly ResourceType[] = []
  /** For deletion timestamps. */
  nowMs: () => number = () => Date.UTC(2026, 0, 1)
  readonly #objects = new Map<string, KubernetesObject>()
  readonly #watches = new Set<FakeWatch>()
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
    this.#notify(type, { type: known === undefined ? 'ADDED' : 'MODIFIED', object: stored })
    return stored
  }

  /** Removes without a request. */
  remove(type: ResourceType, target: KubernetesObject): void {
    const key = pathOf(type, target.metadata?.namespace, target.metadata?.name)
    const known = this.#objects.get(key)
    if (known === undefined) return
    this.#objects.delete(key)
    const resourceVersion = String(++this.#version)
    this.#notify(type, {
      type: 'DELETED',
      object: { ...known, metadata: { ...known.metadata, resourceVersion } },
    })
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
    return this.onRequest?.(request)
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
    return { ...rest, ...statusOf(before) }
  }

  openWatch(type: ResourceType, namespace: string | undefined, options: WatchOptions): FakeWatch {
    const watch = new FakeWatch(type, namespace, options, () => this.#watches.delete(watch))
    this.#watches.add(watch)
    if (options.sendInitialEvents) {
      for (const object of selected(this.list(type, namespace), options))
        watch.send({ type: 'ADDED', object })
      watch.bookmark(this.resourceVersion, { 'k8s.io/initial-events-end': 'true' })
    }
    return watch
  }

  #notify(type: ResourceType, event: WatchEvent): void {
    for (const watch of this.#watches) {
      if (groupResourceOf(watch.type) !== groupResourceOf(type)) continue
      if (watch.namespace !== undefined && watch.namespace !== event.object.metadata?.namespace)
        continue
      if (selected([event.object], watch.options).length > 0) watch.send(event)
    }
  }
}

function selected(
  objects: readonly KubernetesObject[],
  { fieldSelector = '' }: Pick<ListOptions, 'fieldSelector'> = {},
): readonly KubernetesObject[] {
  if (fieldSelector === '') return objects
  const terms = fieldSelector.split(',').map((term) => term.split(/(!=|=)/))
  const valueAt = (object: KubernetesObject, path = ''): unknown =>
    path.split('.').reduce<unknown>((at, field) => (at as Record<string, unknown>)?.[field], object)
  return objects.filter((object) =>
    terms.every(
      ([path, operator, value]) =>
        (String(valueAt(object, path) ?? '') === value) === (operator === '='),
    ),
  )
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
  const stored = (known: KubernetesObject, written: KubernetesObject): KubernetesObject => {
    const left = leftByWrite(known, written)
    if (left !== undefined) return server.put(type, left)
    server.remove(type, known)
    const { resourceVersion } = server
    return { ...written, metadata: { ...written.metadata, resourceVersion } }
  }
  const created = (name: string, object: KubernetesObject): KubernetesObject => {
    const named = { ...object, metadata: { ...object.metadata, namespace, name } }
    return server.put(type, server.separated(type, {}, named))
  }
  const patched = (name: string, patch: Patch, subresource?: string): KubernetesObject => {
    const known = existing(name)
    const written = (
      patch.type === 'json'
        ? applyJsonPatch(known, patch.operations as readonly JsonPatchOperation[])
        : applyMergePatch(known, patch.value)
    ) as KubernetesObject
    refuseOld(known, written)
    return stored(known, server.separated(type, known, written, subresource))
  }
  /** Answers what is left of it. */
  const deleted = (known: KubernetesObject): KubernetesObject | undefined => {
    const left = leftByDeletion(known, server.nowMs())
    if (left === undefined) server.remove(type, known)
    return left === undefined || left === known ? left : server.put(type, left)
  }
  /** Of an update, and of what a patch makes: one that names a version is for that version. */
  const refuseOld = (known: KubernetesObject, written: KubernetesObject): void => {
    const version = written.metadata?.resourceVersion
    if (version === undefined || version === known.metadata?.resourceVersion) return
    const what = `${groupResourceOf(type)} "${known.metadata?.name}"`
    throw statusError(409, 'Conflict', `Operation cannot be fulfilled on ${what}`)
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
      const made = created(name, object)
      const { apiVersion, kind, metadata } = made
      return options?.decode === 'metadata' ? { apiVersion, kind, metadata } : made
    },
    async update(object, options) {
      const name = object.metadata?.name ?? ''
      const answer = await server.admit(request('update', name, options, object))
      if (answer !== undefined) return answer as KubernetesObject
      const known = existing(name)
      refuseOld(known, object)
      return stored(known, server.separated(type, known, object, options?.subresource))
    },
    async patch(name, patch: Patch, options) {
      const answer = await server.admit(request('patch', name, options, patch))
      if (answer !== undefined) return answer as KubernetesObject
      return patched(name, patch, options?.subresource)
    },
    async apply(name, object, options) {
      const patch: Patch = { type: 'merge', value: object }
      const answer = await server.admit(request('patch', name, options, patch))
      if (answer !== undefined) return answer as KubernetesObject
      const isNew = server.get(type, namespace, name) === undefined
      return isNew && options.subresource === undefined
        ? created(name, object)
        : patched(name, patch, options.subresource)
    },
    async delete(name, options?: DeleteOptions) {
      const answer = await server.admit(request('delete', name, options))
      if (answer !== undefined) return answer as KubernetesObject
      return deleted(existing(name)) ?? { kind: 'Status', apiVersion: 'v1' }
    },
    async deleteCollection(options) {
      const answer = await server.admit(request('deleteCollection', undefined, options))
      if (answer !== undefined) return answer as KubernetesObject
      for (const object of server.list(type, namespace)) deleted(object)
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
