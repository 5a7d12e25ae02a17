/** What ClusterRoles that are sums must have come to. Written from the page of clusterrole-aggregation-controller. */
import type { ClusterRole, PolicyRule } from '@gyropilot/api'
import { labelQueryOf, resources } from '@gyropilot/api'
import { compareStrings } from '@gyropilot/foundation'
import type { Objects } from '../../simulated/objects.ts'

/** Each has the rules of its parts, by selector and by name of the part, an equal one once. */
export function* aggregatedRoles(objects: Objects): Iterable<string> {
  const roles = objects
    .all(resources.clusterroles)
    .toSorted((a, b) => compareStrings(nameOf(a), nameOf(b)))
  for (const sum of roles) {
    if (sum.aggregationRule == null) continue
    const wanted = new Set<string>()
    for (const selector of sum.aggregationRule.clusterRoleSelectors ?? []) {
      const query = labelQueryOf(selector)
      for (const part of roles)
        if (part !== sum && query.matches(part.metadata?.labels))
          for (const rule of part.rules ?? []) wanted.add(textOf(rule))
    }
    const found = (sum.rules ?? []).map(textOf)
    // Without parts the controller lets go of what it wrote, and what somebody else wrote stays.
    if (wanted.size > 0 && found.join() !== [...wanted].join())
      yield `ClusterRole ${nameOf(sum)} has ${found.join()}, its parts ${[...wanted].join()}`
  }
}

function nameOf({ metadata }: ClusterRole): string {
  return metadata?.name ?? ''
}

function textOf(rule: PolicyRule): string {
  const {
    verbs,
    apiGroups = [],
    resources: kinds = [],
    resourceNames = [],
    nonResourceURLs = [],
  } = rule
  return JSON.stringify([verbs, apiGroups, kinds, resourceNames, nonResourceURLs])
}
