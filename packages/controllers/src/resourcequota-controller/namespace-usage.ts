/** The usage of all objects of one kind in a namespace. Contract: docs/behaviour/controllers/resourcequota-controller.md, Sync, step 3. */
import { matchesScopes, parseQuantity } from '@gyropilot/api'
import type {
  KubernetesObject,
  QuantityAmount,
  ResourceList,
  ScopeRequirement,
  UsageEvaluator,
  UsageFacts,
} from '@gyropilot/api'
import { giveWay } from '@gyropilot/runtime'
import type { Reconcile } from '@gyropilot/runtime'

/** Counted in one go: some ten thousand pods at once would hold up everything else in the process. */
const OBJECTS_AT_ONCE = 64

interface UsageQuestion {
  /** Names that the evaluator counts. */
  readonly names: readonly string[]
  readonly requirements: readonly ScopeRequirement[]
  readonly facts: UsageFacts
}

/** What the objects use together, one entry for each name. */
export function* namespaceUsage(
  evaluator: UsageEvaluator,
  objects: readonly KubernetesObject[],
  { names, requirements, facts }: UsageQuestion,
): Reconcile<ResourceList> {
  const sums = new Map<string, QuantityAmount>()
  for (const [index, object] of objects.entries()) {
    if (index % OBJECTS_AT_ONCE === OBJECTS_AT_ONCE - 1) yield* giveWay()
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
