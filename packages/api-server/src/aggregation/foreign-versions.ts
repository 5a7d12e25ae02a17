/**
 * Group versions that an APIService announces and this server does not serve: they are listed, and requests for them are passed on to
 * its service, or refused where that cannot answer. Follows the store by itself.
 */
import { deepEqual } from '@gyropilot/api'
import { formatTime } from '@gyropilot/foundation'
import type { Clock, Logger, Timer } from '@gyropilot/foundation'
import type { ServerInternals, UserInfo } from '../contracts.ts'
import { unavailable } from '../http/answer.ts'
import type { Answer } from '../http/answer.ts'
import type { ServerRequest } from '../http/exchange.ts'
import { checkBodySize } from '../http/request-body.ts'
import { AUTOMANAGED_LABEL, LOCAL } from '../kinds/apiregistration/api-service.ts'
import type { ResourceRegistry } from '../registry/resource-registry.ts'
import type { StoreEvent, StoreWatch } from '../storage/store.ts'
import type { Draft, Stored } from '@gyropilot/schema/objects'
import { availableOf, failedCheck, isAvailable, unavailability } from './availability.ts'
import type { Unavailability } from './availability.ts'
import type { Backends } from './backends.ts'
import { AGGREGATED_TYPE, resourcesFrom, resourcesIn } from './discovered.ts'
import { DocumentsOfBackends } from './foreign-documents.ts'
import type { Describe } from './foreign-documents.ts'
import { passedToBackend } from './passed-request.ts'
import { toldBy } from './told.ts'
import type { Told } from './told.ts'

const GROUP = 'apiregistration.k8s.io'
const API_SERVICES = `apiservices.${GROUP}`
const SERVICES = 'services'
const SLICES = 'endpointslices.discovery.k8s.io'
const SERVICE_NAME = 'kubernetes.io/service-name'
const MANAGER = 'kube-apiserver'
const CHECK_EVERY_MS = 30_000
const PASSED = { reason: 'Passed', message: 'all checks passed' }
/** Who asks for what other servers have. */
const AGGREGATOR: UserInfo = {
  name: 'system:kube-aggregator',
  groups: ['system:masters'],
  extra: {},
}

export interface ForeignVersion {
  readonly group: string
  readonly version: string
  /** Of another server; else announced for this one, which does not know it. */
  readonly remote: boolean
  /** As that server describes them in the aggregated form; absent: it cannot be asked. */
  readonly resources?: readonly object[]
}

/** What comes first in discovery: the higher. */
export interface Priorities {
  /** Of the group: the highest of its versions counts. */
  readonly group: number
  /** Of the version within its group. */
  readonly version: number
}

/** `lost`: it is not available. */
type Verdict = Unavailability & { readonly lost?: boolean }

interface ForeignVersionsParts {
  readonly registry: ResourceRegistry
  readonly server: ServerInternals
  readonly backends: Backends
  readonly clock: Clock
  readonly logger: Logger
  /** Is told of the OpenAPI documents of other servers. */
  readonly describe: Describe
  /** A request was refused because its server is not there. */
  readonly onUnavailable?: (request: ServerRequest) => void
  /** An APIService was available and is no more. */
  readonly onLost?: (name: string, reason: string) => void
}

export class ForeignVersions {
  readonly #parts: ForeignVersionsParts
  /** By name: those that this server does not serve by itself. */
  readonly #announced = new Map<string, Stored>()
  /** Of all, by name. */
  readonly #priorities = new Map<string, Priorities>()
  readonly #listeners = new Set<() => void>()
  readonly #watches: StoreWatch[] = []
  /** What is being found out, by name: one after the other. */
  readonly #syncs = new Map<string, Promise<void>>()
  readonly #next = new Map<string, Timer>()
  /** The condition that was written last, by name. */
  readonly #written = new Map<string, Stored>()
  /** Of those that answered last. */
  readonly #resources = new Map<string, readonly object[]>()
  readonly #documents: DocumentsOfBackends
  #stopped = false

  constructor(parts: ForeignVersionsParts) {
    this.#parts = parts
    this.#documents = new DocumentsOfBackends(parts, parts.describe)
  }

  /** Calls back when other groups are announced, or in another order. */
  onChange(listener: () => void): void {
    this.#listeners.add(listener)
  }

  start(): void {
    const { store } = this.#parts.server
    for (const apiService of this.#parts.server.list(GROUP, 'apiservices', ''))
      this.#observe({ type: 'created', object: apiService })
    const { revision } = store
    const follow = (collection: string, listener: (event: StoreEvent) => void): void => {
      const watch = store.watch(collection, '', revision, listener)
      if (watch !== 'expired') this.#watches.push(watch)
    }
    follow(API_SERVICES, (event) => this.#observe(event))
    follow(SERVICES, ({ object }) => this.#backendChanged(object, object['metadata'].name))
    follow(SLICES, ({ object }) =>
      this.#backendChanged(object, object['metadata'].labels?.[SERVICE_NAME]),
    )
  }

  stop(): void {
    this.#stopped = true
    for (const watch of this.#watches) watch.stop()
    for (const timer of this.#next.values()) timer.cancel()
    this.#parts.backends.stop()
  }

  /** Those that are not served here. */
  versions(): readonly ForeignVersion[] {
    return [...this.#announced.values()].flatMap((apiService) => {
      const { group, version, service } = apiService['spec']
      if (this.#isServedHere(group, version)) return []
      const remote = service !== undefined
      return [{ group, version, remote, ...this.#discovered(apiService) }]
    })
  }

  /** As its APIService says; undefined: there is none. */
  prioritiesOf(group: string, version: string): Priorities | undefined {
    return this.#priorities.get(`${version}.${group}`)
  }

  /** What another server answers to what is below its group version; undefined: that is no other server's. */
  answer(
    request: ServerRequest,
    group: string,
    version: string,
    user: UserInfo,
  ): Promise<Answer> | Answer | undefined {
    if (this.#isServedHere(group, version)) return undefined
    return this.passed(`${version}.${group}`, request, user)
  }

  /** What the server behind an APIService answers; undefined: there is none. Throws 413. */
  passed(
    name: string,
    request: ServerRequest,
    user: UserInfo,
  ): Promise<Answer> | Answer | undefined {
    const { backends, onUnavailable } = this.#parts
    const apiService = this.#announced.get(name)
    if (apiService?.['spec'].service === undefined) return undefined
    if (isAvailable(apiService)) {
      // Of a larger one only the beginning has been read.
      checkBodySize(request)
      return passedToBackend(backends, apiService, request, user)
    }
    onUnavailable?.(request)
    return unavailable()
  }

  /** What definitions serve goes by the APIService, like what is not known here; everything else stays here whatever that says. */
  #isServedHere(group: string, version: string): boolean {
    const served = this.#parts.registry.version(group, version)
    if (served === undefined) return false
    const announced = this.#announced.get(`${version}.${group}`)
    return (
      announced?.['spec'].service === undefined ||
      served.resources.some(({ definition }) => definition === undefined)
    )
  }

  #discovered(apiService: Stored): Pick<ForeignVersion, 'resources'> {
    const resources = this.#resources.get(apiService['metadata'].name)
    return resources === undefined || !isAvailable(apiService) ? {} : { resources }
  }

  #observe({ type, object }: Pick<StoreEvent, 'type' | 'object'>): void {
    const { name } = object['metadata']
    const before = this.#announced.get(name)
    const { version } = object['spec']
    const priorities = type === 'deleted' ? undefined : prioritiesIn(object)
    const isMoved = !deepEqual(this.#priorities.get(name), priorities)
    if (priorities === undefined) this.#priorities.delete(name)
    else this.#priorities.set(name, priorities)
    if (type === 'deleted' || this.#isOwn(object)) this.#announced.delete(name)
    else this.#announced.set(name, object)
    const now = this.#announced.get(name)
    const spec = now?.['spec']
    const isOther = !deepEqual(before?.['spec'], spec)
    if (isMoved || isOther || isAvailable(before) !== isAvailable(now))
      for (const listener of this.#listeners) listener()
    if (now === undefined || spec.service === undefined) this.#forget(name)
    if (type === 'deleted') this.#written.delete(name)
    else if (object['spec'].service === undefined) {
      if (availableOf(object)?.['reason'] !== LOCAL.reason) this.#enqueue(name)
    } else if (now !== undefined && version !== undefined) {
      // Its condition is written here, and again when somebody else has written it.
      if (isOther || !deepEqual(availableOf(object), this.#written.get(name))) this.#enqueue(name)
    }
  }

  /** Of what is served here whatever it says, or made for it. */
  #isOwn({ metadata, spec }: Stored): boolean {
    const { registry } = this.#parts
    const { group = '', version, service } = spec
    if (registry.isBuiltInGroup(group)) return registry.version(group, version) !== undefined
    return service === undefined && metadata.labels?.[AUTOMANAGED_LABEL] !== undefined
  }

  #forget(name: string): void {
    this.#next.get(name)?.cancel()
    this.#next.delete(name)
    this.#resources.delete(name)
    this.#documents.forget(name)
  }

  #backendChanged({ metadata }: Stored, serviceName: string | undefined): void {
    for (const [name, { spec }] of this.#announced) {
      const { service } = spec
      if (service?.name === serviceName && service?.namespace === metadata.namespace)
        this.#enqueue(name)
    }
  }

  #enqueue(name: string): void {
    const before = this.#syncs.get(name) ?? Promise.resolve()
    const sync = before.then(async () => {
      try {
        await this.#sync(name)
      } catch (error) {
        this.#parts.logger.error(error, 'status of an APIService could not be written', { name })
      }
    })
    this.#syncs.set(name, sync)
    void sync.finally(() => {
      if (this.#syncs.get(name) === sync) this.#syncs.delete(name)
    })
  }

  async #sync(name: string): Promise<void> {
    const { server, clock } = this.#parts
    const current = server.get(GROUP, 'apiservices', '', name)
    if (current === undefined || this.#stopped) return
    const backend = current['spec'].service
    if (backend === undefined) return this.#writeStatus(name, LOCAL)
    if (!this.#announced.has(name)) return
    const service = server.get('', 'services', backend.namespace, backend.name)
    const slices = server
      .list('discovery.k8s.io', 'endpointslices', backend.namespace)
      .filter(({ metadata }) => metadata.labels?.[SERVICE_NAME] === backend.name)
    const problem =
      unavailability(current, service, slices) ?? (await this.#check(current, service!))
    if (!this.#follows(name)) return
    this.#next.get(name)?.cancel()
    this.#next.set(
      name,
      clock.after(CHECK_EVERY_MS, () => this.#enqueue(name)),
    )
    await this.#writeStatus(name, problem === undefined ? PASSED : { ...problem, lost: true })
    if (problem === undefined) await this.#documents.look(current)
    if (!this.#follows(name)) this.#documents.forget(name)
  }

  /** Asking takes time: it may be deleted meanwhile, or the server stopped. */
  #follows(name: string): boolean {
    return !this.#stopped && this.#announced.has(name)
  }

  /** Asks what it has. Undefined: it answered. */
  async #check(apiService: Stored, service: Stored): Promise<Unavailability | undefined> {
    const { group, version } = apiService['spec']
    const { name } = apiService['metadata']
    const ask = (path: string, accept: string): Promise<Told> =>
      toldBy(this.#parts, apiService, { path, accept, asker: AGGREGATOR })
    const answer = await ask(`/apis/${group}/${version}`, 'application/json')
    if ('why' in answer && !answer.answered) return failedCheck(apiService, service, answer)
    const whole = await ask('/apis', `${AGGREGATED_TYPE},application/json`)
    const found =
      ('document' in whole ? resourcesIn(whole.document, group, version) : undefined) ??
      ('document' in answer ? resourcesFrom(answer.document) : undefined)
    if (!this.#follows(name)) return undefined
    const isNew = !deepEqual(this.#resources.get(name), found)
    if (found === undefined) this.#resources.delete(name)
    else this.#resources.set(name, found)
    if (isNew) for (const listener of this.#listeners) listener()
    return undefined
  }

  async #writeStatus(name: string, { reason, message, lost = false }: Verdict): Promise<void> {
    const { server, clock } = this.#parts
    const current = server.get(GROUP, 'apiservices', '', name)
    if (current === undefined || this.#stopped) return
    const status = lost ? 'False' : 'True'
    const known = availableOf(current)
    if (known?.['status'] === status && known['reason'] === reason && known['message'] === message)
      return void this.#written.set(name, known)
    if (lost && isAvailable(current)) this.#parts.onLost?.(name, reason)
    const lastTransitionTime =
      known?.['status'] === status
        ? (known['lastTransitionTime'] ?? null)
        : formatTime(clock.nowMs())
    const condition = { type: 'Available', status, lastTransitionTime, reason, message }
    this.#written.set(name, condition)
    const change = (draft: Draft): void => {
      const others = (draft['status']?.conditions ?? []).filter(
        ({ type }: Stored) => type !== 'Available',
      )
      draft['status'] = { ...draft['status'], conditions: [...others, condition] }
    }
    const options = { subresource: 'status', manager: MANAGER }
    await server.update(GROUP, 'apiservices', '', name, change, options)
  }
}

function prioritiesIn({ spec }: Stored): Priorities {
  return { group: spec.groupPriorityMinimum ?? 0, version: spec.versionPriority ?? 0 }
}
