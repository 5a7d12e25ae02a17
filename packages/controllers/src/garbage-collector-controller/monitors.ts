import { apiVersionOf } from '@gyropilot/api'
import type { KubernetesObject, ResourceType } from '@gyropilot/api'
import { DeletedFinalStateUnknown } from '@gyropilot/runtime'
import type {
  EventHandler,
  HandlerRegistration,
  Informer,
  InformerFactory,
} from '@gyropilot/runtime'
import { aggregateErrors } from '../workload-support/aggregate-error.ts'
import { IGNORED_RESOURCES } from './config.ts'
import type { GraphEvent } from './dependency-graph.ts'
import { identityOf } from './identity.ts'
import { isIgnored } from './monitored-resources.ts'
import type { MonitoredResources } from './monitored-resources.ts'
import { resourceId } from './monitored-resources.ts'

interface Monitor {
  readonly informer: Informer<KubernetesObject>
  readonly registration: HandlerRegistration
}

/**
 * The informers that feed the graph, one for each monitored resource. A monitor that ends takes its handler back; its
 * informer belongs to the factory and goes on.
 */
export class Monitors {
  readonly #informers: InformerFactory
  readonly #onEvent: (event: GraphEvent) => void
  readonly #monitors = new Map<string, Monitor>()
  #whenFirst: () => void = () => {}
  readonly #first = new Promise<void>((resolve) => {
    this.#whenFirst = resolve
  })

  constructor(informers: InformerFactory, onEvent: (event: GraphEvent) => void) {
    this.#informers = informers
    this.#onEvent = onEvent
  }

  /** Adds and ends monitors. Throws when some could not be added; the others are there nevertheless. */
  update(resources: MonitoredResources, signal: AbortSignal): void {
    for (const [id, { registration }] of this.#monitors) {
      if (resources.has(id)) continue
      registration.remove()
      this.#monitors.delete(id)
    }
    const errors: unknown[] = []
    for (const [id, type] of resources) {
      if (this.#monitors.has(id) || isIgnored(type, IGNORED_RESOURCES)) continue
      try {
        this.#monitors.set(id, this.#monitor(type))
      } catch (error) {
        errors.push(error)
      }
    }
    this.#informers.start(signal)
    if (this.#monitors.size > 0) this.#whenFirst()
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

  /** As `whenSynced`, once there are monitors at all. */
  async whenFirstSynced(signal: AbortSignal): Promise<boolean> {
    const aborted = new Promise<void>((resolve) => {
      if (signal.aborted) resolve()
      else signal.addEventListener('abort', () => resolve(), { once: true })
    })
    await Promise.race([this.#first, aborted])
    return !signal.aborted && (await this.whenSynced(signal))
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

  #monitor(type: ResourceType): Monitor {
    const informer = this.#informers.informer(type)
    const handler = graphEvents(type, this.#onEvent)
    // The graph needs no reminders: what failed is in a queue.
    return { informer, registration: informer.addHandler(handler, { resyncPeriodMs: 0 }) }
  }
}

/** Turns what an informer tells into graph events. Names are reused, uids are not: another uid is another object. */
export function graphEvents(
  type: ResourceType,
  onEvent: (event: GraphEvent) => void,
): EventHandler<KubernetesObject> {
  const kind = { apiVersion: apiVersionOf(type), kind: type.kind }
  return {
    onAdd: (object) => onEvent({ kind: 'add', identity: identityOf(object, kind), object }),
    onUpdate(previous, object) {
      const identity = identityOf(object, kind)
      if (previous.metadata?.uid === object.metadata?.uid) {
        onEvent({ kind: 'update', identity, object, previous })
        return
      }
      onEvent({ kind: 'delete', identity: identityOf(previous, kind) })
      onEvent({ kind: 'add', identity, object })
    },
    onDelete(deleted) {
      const object = deleted instanceof DeletedFinalStateUnknown ? deleted.object : deleted
      if (object !== undefined) onEvent({ kind: 'delete', identity: identityOf(object, kind) })
    },
  }
}
