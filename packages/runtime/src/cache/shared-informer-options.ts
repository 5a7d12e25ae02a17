import type { KubernetesObject, ResourceType, SharedSubtrees } from '@gyropilot/api'
import type { Client } from '@gyropilot/client'
import type { Clock, Logger, RandomSource } from '@gyropilot/foundation'
import type { InformerMetrics } from './informer-metrics.ts'
import type { SpecTextOf } from './known-specs.ts'
import type { MutationDetector } from './mutation-detector.ts'
import type { FirstList } from './reflector/reflector.ts'
import type { Transform } from './transform.ts'

/** One collection; most programs get their informers of a factory or a ControllerManager. */
export interface SharedInformerOptions<T extends KubernetesObject> {
  readonly client: Client
  readonly type: ResourceType<T>
  readonly clock: Clock
  readonly random: RandomSource
  readonly logger: Logger
  readonly namespace?: string
  readonly labelSelector?: string
  readonly fieldSelector?: string
  /** Objects are PartialObjectMetadata. */
  readonly metadataOnly?: boolean
  /** Also the period of handlers that ask for none. Default 0: no resync. */
  readonly defaultResyncMs?: number
  /** Default: metadata.managedFields is dropped. */
  readonly transform?: Transform<T>
  /**
   * Takes what nobody reads off objects that were decoded for this informer: they are kept as this answers. Objects that are shared
   * with a server in this process are kept as they are. Must accept its own results and must not change what it is given.
   */
  readonly trim?: (object: T) => T
  /** Of objects that come over the network one by one: a spec that was met a short time ago is not decoded again. */
  readonly specTextOf?: SpecTextOf
  /** Told of errors that end a round of list and watch; default: logged. Must return fast. */
  readonly onWatchError?: (error: unknown) => void
  /** Stream the initial list. Default true. */
  readonly watchList?: boolean
  /** What the first list asks for, where lists are not streamed. Default `any`. */
  readonly firstList?: FirstList
  /** Ask for bookmarks. Default true; a streamed initial list has them in any case. */
  readonly watchBookmarks?: boolean
  readonly pageSize?: number
  /** Compares each streamed list with an ordinary one, and is told of a difference. Costs a request; for tests. */
  readonly onInconsistentList?: (error: Error) => void
  /** What finds equal parts of cached objects; informers of one process should have one. Default: one of its own. */
  readonly subtrees?: SharedSubtrees
  readonly metrics?: InformerMetrics
  /** Looks for edits of what handlers were given; costs a copy of each. Default: nobody looks. */
  readonly mutationDetector?: MutationDetector
}
