/** Which objects a quota is about. Contract: docs/behaviour/controllers/resourcequota-controller.md, Scopes. */
import type { ResourceQuota } from '../generated/core-v1.ts'
import { labelQueryOf } from '../selectors/label-selector.ts'
import type { KubernetesObject } from '../object.ts'
import type { ScopeRequirement, UsageEvaluator } from './usage-evaluator.ts'

/** spec.scopes (operator Exists), then the match expressions of spec.scopeSelector. */
export function scopeRequirementsOf({ spec }: ResourceQuota): readonly ScopeRequirement[] {
  return [
    ...(spec?.scopes ?? []).map((scopeName) => ({ scopeName, operator: 'Exists' })),
    ...(spec?.scopeSelector?.matchExpressions ?? []),
  ]
}

/** Whether every requirement holds. Throws when one makes no sense. */
export function matchesScopes(
  evaluator: UsageEvaluator,
  object: KubernetesObject,
  requirements: readonly ScopeRequirement[],
): boolean {
  return requirements.every((requirement) => evaluator.matchesScope(object, requirement))
}

/** A scope about a name is a label of that scope, or no label where the name is empty. Throws InvalidSelectorError. */
export function scopeValueMatches(
  { scopeName, operator, values }: ScopeRequirement,
  value: string,
): boolean {
  const query = labelQueryOf({
    matchExpressions: [{ key: scopeName, operator, ...(values && { values: [...values] }) }],
  })
  return query.matches(value === '' ? {} : { [scopeName]: value })
}
