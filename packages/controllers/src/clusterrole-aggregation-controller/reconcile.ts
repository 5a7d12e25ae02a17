/**
 * One sync of an aggregated ClusterRole. Step numbers are those of
 * docs/behaviour/controllers/clusterrole-aggregation-controller.md.
 */
import { resources } from '@gyropilot/api'
import type { ClusterRole, PolicyRule } from '@gyropilot/api'
import { apply, write } from '@gyropilot/runtime'
import type { Reconcile } from '@gyropilot/runtime'
import { aggregatedRules, sameRules } from './aggregated-rules.ts'
import { FIELD_MANAGER } from './config.ts'

export interface ObservedClusterRole {
  readonly role: ClusterRole
  /** All of the cluster, itself among them. */
  readonly roles: readonly ClusterRole[]
}

export function* reconcile({ role, roles }: ObservedClusterRole): Reconcile {
  // 1.
  if (role.aggregationRule === undefined) return
  // 2. A selector that was stored invalid is tried again, with back-off: an update of it is what mends it.
  let rules: readonly PolicyRule[]
  try {
    rules = aggregatedRules(role, roles)
  } catch (error) {
    return { error }
  }
  // 3.
  if (sameRules(role.rules, rules)) return
  // 4. No rules are said by leaving the field out: that gives up what this manager owns and nobody else's.
  const outcome = yield* write(
    apply<ClusterRole>(
      resources.clusterroles,
      {
        apiVersion: 'rbac.authorization.k8s.io/v1',
        kind: 'ClusterRole',
        // The uid: an apply makes what is not there, and a role that was deleted meanwhile is to stay away.
        metadata: { name: role.metadata?.name, uid: role.metadata?.uid },
        ...(rules.length > 0 && { rules }),
      },
      FIELD_MANAGER,
    ),
  )
  return outcome.ok ? undefined : { error: outcome.error }
}
