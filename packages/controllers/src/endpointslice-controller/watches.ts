/**
 * Which node events concern the zones.
 * Contract: docs/behaviour/controllers/endpointslice-controller.md, Watches and keys.
 */
import { resources } from '@gyropilot/api'
import type { Node } from '@gyropilot/api'
import type { Watch } from '@gyropilot/runtime'
import { ZONE_LABEL } from './desired-endpoints.ts'
import { isNodeReady } from './zone-shares.ts'

/** All that happens to nodes is one piece of work. */
const TOPOLOGY_KEY = 'topology'

export const nodeWatch: Watch<Node> = {
  type: resources.nodes,
  onAdd: () => [TOPOLOGY_KEY],
  onUpdate(previous, current) {
    const zoneOf = ({ metadata }: Node): string => metadata?.labels?.[ZONE_LABEL] ?? ''
    const changed =
      isNodeReady(previous) !== isNodeReady(current) || zoneOf(previous) !== zoneOf(current)
    return changed ? [TOPOLOGY_KEY] : []
  },
  onDelete: () => [TOPOLOGY_KEY],
}
