/** For tests: what an evaluator makes of an object that is given as JSON. */
import type { KubernetesObject } from '../object.ts'
import type { ResourceList } from '../pods/pod-resources.ts'
import { standardEvaluators } from './evaluators.ts'
import type { UsageEvaluator, UsageFacts } from './usage-evaluator.ts'

export const NOW_MS = Date.UTC(2026, 0, 1)

export function evaluatorNamed(resource: string): UsageEvaluator {
  const found = standardEvaluators().find((evaluator) => evaluator.resource.resource === resource)
  if (found === undefined) throw new Error(`no evaluator of ${resource}`)
  return found
}

export function usageOf(
  resource: string,
  object: object,
  facts: Partial<UsageFacts> = {},
): ResourceList {
  return evaluatorNamed(resource).usage(object as KubernetesObject, { nowMs: NOW_MS, ...facts })
}
