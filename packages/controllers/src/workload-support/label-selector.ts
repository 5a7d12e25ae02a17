/**
 * Label selectors of workload objects, taken apart once per selector.
 * Contract: docs/behaviour/controllers/shared-controller-utils.md, Resolving owners from events.
 */
import { LabelQuery, labelQueryOf } from '@gyropilot/api'
import type { KubernetesObject, LabelSelector } from '@gyropilot/api'

/** Selectors in caches are shared and never edited, so what was made of them stays true. */
const queries = new WeakMap<LabelSelector, LabelQuery>()

/**
 * An absent selector accepts nothing, `{}` everything. Throws on a selector that the API would not
 * accept.
 */
export function selectorQuery(selector: LabelSelector | undefined): LabelQuery {
  if (selector === undefined || selector === null) return LabelQuery.nothing
  let query = queries.get(selector)
  if (query === undefined) {
    query = labelQueryOf(selector)
    queries.set(selector, query)
  }
  return query
}

/**
 * For events about orphans: invalid and empty selectors match nothing, and an object without labels
 * matches nobody.
 */
export function selectsOrphan(
  selector: LabelSelector | undefined,
  object: KubernetesObject,
): boolean {
  const labels = object.metadata?.labels
  if (labels === undefined || Object.keys(labels).length === 0) return false
  try {
    const query = selectorQuery(selector)
    return !query.matchesEverything && query.matches(labels)
  } catch {
    return false
  }
}
