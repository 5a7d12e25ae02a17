/** Which nodes a pod asks for by their labels and names. Pure. */
import type {
  Node,
  NodeSelector,
  NodeSelectorRequirement,
  NodeSelectorTerm,
  PodSpec,
} from '../generated/core-v1.ts'
import { LabelQuery } from '../selectors/label-query.ts'
import type { LabelOperator, Labels } from '../selectors/label-query.ts'

const OPERATORS: Readonly<Record<string, LabelOperator>> = {
  In: 'in',
  NotIn: 'notin',
  Exists: 'exists',
  DoesNotExist: '!',
  Gt: 'gt',
  Lt: 'lt',
}

/** Requirements are parts of stored objects, which share them: each is read once. */
const queries = new WeakMap<readonly NodeSelectorRequirement[], LabelQuery>()

/** The node has all of spec.nodeSelector, and fits the required node affinity if there is one. */
export function nodeAffinityMatches(
  spec: Pick<PodSpec, 'nodeSelector' | 'affinity'> | undefined,
  node: Node,
): boolean {
  const labels = node.metadata?.labels ?? {}
  for (const [key, value] of Object.entries(spec?.nodeSelector ?? {}))
    if (!Object.hasOwn(labels, key) || labels[key] !== value) return false
  const required = spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution
  return required === undefined || required === null || nodeSelectorMatches(required, node)
}

/** One term is enough; a selector without terms matches no node. */
export function nodeSelectorMatches(selector: NodeSelector, node: Node): boolean {
  return (selector.nodeSelectorTerms ?? []).some((term) => nodeTermMatches(term, node))
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
  let query = queries.get(requirements)
  if (query === undefined) queries.set(requirements, (query = queryOf(requirements)))
  return query.matches(labels)
}

/** Unchecked: the server has checked them. An operator that is none matches nothing. */
function queryOf(requirements: readonly NodeSelectorRequirement[]): LabelQuery {
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
