/** Node selector terms and pod label selectors, as scheduling reads them. Pure. */
import { LabelQuery, labelQueryOf } from '@gyropilot/api'
import type {
  LabelOperator,
  LabelSelector,
  Labels,
  Node,
  NodeSelectorRequirement,
  NodeSelectorTerm,
} from '@gyropilot/api'

const OPERATORS: Readonly<Record<string, LabelOperator>> = {
  In: 'in',
  NotIn: 'notin',
  Exists: 'exists',
  DoesNotExist: '!',
  Gt: 'gt',
  Lt: 'lt',
}

/** Selectors are parts of stored pods, which share them: each is read once. */
const queries = new WeakMap<object, LabelQuery>()

function remembered<T extends object>(part: T, read: (part: T) => LabelQuery): LabelQuery {
  let query = queries.get(part)
  if (query === undefined) queries.set(part, (query = read(part)))
  return query
}

/** A term without expressions and fields matches no node. */
export function nodeTermMatches(term: NodeSelectorTerm, node: Node): boolean {
  const { matchExpressions = [], matchFields = [] } = term
  if (matchExpressions.length + matchFields.length === 0) return false
  return (
    requirementsHold(matchExpressions, node.metadata?.labels) &&
    requirementsHold(matchFields, { 'metadata.name': node.metadata?.name ?? '' })
  )
}

function requirementsHold(
  requirements: readonly NodeSelectorRequirement[],
  labels: Labels | undefined,
): boolean {
  return remembered(requirements, queryOfRequirements).matches(labels)
}

/** Unchecked: the server has checked them. An operator that is none matches nothing. */
function queryOfRequirements(requirements: readonly NodeSelectorRequirement[]): LabelQuery {
  if (!requirements.every(({ operator }) => Object.hasOwn(OPERATORS, operator)))
    return LabelQuery.nothing
  return LabelQuery.of(
    requirements.map(({ key, operator, values = [] }) => ({
      key,
      operator: OPERATORS[operator]!,
      values,
    })),
  )
}

/** No selector matches nothing, an empty one everything. */
export function podLabelsMatch(
  selector: LabelSelector | undefined,
  labels: Labels | undefined,
): boolean {
  return selector !== undefined && remembered(selector, labelQueryOf).matches(labels)
}
