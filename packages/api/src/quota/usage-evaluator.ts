import type { Pod } from '../generated/core-v1.ts'
import type { KubernetesObject } from '../object.ts'
import type { ResourceList } from '../pods/pod-resources.ts'
import type { GroupResource } from '../generated/meta-v1.ts'

/** One thing that must hold for an object to be counted by a quota. */
export interface ScopeRequirement {
  readonly scopeName: string
  readonly operator: string
  readonly values?: readonly string[]
}

/** What usage depends on besides the object. */
export interface UsageFacts {
  readonly nowMs: number
  /** The extended resource that stands for a device class (DeviceClass spec.extendedResourceName). */
  extendedResourceOf?(deviceClass: string): string | undefined
  pod?(namespace: string, name: string): Pod | undefined
}

/** A request that is to be admitted. */
export interface QuotaRequest {
  readonly operation: 'CREATE' | 'UPDATE'
  /** Empty: the object itself. */
  readonly subresource: string
  readonly object: KubernetesObject
  readonly oldObject?: KubernetesObject
}

/** What quotas count of one resource. Pure; objects must be of that resource. */
export interface UsageEvaluator {
  readonly resource: GroupResource
  counts(quotaName: string): boolean
  /** May leave out names that are zero. */
  usage(object: KubernetesObject, facts: UsageFacts): ResourceList
  /** Throws when the requirement itself makes no sense. */
  matchesScope(object: KubernetesObject, requirement: ScopeRequirement): boolean
  /** Whether a request of this form may raise usage. */
  admits(request: QuotaRequest): boolean
  /** What the object must say because a quota limits these names: `cpu for: a,b`. Empty: nothing. */
  unstated?(object: KubernetesObject, quotaNames: readonly string[]): readonly string[]
  /** Whether this change may have changed usage, so that it must be counted anew. Absent: never. */
  changesUsage?(previous: KubernetesObject, current: KubernetesObject, nowMs: number): boolean
}

/** Those of the names that the evaluator counts, sorted. */
export function countedNames(
  evaluator: UsageEvaluator,
  quotaNames: Iterable<string>,
): readonly string[] {
  return [...quotaNames].filter((name) => evaluator.counts(name)).toSorted()
}
