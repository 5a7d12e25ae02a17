import type { KubernetesObject, Pod, PodDisruptionBudget } from '@gyropilot/api'
import { isPodReady, labelQueryOf, resources } from '@gyropilot/api'
import type { ClusterObserver } from '../simulated/cluster-observer.ts'
import type { Objects } from '../simulated/objects.ts'
import type { Report } from './violation.ts'

/**
 * No eviction beyond what a budget's status allows: each healthy pod that is evicted was paid for, and nothing was paid that
 * was not there. Deleting pods outright and losing nodes spend no budget. Contract:
 * docs/behaviour/api-server/subresources-and-admission.md, "Eviction".
 */
export function budgets(report: Report, objects: Objects): ClusterObserver {
  /** Names of pods that were paid for, by the budget's uid. */
  const paid = new Map<string, Set<string>>()

  function checkPayment(before: PodDisruptionBudget, after: PodDisruptionBudget): void {
    const known = before.status?.disruptedPods ?? {}
    const names = Object.keys(after.status?.disruptedPods ?? {}).filter((name) => !(name in known))
    if (names.length === 0) return
    const { uid = '', generation = 0 } = before.metadata ?? {}
    const { disruptionsAllowed = 0, observedGeneration = 0 } = before.status ?? {}
    const budget = textOf(before)
    if (observedGeneration < generation)
      report('budgets', `${budget} let ${names.join()} go before its spec was acted on`)
    if (disruptionsAllowed < names.length)
      report('budgets', `${budget} let ${names.join()} go and allowed ${disruptionsAllowed}`)
    const left = after.status?.disruptionsAllowed ?? 0
    if (disruptionsAllowed >= names.length && left > disruptionsAllowed - names.length)
      report('budgets', `${budget} let ${names.join()} go and still allows ${left}`)
    const owed = paid.get(uid) ?? new Set()
    paid.set(uid, owed)
    for (const name of names) owed.add(name)
  }

  function checkEviction(before: Pod, pod: Pod): void {
    if (isBeingEvicted(before) || !isBeingEvicted(pod)) return
    const { namespace, name = '', deletionTimestamp } = before.metadata ?? {}
    // What is going anyway, or was never of use, costs nothing.
    if (deletionTimestamp !== undefined || !isPodReady(before)) return
    for (const budget of objects.all(resources.poddisruptionbudgets, namespace)) {
      if (!labelQueryOf(budget.spec?.selector).matches(before.metadata?.labels)) continue
      if (!paid.get(budget.metadata?.uid ?? '')?.delete(name))
        report('budgets', `pod ${namespace}/${name} is evicted and ${textOf(budget)} was not asked`)
    }
  }

  return {
    committed({ type, collection, object, previous }) {
      if (type !== 'updated' || previous === undefined) return
      if (collection === 'poddisruptionbudgets.policy')
        checkPayment(previous as PodDisruptionBudget, object as PodDisruptionBudget)
      else if (collection === 'pods') checkEviction(previous as Pod, object as Pod)
    },
  }
}

function isBeingEvicted({ status }: Pod): boolean {
  return (status?.conditions ?? []).some(
    ({ type, reason }) => type === 'DisruptionTarget' && reason === 'EvictionByEvictionAPI',
  )
}

function textOf({ metadata }: KubernetesObject): string {
  return `budget ${metadata?.namespace}/${metadata?.name}`
}
