/** Ways through a cloud's network to the pods of a node. */
import type { NodeAddress } from '@gyropilot/api'

/** A route of the cloud: packets for these addresses go to that node. */
export interface Route {
  /** The cloud's own name; of a route that is to be created, empty. */
  readonly name: string
  /** The node's name. Empty: the cloud cannot tell. */
  readonly targetNode: string
  /** The route's target is bound to the node's addresses and must be made anew when they change. */
  readonly enableNodeAddresses?: boolean
  readonly targetNodeAddresses?: readonly NodeAddress[]
  /** `10.244.1.0/24`, in the very spelling that nodes have it: it is compared as text. */
  readonly destinationCidr: string
  /** It leads nowhere: its machine is gone. */
  readonly blackhole?: boolean
}

/** Routes between nodes, for clouds whose network does not know the ranges of pods. */
export interface Routes {
  /** All routes that were made for this cluster, and perhaps others. */
  listRoutes(clusterName: string, signal: AbortSignal): Promise<readonly Route[]>
  /** `nameHint` is unique to the node. `route.name` is empty. */
  createRoute(
    clusterName: string,
    nameHint: string,
    route: Route,
    signal: AbortSignal,
  ): Promise<void>
  /** A route as it was listed. */
  deleteRoute(clusterName: string, route: Route, signal: AbortSignal): Promise<void>
}
