export { objectCountEvaluator, standardEvaluators } from './evaluators.ts'
export type { EvaluatorOptions } from './evaluators.ts'
export { excessOf, resourcesNamed, sameResourceLists } from './resource-lists.ts'
export {
  DEVICE_CLASS_RESOURCE_PREFIX,
  isCountedResource,
  isExtendedResource,
  objectCountName,
} from './resource-names.ts'
export { matchesScopes, scopeRequirementsOf } from './scopes.ts'
export { countedNames } from './usage-evaluator.ts'
export type {
  QuotaRequest,
  ScopeRequirement,
  UsageEvaluator,
  UsageFacts,
} from './usage-evaluator.ts'
