/** Label selectors of pods, as scheduling reads them. Pure. */
import { labelQueryOf } from '@gyropilot/api'
import type { LabelQuery, LabelSelector, Labels } from '@gyropilot/api'

/** Selectors are parts of stored pods, which share them: each is read once. */
const queries = new WeakMap<LabelSelector, LabelQuery>()

/** No selector matches nothing, an empty one everything. */
export function podLabelsMatch(
  selector: LabelSelector | undefined,
  labels: Labels | undefined,
): boolean {
  if (selector === undefined) return false
  let query = queries.get(selector)
  if (query === undefined) queries.set(selector, (query = labelQueryOf(selector)))
  return query.matches(labels)
}
