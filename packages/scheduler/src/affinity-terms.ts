/** Which pods a term of affinity between pods is about. Pure. */
import { labelQueryOf } from '@gyropilot/api'
import type {
  Labels,
  LabelSelector,
  Pod,
  PodAffinityTerm,
  WeightedPodAffinityTerm,
} from '@gyropilot/api'
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

/** What a required term of a pod that is there counts for those that it is about. */
const REQUIRED_WEIGHT = 1

export interface SignedTerm {
  readonly term: PodAffinityTerm
  /** Below zero: apart. */
  readonly weight: number
}

/** Whether scores of others hang on what this pod asks for. */
export function isInclined(pod: Pod): boolean {
  return termsOnOthers(pod).length > 0
}

export function preferredTerms({ spec }: Pod): readonly SignedTerm[] {
  const { podAffinity, podAntiAffinity } = spec?.affinity ?? {}
  return [
    ...signed(podAffinity?.preferredDuringSchedulingIgnoredDuringExecution, 1),
    ...signed(podAntiAffinity?.preferredDuringSchedulingIgnoredDuringExecution, -1),
  ]
}

export function termsOnOthers(pod: Pod): readonly SignedTerm[] {
  const required =
    pod.spec?.affinity?.podAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? []
  return [...preferredTerms(pod), ...required.map((term) => ({ term, weight: REQUIRED_WEIGHT }))]
}

const signed = (
  terms: readonly WeightedPodAffinityTerm[] | undefined,
  sign: 1 | -1,
): readonly SignedTerm[] =>
  (terms ?? []).map(({ podAffinityTerm, weight }) => ({
    term: podAffinityTerm,
    weight: sign * weight,
  }))
