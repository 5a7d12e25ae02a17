/** Which routes are missing, and which are too many. Step numbers are those of docs/behaviour/controllers/node-route-controller.md, Sync. Pure. */
import { cidrContains, lastAddress, maskedCidr, parseCidr } from '@gyropilot/api'
import type { Cidr, Node, NodeAddress } from '@gyropilot/api'
import type { Route } from '@gyropilot/cloud-provider'

export type Action = 'keep' | 'update' | 'add'

export interface RoutePlan {
  /** By name of node, its CIDRs in its order. Of nodes that have any. */
  readonly actions: ReadonlyMap<string, ReadonlyMap<string, Action>>
  readonly toDelete: readonly Route[]
  /** All deletions come before the first creation. */
  readonly deletesFirst: boolean
  /** Nodes that routes were listed for. */
  readonly routed: ReadonlySet<string>
}

export function planRoutes(
  nodes: readonly Node[],
  routes: readonly Route[],
  clusterCidrs: readonly Cidr[],
): RoutePlan {
  // 2.
  const byNode = Map.groupBy(routes, ({ targetNode }) => targetNode)
  // 3.
  const actions = new Map<string, ReadonlyMap<string, Action>>()
  for (const node of nodes) {
    const cidrs = node.spec?.podCIDRs ?? []
    const name = node.metadata?.name ?? ''
    if (cidrs.length > 0) actions.set(name, actionsOf(node, cidrs, byNode.get(name) ?? []))
  }
  // 4. and 5.
  const toDelete = routes.filter((route) => {
    if (!isOurs(route, clusterCidrs)) return false
    const action = actions.get(route.targetNode)?.get(route.destinationCidr)
    return route.blackhole === true || action === undefined || action === 'update'
  })
  return {
    actions,
    toDelete,
    deletesFirst: routes[0]?.enableNodeAddresses === true,
    routed: new Set(byNode.keys()),
  }
}

function actionsOf(
  node: Node,
  cidrs: readonly string[],
  routes: readonly Route[],
): ReadonlyMap<string, Action> {
  return new Map(
    cidrs.map((cidr) => {
      const equal = routes.filter(({ destinationCidr }) => destinationCidr === cidr)
      if (equal.length === 0) return [cidr, 'add']
      return [cidr, equal.some((route) => leadsTo(route, node)) ? 'keep' : 'update']
    }),
  )
}

function leadsTo(route: Route, { status }: Node): boolean {
  if (!route.enableNodeAddresses) return true
  return sameAddresses(route.targetNodeAddresses ?? [], status?.addresses ?? [])
}

/** As sets of equal size, by type and address. */
export function sameAddresses(
  some: readonly NodeAddress[],
  others: readonly NodeAddress[],
): boolean {
  if (some.length !== others.length) return false
  const known = new Set(others.map(textOf))
  return some.every((address) => known.has(textOf(address)))
}

function textOf({ type, address }: NodeAddress): string {
  return `${type} ${address}`
}

/** One end of it in a cluster CIDR is enough. */
export function isOurs(
  { destinationCidr }: Pick<Route, 'destinationCidr'>,
  clusterCidrs: readonly Cidr[],
): boolean {
  const cidr = parseCidr(destinationCidr)
  if (cidr === undefined) return false
  const ends = [maskedCidr(cidr), lastAddress(cidr)]
  return clusterCidrs.some((range) => ends.some((end) => cidrContains(range, end)))
}
