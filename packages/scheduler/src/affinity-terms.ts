/** Which pods a term of affinity between pods is about. Pure. */
import { labelQueryOf } from '@gyropilot/api'
import type { Labels, LabelSelector, Pod, PodAffinityTerm } from '@gyropilot/api'
import { podLabelsMatch } from './label-terms.ts'

/** Labels of a namespace; undefined when it is not known. */
export type NamespaceLabels = (name: string) => Labels | undefined

/** `owner`: the pod that has the term. Its namespace counts when the term says nothing of namespaces. */
export function termMatches(
  term: PodAffinityTerm,
  owner: Pod,
  candidate: Pod,
  namespaceLabels: NamespaceLabels,
): boolean {
  return (
    isInScope(term, owner, candidate.metadata?.namespace ?? '', namespaceLabels) &&
    podLabelsMatch(term.labelSelector, candidate.metadata?.labels ?? {})
  )
}

/** Namespaces that are named or selected. */
function isInScope(
  { namespaces = [], namespaceSelector }: PodAffinityTerm,
  owner: Pod,
  namespace: string,
  namespaceLabels: NamespaceLabels,
): boolean {
  if (namespaces.includes(namespace)) return true
  if (namespaceSelector !== undefined)
    return selectsNamespace(namespaceSelector, namespaceLabels(namespace))
  return namespaces.length === 0 && namespace === owner.metadata?.namespace
}

const selectsNamespace = (selector: LabelSelector, labels: Labels = {}): boolean =>
  labelQueryOf(selector).matches(labels)
