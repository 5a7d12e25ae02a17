import type { KubernetesObject, ResourceType } from '@gyropilot/api'
import { anySignal } from '@gyropilot/foundation'
import type { EventHandler, HandlerRegistration, Informer } from '@gyropilot/runtime'
import { aggregateErrors } from '../workload-support/aggregate-error.ts'
import { resourceId } from './monitored-resources.ts'
import type { MonitoredResources } from './monitored-resources.ts'

interface Monitor {
  readonly type: ResourceType
  readonly informer: Informer<KubernetesObject>
  readonly registration: HandlerRegistration
}

interface MonitorsOptions {
  /** The informer that a resource is to be watched by; it is started by the next `start`. */
  informer(type: ResourceType): Informer<KubernetesObject>
  /** Starts informers that were asked for. */
  start(signal: AbortSignal): void
  handler(type: ResourceType): EventHandler<KubernetesObject>
  /** Absent: the informers' own. */
  readonly resyncPeriodMs?: number
}

/**
 * One handler at one informer for each monitored resource, whatever the server happens to serve. A monitor that ends is asked
 * for nothing any more, but its informer belongs to the factory and goes on, and its handler goes on hearing of it: discovery
 * may know that a kind has gone before the watch has told what went with it, and nobody would tell it later.
 */
export class Monitors {
  readonly #options: MonitorsOptions
  readonly #monitors = new Map<string, Monitor>()
  readonly #ended = new Map<string, Monitor>()
  #whenFirst: () => void = () => {}
  readonly #first = new Promise<void>((resolve) => {
    this.#whenFirst = resolve
  })
  /** Aborts at the next update. */
  #untilUpdate = new AbortController()

  constructor(options: MonitorsOptions) {
    this.#options = options
  }

  /** Adds and ends monitors. Throws when some could not be added; the others are there nevertheless. */
  update(resources: MonitoredResources, signal: AbortSignal): void {
    for (const [id, monitor] of this.#monitors) {
      if (resources.get(id)?.kind === monitor.type.kind) continue
      this.#monitors.delete(id)
      this.#ended.set(id, monitor)
    }
    const errors: unknown[] = []
    for (const [id, type] of resources) {
      if (this.#monitors.has(id)) continue
      try {
        this.#monitors.set(id, this.#resumed(id, type) ?? this.#monitor(type))
      } catch (error) {
        errors.push(error)
      }
    }
    this.#options.start(signal)
    if (this.#monitors.size > 0) this.#whenFirst()
    this.#untilUpdate.abort()
    this.#untilUpdate = new AbortController()
    if (errors.length > 0) throw aggregateErrors(errors)
  }

  isSynced(type: ResourceType): boolean {
    return this.#monitors.get(resourceId(type))?.registration.hasSynced() ?? false
  }

  /** Resolves when all monitors of this moment have delivered their first lists, or false when `signal` aborts first. */
  async whenSynced(signal: AbortSignal): Promise<boolean> {
    const registrations = [...this.#monitors.values()].map(({ registration }) => registration)
    const synced = await Promise.all(
      registrations.map((registration) => registration.whenSynced(signal)),
    )
    return synced.every((done) => done)
  }

  /**
   * As `whenSynced`, once there are monitors at all, and of those that there are by then: a kind that never could be listed keeps
   * nobody waiting once it is gone.
   */
  async whenFirstSynced(signal: AbortSignal): Promise<boolean> {
    const aborted = new Promise<void>((resolve) => {
      if (signal.aborted) resolve()
      else signal.addEventListener('abort', () => resolve(), { once: true })
    })
    await Promise.race([this.#first, aborted])
    for (;;) {
      const { signal: updated } = this.#untilUpdate
      using round = anySignal([signal, updated])
      if (signal.aborted) return false
      const synced = await this.whenSynced(round.signal)
      if (synced || !updated.aborted) return synced
    }
  }

  cached(
    type: ResourceType,
    namespace: string | undefined,
    name: string,
  ): KubernetesObject | undefined {
    return this.#monitors.get(resourceId(type))?.informer.lister.get(namespace, name)
  }

  cachedIn(type: ResourceType, namespace: string | undefined): readonly KubernetesObject[] {
    return this.#monitors.get(resourceId(type))?.informer.lister.list(namespace) ?? []
  }

  /** The resourceVersion that the cache has come to; empty when nothing is known. */
  seenVersion(type: ResourceType): string {
    return this.#monitors.get(resourceId(type))?.informer.lastSyncResourceVersion() ?? ''
  }

  /** The one that has heard of the resource all the time, unless the name stands for another kind now. */
  #resumed(id: string, type: ResourceType): Monitor | undefined {
    const ended = this.#ended.get(id)
    if (ended === undefined) return undefined
    this.#ended.delete(id)
    if (ended.type.kind === type.kind) return ended
    ended.registration.remove()
    return undefined
  }

  #monitor(type: ResourceType): Monitor {
    const { handler, resyncPeriodMs } = this.#options
    const informer = this.#options.informer(type)
    const options = resyncPeriodMs === undefined ? {} : { resyncPeriodMs }
    return { type, informer, registration: informer.addHandler(handler(type), options) }
  }
}
