/** Node selector terms and pod label selectors, as scheduling reads them. Pure. */
import type { LabelSelector, Node, NodeSelectorTerm } from '@gyropilot/api'

type Labels = Readonly<Record<string, string>>

interface Requirement {
  readonly key: string
  readonly operator: string
  readonly values?: readonly string[]
}

export function requirementHolds(requirement: Requirement, labels: Labels): boolean {
  const value = labels[requirement.key]
  const values = requirement.values ?? []
  switch (requirement.operator) {
    case 'In':
      return value !== undefined && values.includes(value)
    case 'NotIn':
      return value === undefined || !values.includes(value)
    case 'Exists':
      return value !== undefined
    case 'DoesNotExist':
      return value === undefined
    case 'Gt':
      return value !== undefined && Number(value) > Number(values[0])
    case 'Lt':
      return value !== undefined && Number(value) < Number(values[0])
    default:
      return false
  }
}

/** A term without expressions and fields matches no node. */
export function nodeTermMatches(term: NodeSelectorTerm, node: Node): boolean {
  const expressions = term.matchExpressions ?? []
  const fields = term.matchFields ?? []
  if (expressions.length + fields.length === 0) return false
  const labels = node.metadata?.labels ?? {}
  const name = { 'metadata.name': node.metadata?.name ?? '' }
  return (
    expressions.every((requirement) => requirementHolds(requirement, labels)) &&
    fields.every((requirement) => requirementHolds(requirement, name))
  )
}

/** No selector matches nothing, an empty one everything. */
export function podLabelsMatch(selector: LabelSelector | undefined, labels: Labels): boolean {
  if (selector === undefined) return false
  return (
    Object.entries(selector.matchLabels ?? {}).every(([key, value]) => labels[key] === value) &&
    (selector.matchExpressions ?? []).every((requirement) => requirementHolds(requirement, labels))
  )
}
