/**
 * The rules of an aggregated ClusterRole.
 * Contract: docs/behaviour/controllers/clusterrole-aggregation-controller.md, Sync, step 2.
 */
import { labelQueryOf } from '@gyropilot/api'
import type { ClusterRole, PolicyRule } from '@gyropilot/api'
import { compareStrings } from '@gyropilot/foundation'

/**
 * Rules of all roles that the selectors match: by selector, then name of the role, then place in the role. The order is the
 * same every time, or the role would be written for ever. Of equal rules the first stays; rules that merely overlap stay both.
 * Throws InvalidSelectorError.
 */
export function aggregatedRules(
  role: ClusterRole,
  roles: readonly ClusterRole[],
): readonly PolicyRule[] {
  const nameOf = ({ metadata }: ClusterRole): string => metadata?.name ?? ''
  const others = roles
    .filter((other) => nameOf(other) !== nameOf(role))
    .sort((a, b) => compareStrings(nameOf(a), nameOf(b)))
  const rules = new Map<string, PolicyRule>()
  for (const selector of role.aggregationRule?.clusterRoleSelectors ?? []) {
    const query = labelQueryOf(selector)
    for (const other of others) {
      if (!query.matches(other.metadata?.labels)) continue
      for (const rule of other.rules ?? []) {
        const identity = identityOf(rule)
        if (!rules.has(identity)) rules.set(identity, rule)
      }
    }
  }
  return [...rules.values()]
}

/** Whether two lists say the same, in the same order. A role without rules travels as `rules: null`. */
export function sameRules(
  a: readonly PolicyRule[] | null | undefined,
  b: readonly PolicyRule[],
): boolean {
  const known = a ?? []
  return (
    known.length === b.length &&
    known.every((rule, index) => identityOf(rule) === identityOf(b[index]!))
  )
}

/** Equal for equal rules: order within the lists counts, a missing list is an empty one. */
function identityOf(rule: PolicyRule): string {
  const { verbs, apiGroups, resources, resourceNames, nonResourceURLs } = rule
  const lists = [verbs, apiGroups, resources, resourceNames, nonResourceURLs]
  return JSON.stringify(lists.map((list) => list ?? []))
}
