/**
 * There is no tracking of dependencies: whatever happens to a ClusterRole concerns every aggregated one.
 * Contract: docs/behaviour/controllers/clusterrole-aggregation-controller.md, Watches and keys.
 */
import { keyOf, resources } from '@gyropilot/api'
import type { ClusterRole } from '@gyropilot/api'
import type { Lister, Watch } from '@gyropilot/runtime'

/** Index of the roles that have an `aggregationRule`, under the one value `AGGREGATED`. */
export const AGGREGATED_INDEX = 'aggregated'
const AGGREGATED = 'aggregated'

export function aggregatedIndexValues(role: ClusterRole): readonly string[] {
  return role.aggregationRule === undefined ? [] : [AGGREGATED]
}

export function clusterRoleWatch(roles: Lister<ClusterRole>): Watch<ClusterRole> {
  const aggregated = (): readonly string[] => roles.byIndex(AGGREGATED_INDEX, AGGREGATED).map(keyOf)
  return {
    type: resources.clusterroles,
    onAdd: aggregated,
    onUpdate: aggregated,
    onDelete: aggregated,
  }
}
