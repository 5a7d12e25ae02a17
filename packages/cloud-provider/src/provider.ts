/**
 * What a cloud is to the controllers of cloud-controller-manager: a provider offers the parts that its cloud has, and loops
 * whose part is missing do not run. Contract: docs/behaviour/controllers/cloud-controller-manager.md, Provider interface.
 *
 * Every call may take long, fail, or be asked again for what is done already: calls are idempotent, and name their cluster
 * where one account of a cloud serves several. Objects that are handed in are shared with caches: never edit them. The signal
 * is the last argument of every call and aborts when nobody waits for the answer any more.
 *
 * ```ts
 * class Exoplanet implements CloudProvider {
 *   readonly name = 'exoplanet'
 *   readonly hasClusterId = true
 *   readonly instancesV2 = new ExoplanetInstances()
 *   readonly loadBalancers = new ExoplanetLoadBalancers()
 * }
 * ```
 */
import type { Client } from '@gyropilot/client'
import type { Clock, Logger, RandomSource } from '@gyropilot/foundation'
import type { InformerFactory } from '@gyropilot/runtime'
import type { Instances, InstancesV2 } from './instances.ts'
import type { LoadBalancers } from './load-balancers.ts'
import type { Routes } from './routes.ts'
import type { Clusters, Zones } from './zones.ts'

/** A cloud as the cloud controllers see it. Each part is optional: a loop whose part is absent does not run. */
export interface CloudProvider {
  /** What `--cloud-provider` calls it, and the scheme of provider IDs: `exoplanet://i-123`. */
  readonly name: string
  /** The cloud's resources carry a mark of this cluster. A manager refuses to start without, unless it is told to allow it. */
  readonly hasClusterId: boolean
  /**
   * Called once, by the leader only, before any other call and before any controller starts. A rejection ends the process.
   * Work of its own that a provider starts here ends with `surroundings.signal`.
   */
  initialize?(surroundings: ProviderSurroundings): void | Promise<void>
  /** Called after `initialize`, before informers are started: the time to add handlers and to ask for listers. */
  setInformers?(informers: InformerFactory): void
  /** Machines. Absent, and `instances` too: the cluster's nodes are left alone. */
  readonly instancesV2?: InstancesV2
  /** The old form of the same; not asked where there is `instancesV2`. */
  readonly instances?: Instances
  /** Goes with `instances`; not asked where there is `instancesV2`. */
  readonly zones?: Zones
  readonly clusters?: Clusters
  /** Absent: Services of type LoadBalancer wait for another controller. */
  readonly loadBalancers?: LoadBalancers
  /** Absent: pods of different nodes reach each other by other means. */
  readonly routes?: Routes
}

/** What a provider may use of the process that it lives in. */
export interface ProviderSurroundings {
  /** A client with its own rate limit and user agent; with --use-service-account-credentials it acts as this account of kube-system. */
  client(name: string): Client
  readonly clock: Clock
  readonly random: RandomSource
  readonly logger: Logger
  /** Aborts when the process stops. */
  readonly signal: AbortSignal
}
