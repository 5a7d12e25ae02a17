import type { Container, Pod, PodAffinityTerm } from '../generated/core-v1.ts'
import { parseQuantity } from '../values/quantity.ts'
import { scopeValueMatches } from './scopes.ts'
import type { ScopeRequirement } from './usage-evaluator.ts'

export function podMatchesScope(pod: Pod, requirement: ScopeRequirement): boolean {
  switch (requirement.scopeName) {
    case 'Terminating':
      return hasDeadline(pod)
    case 'NotTerminating':
      return !hasDeadline(pod)
    case 'BestEffort':
      return isBestEffort(pod)
    case 'NotBestEffort':
      return !isBestEffort(pod)
    case 'PriorityClass':
      return scopeValueMatches(requirement, pod.spec?.priorityClassName ?? '')
    case 'CrossNamespacePodAffinity':
      return usesOtherNamespaces(pod)
    default:
      return false
  }
}

/** The Terminating scope: pods with an end of their own, as those of jobs may have. */
export function hasDeadline(pod: Pod): boolean {
  return (pod.spec?.activeDeadlineSeconds ?? -1) >= 0
}

/** QoS class BestEffort: nobody in the pod asks for any cpu or memory. */
function isBestEffort({ spec }: Pod): boolean {
  const asking: readonly Pick<Container, 'resources'>[] = [
    ...(spec?.containers ?? []),
    ...(spec?.initContainers ?? []),
    { resources: spec?.resources },
  ]
  return asking.every(({ resources }) =>
    [resources?.requests, resources?.limits].every((list) =>
      ['cpu', 'memory'].every((name) => {
        const amount = list?.[name]
        return amount === undefined || parseQuantity(amount).isZero
      }),
    ),
  )
}

function usesOtherNamespaces({ spec }: Pod): boolean {
  const { podAffinity, podAntiAffinity } = spec?.affinity ?? {}
  return [podAffinity, podAntiAffinity].some((affinity) => {
    const required = affinity?.requiredDuringSchedulingIgnoredDuringExecution ?? []
    const preferred = affinity?.preferredDuringSchedulingIgnoredDuringExecution ?? []
    const terms: readonly (PodAffinityTerm | undefined)[] = [
      ...required,
      ...preferred.map(({ podAffinityTerm }) => podAffinityTerm),
    ]
    return terms.some(
      (term) => (term?.namespaces ?? []).length > 0 || term?.namespaceSelector !== undefined,
    )
  })
}
