import { matchesScopes, parseQuantity } from '@gyropilot/api'
import type {
  KubernetesObject,
  QuantityAmount,
  ResourceList,
  ScopeRequirement,
  UsageEvaluator,
  UsageFacts,
} from '@gyropilot/api'

interface UsageQuestion {
  /** Names that the evaluator counts. */
  readonly names: readonly string[]
  readonly requirements: readonly ScopeRequirement[]
  readonly facts: UsageFacts
}

/** What the objects use together, one entry for each name. */
export function namespaceUsage(
  evaluator: UsageEvaluator,
  objects: readonly KubernetesObject[],
  { names, requirements, facts }: UsageQuestion,
): ResourceList {
  const sums = new Map<string, QuantityAmount>()
  for (const object of objects) {
    try {
      if (!matchesScopes(evaluator, object, requirements)) continue
    } catch {
      // A scope that makes no sense for one object makes none for the others: what was counted stands.
      break
    }
    const usage = evaluator.usage(object, facts)
    for (const name of names) {
      const amount = usage[name]
      if (amount === undefined) continue
      const sum = sums.get(name)
      sums.set(name, sum === undefined ? parseQuantity(amount) : sum.add(parseQuantity(amount)))
    }
  }
  return Object.fromEntries(names.map((name) => [name, sums.get(name)?.toString() ?? '0']))
}
