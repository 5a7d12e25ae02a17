/** Gathers what the rules of a budget need from the caches. */
import { keyOf } from '@gyropilot/api'
import type { Pod, PodDisruptionBudget } from '@gyropilot/api'
import { byString } from '@gyropilot/foundation'
import type { Lister } from '@gyropilot/runtime'
import { selectorQuery } from '../workload-support/label-selector.ts'
import { podsMatching } from '../workload-support/pod-label-index.ts'
import type { OwnerListers } from './owner-replicas.ts'

export interface ObservedBudget {
  readonly key: string
  readonly budget: PodDisruptionBudget
  /** Those that the selector matches, by name. Throws on a selector that the API would not accept. */
  pods(): readonly Pod[]
  readonly owners: OwnerListers
}

interface BudgetListers {
  readonly budgets: Lister<PodDisruptionBudget>
  readonly pods: Lister<Pod>
  readonly owners: OwnerListers
}

const byName = byString(({ metadata }: Pod) => metadata?.name ?? '')

export function observe(key: string, listers: BudgetListers): ObservedBudget | undefined {
  const budget = listers.budgets.getByKey(key)
  if (budget === undefined) return undefined
  const { metadata, spec } = budget
  return {
    key: keyOf(budget),
    budget,
    pods: () =>
      podsMatching(listers.pods, metadata?.namespace, selectorQuery(spec?.selector)).toSorted(
        byName,
      ),
    owners: listers.owners,
  }
}
