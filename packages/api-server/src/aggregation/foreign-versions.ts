/**
 * Group versions that an APIService announces and this server does not serve: they are listed, and whoever asks for one
 * whose service cannot answer is told so. Follows the store by itself.
 */
import { deepEqual } from '@gyropilot/api'
import { formatTime } from '@gyropilot/foundation'
import type { Clock, Logger } from '@gyropilot/foundation'
import type { ServerInternals } from '../contracts.ts'
import type { ResourceRegistry } from '../registry/resource-registry.ts'
import type { StoreEvent, StoreWatch } from '../storage/store.ts'
import type { Draft, Stored } from '@gyropilot/schema/objects'
import { NOT_PASSED_ON, unavailability } from './availability.ts'

const GROUP = 'apiregistration.k8s.io'
const API_SERVICES = `apiservices.${GROUP}`
const SERVICES = 'services'
const SLICES = 'endpointslices.discovery.k8s.io'
const SERVICE_NAME = 'kubernetes.io/service-name'
const MANAGER = 'kube-apiserver'

export interface ForeignGroup {
  readonly group: string
  /** By falling priority. `remote`: of another server; else announced for this one, which does not know it. */
  readonly versions: readonly { readonly version: string; readonly remote: boolean }[]
}

interface ForeignVersionsParts {
  readonly registry: ResourceRegistry
  readonly server: ServerInternals
  readonly clock: Clock
  readonly logger: Logger
}

export class ForeignVersions {
  readonly #parts: ForeignVersionsParts
  /** By name: those that this server does not serve by itself. */
  readonly #announced = new Map<string, Stored>()
  readonly #listeners = new Set<() => void>()
  readonly #watches: StoreWatch[] = []
  #queue: Promise<void> = Promise.resolve()

  constructor(parts: ForeignVersionsParts) {
    this.#parts = parts
  }

  /** Calls back when other groups are announced. */
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
    for (const watch of this.#watches) watch.stop()
  }

  /** Resolves when every status that is known to be due was written. */
  idle(): Promise<void> {
    return this.#queue
  }

  groups(): readonly ForeignGroup[] {
    const byGroup = new Map<string, Stored[]>()
    for (const apiService of this.#announced.values()) {
      const { spec } = apiService
      if (this.#parts.registry.hasGroup(spec.group) || isThere(apiService)) continue
      byGroup.set(spec.group, [...(byGroup.get(spec.group) ?? []), spec])
    }
    const priority = (specs: readonly Stored[]): number =>
      Math.max(...specs.map((spec) => spec['groupPriorityMinimum'] ?? 0))
    return [...byGroup]
      .toSorted(([a, one], [b, other]) => priority(other) - priority(one) || (a < b ? -1 : 1))
      .map(([group, specs]) => ({
        group,
        versions: specs
          .toSorted((a, b) => b['versionPriority'] - a['versionPriority'])
          .map(({ version, service }) => ({ version, remote: service !== undefined })),
      }))
  }

  /** Another server's, which cannot be asked. */
  isUnavailable(group: string, version: string): boolean {
    if (this.#parts.registry.version(group, version) !== undefined) return false
    return this.#announced.get(`${version}.${group}`)?.['spec'].service !== undefined
  }

  #observe({ type, object }: Pick<StoreEvent, 'type' | 'object'>): void {
    const { name } = object['metadata']
    const before = this.#announced.get(name)
    const { group, version } = object['spec']
    const isOwn = this.#parts.registry.isBuiltInGroup(group ?? '') || isAutomanaged(object)
    if (type === 'deleted' || isOwn) this.#announced.delete(name)
    else this.#announced.set(name, object)
    const now = this.#announced.get(name)
    const spec = now?.['spec']
    if (!deepEqual(before?.['spec'], spec) || isThere(before) !== isThere(now))
      for (const listener of this.#listeners) listener()
    if (spec?.service !== undefined && version !== undefined) this.#enqueue(name)
  }

  #backendChanged({ metadata }: Stored, serviceName: string | undefined): void {
    for (const [name, { spec }] of this.#announced) {
      const { service } = spec
      if (service?.name === serviceName && service?.namespace === metadata.namespace)
        this.#enqueue(name)
    }
  }

  #enqueue(name: string): void {
    this.#queue = this.#queue.then(async () => {
      try {
        await this.#sync(name)
      } catch (error) {
        this.#parts.logger.error(error, 'status of an APIService could not be written', { name })
      }
    })
  }

  async #sync(name: string): Promise<void> {
    const { server, clock } = this.#parts
    const current = this.#announced.get(name)
    const backend = current?.['spec'].service
    if (current === undefined || backend === undefined) return
    const service = server.get('', 'services', backend.namespace, backend.name)
    const slices = server
      .list('discovery.k8s.io', 'endpointslices', backend.namespace)
      .filter(({ metadata }) => metadata.labels?.[SERVICE_NAME] === backend.name)
    const { reason, message } = unavailability(current, service, slices)
    const known = availableOf(current)
    if (known?.['reason'] === reason && known?.['message'] === message) return
    const lastTransitionTime =
      known?.['status'] === 'False' ? known['lastTransitionTime'] : formatTime(clock.nowMs())
    const condition = { type: 'Available', status: 'False', lastTransitionTime, reason, message }
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

/**
 * Its service has who could answer, and only we do not ask: such a version is not listed, or everybody who goes through what is listed
 * would fail for it, the deletion of namespaces first.
 */
function isThere(apiService: Stored | undefined): boolean {
  return apiService !== undefined && availableOf(apiService)?.['reason'] === NOT_PASSED_ON
}

function availableOf({ status }: Stored): Stored | undefined {
  return (status?.conditions ?? []).find(({ type }: Stored) => type === 'Available')
}

/** Made by this server for what it serves. */
function isAutomanaged({ metadata }: Stored): boolean {
  return metadata.labels?.['kube-aggregator.kubernetes.io/automanaged'] !== undefined
}
