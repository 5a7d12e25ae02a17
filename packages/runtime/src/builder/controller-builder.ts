/** Contract: docs/behaviour/runtime/custom-controllers.md, Builder. */
import type { KubernetesObject, ResourceType } from '@gyropilot/api'
import { silentMetrics } from '@gyropilot/foundation'
import type { MetricsRegistry } from '@gyropilot/foundation'
import type { ObjectCache } from '../object-cache/object-cache.ts'
import type { ControllerOptions } from './controller-options.ts'
import { controllerErrors } from './errors.ts'
import { enqueueMapped, enqueueObject, enqueueOwner } from './event-handlers.ts'
import type { MapToRequests, WatchHandler } from './event-handlers.ts'
import type { Predicate } from './predicates.ts'
import { ReconcileLoop } from './reconcile-loop.ts'
import type { ControllerEnvironment } from './reconcile-loop.ts'
import type { Reconciler } from './reconciler.ts'
import { informerSource } from './sources.ts'
import type { Source } from './sources.ts'

/** What a builder needs of a manager. */
export interface BuilderManager extends ControllerEnvironment {
  readonly cache: ObjectCache
  add(runnable: ReconcileLoop): void
}

/** Of one watch. */
export interface WatchOptions<T extends KubernetesObject> {
  /** All must pass, besides those of the whole controller. */
  readonly predicates?: readonly Predicate<T>[]
  /** Cache metadata only. Read such objects with `metadataOnly` too, else they are cached twice. */
  readonly metadataOnly?: boolean
}

/** Of a watch of owned objects. */
export interface OwnsOptions<T extends KubernetesObject> extends WatchOptions<T> {
  /** Reconcile all owners of the For type, not only the controlling one. */
  readonly everyOwner?: boolean
}

interface PlannedWatch {
  readonly type: ResourceType
  readonly handler: () => WatchHandler
  readonly options: WatchOptions<KubernetesObject>
}

/**
 * ```ts
 * buildController(manager)
 *   .for(websites)
 *   .owns(resources.deployments)
 *   .withOptions({ maxConcurrentReconciles: 2 })
 *   .complete(async ({ namespace, name }, { client }) => { ... })
 * ```
 * Mistakes show when it is completed.
 */
export function buildController(manager: BuilderManager): ControllerBuilder {
  return new ControllerBuilder(manager)
}

/** Collects what a controller watches; nothing starts before the manager does. Made by `buildController`. */
export class ControllerBuilder {
  readonly #manager: BuilderManager
  readonly #watches: PlannedWatch[] = []
  readonly #rawSources: Source[] = []
  readonly #predicates: Predicate[] = []
  #forType: ResourceType | undefined
  #forTwice = false
  #owns = false
  #name: string | undefined
  #options: ControllerOptions = {}

  constructor(manager: BuilderManager) {
    this.#manager = manager
  }

  /** The reconciled type: its events queue its own key. */
  for<T extends KubernetesObject>(type: ResourceType<T>, options: WatchOptions<T> = {}): this {
    this.#forTwice = this.#forType !== undefined
    this.#forType = type
    return this.#plan(type, enqueueObject, options)
  }

  /** Objects that an object of the For type owns: their events queue the owner. */
  owns<T extends KubernetesObject>(type: ResourceType<T>, options: OwnsOptions<T> = {}): this {
    this.#owns = true
    return this.#plan(type, () => enqueueOwner(this.#forType!, options), options)
  }

  /** Objects of which a function or handler says what they mean for whom. */
  watches<T extends KubernetesObject>(
    type: ResourceType<T>,
    handler: MapToRequests<T> | WatchHandler<T>,
    options: WatchOptions<T> = {},
  ): this {
    const handlerOf = () => (typeof handler === 'function' ? enqueueMapped(handler) : handler)
    return this.#plan(type, handlerOf as () => WatchHandler, options)
  }

  /** Any other source: a channel, an informer of another cache. The predicates of the controller do not apply to it. */
  watchesRawSource(source: Source): this {
    this.#rawSources.push(source)
    return this
  }

  /** For all watches; each must pass. */
  withPredicates(...predicates: readonly Predicate[]): this {
    this.#predicates.push(...predicates)
    return this
  }

  /** Default: the kind of the For type in lower case. */
  named(name: string): this {
    this.#name = name
    return this
  }

  withOptions(options: ControllerOptions): this {
    this.#options = { ...this.#options, ...options }
    return this
  }

  /** Adds the controller to the manager. Throws CONTROLLER_INVALID. */
  complete(reconciler: Reconciler): void {
    this.build(reconciler)
  }

  /** As `complete`, and answers the controller. */
  build(reconciler: Reconciler): ReconcileLoop {
    this.#check()
    const name = this.#name ?? this.#forType!.kind.toLowerCase()
    const names = namesOf(this.#manager)
    const isUnique = !this.#options.skipNameValidation
    if (isUnique && names.has(name)) refuse(nameTaken(name))
    const controller = new ReconcileLoop(
      {
        name,
        ...(this.#forType && { group: this.#forType.group, kind: this.#forType.kind }),
        sources: [...this.#watches.map((watch) => this.#sourceOf(watch)), ...this.#rawSources],
        reconciler,
        options: this.#options,
      },
      this.#manager,
    )
    this.#manager.add(controller)
    // Only now: a controller that was refused for its options may be built again.
    if (isUnique) names.add(name)
    return controller
  }

  #plan<T extends KubernetesObject>(
    type: ResourceType<T>,
    handler: () => WatchHandler,
    options: WatchOptions<T>,
  ): this {
    this.#watches.push({
      type: type as ResourceType,
      handler,
      options: options as WatchOptions<KubernetesObject>,
    })
    return this
  }

  #sourceOf({ type, handler, options }: PlannedWatch): Source {
    const { metadataOnly = false, predicates = [] } = options
    return informerSource(
      () => this.#manager.cache.informer(type, { metadataOnly }),
      `kind source: ${type.kind}`,
      handler(),
      [...this.#predicates, ...predicates],
    )
  }

  #check(): void {
    if (this.#forTwice) {
      refuse(
        'For(...) should only be called once, could not assign multiple objects for reconciliation',
      )
    }
    if (this.#owns && this.#forType === undefined)
      refuse('Owns() can only be used together with For()')
    if (this.#watches.length + this.#rawSources.length === 0) {
      refuse(
        'there are no watches configured, controller will never get triggered. Use For(), Owns(), Watches() or WatchesRawSource() to set them up',
      )
    }
    if (this.#forType === undefined && !this.#name) refuse('one of For() or Named() must be called')
  }
}

/** Names are labels of metrics: two controllers of one name would be one series. Managers that count nothing share none. */
const takenNames = new WeakMap<MetricsRegistry | BuilderManager, Set<string>>()

function namesOf(manager: BuilderManager): Set<string> {
  const scope = manager.metrics === silentMetrics ? manager : manager.metrics
  const names = takenNames.get(scope) ?? new Set()
  takenNames.set(scope, names)
  return names
}

const nameTaken = (name: string): string =>
  `controller with name ${name} already exists. Controller names must be unique to avoid multiple controllers reporting the same metric. This validation can be disabled via the SkipNameValidation option`

function refuse(message: string): never {
  throw controllerErrors.make('CONTROLLER_INVALID', message)
}
