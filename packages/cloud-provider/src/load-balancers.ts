/** Addresses outside of the cluster that lead to its Services. */
import type { LoadBalancerStatus, Node, Service } from '@gyropilot/api'

/**
 * Several Services may be asked about at the same time, and one Service too: a change of nodes may overlap an ensure. A balancer
 * belongs to one Service by its uid (`defaultLoadBalancerName`). For another attempt after a time of the provider's own choice, throw RetryLater. A provider that
 * leaves a Service to somebody else throws ImplementedElsewhere.
 */
export interface LoadBalancers {
  /** Undefined: there is none. */
  getLoadBalancer(
    clusterName: string,
    service: Service,
    signal: AbortSignal,
  ): Promise<LoadBalancerStatus | undefined>
  /** Says how a balancer would be called, whether it is there or not. */
  getLoadBalancerName(clusterName: string, service: Service): string
  /**
   * Creates the balancer or changes it to what the Service and the nodes say, and answers its whole status. `nodes` are those
   * that traffic may be sent to, ready or not, possibly none. The Service is as it was before this sync: a finalizer that was
   * just added is not in it.
   */
  ensureLoadBalancer(
    clusterName: string,
    service: Service,
    nodes: readonly Node[],
    signal: AbortSignal,
  ): Promise<LoadBalancerStatus | undefined>
  /** The nodes have changed and nothing else. Of a balancer that is not there it rejects. */
  updateLoadBalancer(
    clusterName: string,
    service: Service,
    nodes: readonly Node[],
    signal: AbortSignal,
  ): Promise<void>
  /** Resolves when nothing is left, also when there was nothing. The Service may be the last state that is remembered of it. */
  ensureLoadBalancerDeleted(
    clusterName: string,
    service: Service,
    signal: AbortSignal,
  ): Promise<void>
}

const LONGEST_NAME = 32

/** `a` and the Service's uid without dashes, cut to 32 characters: fit for the clouds that allow least. */
export function defaultLoadBalancerName({ metadata }: Service): string {
  return `a${(metadata?.uid ?? '').replaceAll('-', '')}`.slice(0, LONGEST_NAME)
}
