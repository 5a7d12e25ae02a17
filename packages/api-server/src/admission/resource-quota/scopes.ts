import type { Stored } from '../../registry/kind-rules.ts'
import type { Counted } from './usage.ts'

interface ScopeRequirement {
  readonly scopeName: string
  readonly operator: string
  readonly values?: readonly string[]
}

/** Whether all scopes of a quota hold for the object. A scope that is not about this resource never does. */
export function scopesMatch(quota: Stored, { group, resource }: Counted, object: Stored): boolean {
  const { scopes = [], scopeSelector } = quota['spec']
  const plain = scopes.map((scopeName: string) => ({ scopeName, operator: 'Exists' }))
  const requirements: ScopeRequirement[] = [...plain, ...(scopeSelector?.matchExpressions ?? [])]
  if (requirements.length === 0) return true
  if (group !== '') return false
  if (resource === 'pods')
    return requirements.every((requirement) => podScopeMatches(requirement, object))
  if (resource !== 'persistentvolumeclaims') return false
  return requirements.every(
    (requirement) =>
      requirement.scopeName === 'VolumeAttributesClass' &&
      valueMatches(requirement, object['spec'].volumeAttributesClassName ?? ''),
  )
}

function podScopeMatches(requirement: ScopeRequirement, pod: Stored): boolean {
  switch (requirement.scopeName) {
    case 'Terminating':
      return isTerminating(pod)
    case 'NotTerminating':
      return !isTerminating(pod)
    case 'BestEffort':
      return isBestEffort(pod)
    case 'NotBestEffort':
      return !isBestEffort(pod)
    case 'PriorityClass':
      return valueMatches(requirement, pod['spec'].priorityClassName ?? '')
    case 'CrossNamespacePodAffinity':
      return usesOtherNamespaces(pod)
    default:
      return false
  }
}

function valueMatches({ operator, values = [] }: ScopeRequirement, value: string): boolean {
  switch (operator) {
    case 'In':
      return values.includes(value)
    case 'NotIn':
      return !values.includes(value)
    case 'Exists':
      return value !== ''
    default:
      return value === ''
  }
}

/** Pods with a deadline of their own, as those of jobs have. */
function isTerminating(pod: Stored): boolean {
  return (pod['spec'].activeDeadlineSeconds ?? -1) >= 0
}

export function isBestEffort(pod: Stored): boolean {
  const { containers = [], initContainers = [], resources } = pod['spec']
  const all: Stored[] = [...containers, ...initContainers, { resources }]
  return all.every((container) =>
    ['requests', 'limits'].every((kind) =>
      ['cpu', 'memory'].every((name) => {
        const value = container['resources']?.[kind]?.[name]
        return value === undefined || value === '0'
      }),
    ),
  )
}

function usesOtherNamespaces(pod: Stored): boolean {
  const affinity = pod['spec'].affinity ?? {}
  const terms = [affinity.podAffinity, affinity.podAntiAffinity].flatMap((kind) => [
    ...(kind?.requiredDuringSchedulingIgnoredDuringExecution ?? []),
    ...(kind?.preferredDuringSchedulingIgnoredDuringExecution ?? []).map(
      (weighted: Stored) => weighted['podAffinityTerm'],
    ),
  ])
  return terms.some(
    (term) => (term?.namespaces ?? []).length > 0 || term?.namespaceSelector !== undefined,
  )
}
