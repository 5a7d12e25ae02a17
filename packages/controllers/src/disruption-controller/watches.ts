/**
 * Which budget, and which pod, an event concerns.
 * Contract: docs/behaviour/controllers/disruption-controller.md, Watches and keys.
 */
import { keyOf, resources } from '@gyropilot/api'
import type { Pod, PodDisruptionBudget } from '@gyropilot/api'
import { byString } from '@gyropilot/foundation'
import { DeletedFinalStateUnknown, keyOfDeleted } from '@gyropilot/runtime'
import type { EventRecord, Lister, QueueKey, Watch } from '@gyropilot/runtime'
import { selectorQuery } from '../workload-support/label-selector.ts'
import { staleAfterMs } from './stale-condition.ts'

export const budgetWatch: Watch<PodDisruptionBudget> = {
  type: resources.poddisruptionbudgets,
  onAdd: (budget) => [keyOf(budget)],
  onUpdate: (_, current) => [keyOf(current)],
  onDelete: (budget) => [keyOfDeleted(budget)],
}

/** Looks at the labels of now: a budget that matched only earlier ones learns of it with its next event. */
export function podWatch(
  budgets: Lister<PodDisruptionBudget>,
  record: (event: EventRecord) => void,
): Watch<Pod> {
  // All of them: the one that was never looked at would go on allowing disruptions of its other pods.
  const budgetsOf = (pod: Pod): readonly QueueKey[] => {
    const matching = budgetsMatching(budgets, pod)
    if (matching.length > 1) record(severalBudgets(pod, matching[0]!))
    return matching.map(keyOf)
  }
  return {
    type: resources.pods,
    onAdd: budgetsOf,
    onUpdate: (_, current) => budgetsOf(current),
    onDelete: (pod) => (pod instanceof DeletedFinalStateUnknown ? [] : budgetsOf(pod)),
  }
}

const byName = byString(({ metadata }: PodDisruptionBudget) => metadata?.name ?? '')

/** By name: which of several the event names is free, and should be the same every time. */
function budgetsMatching(
  budgets: Lister<PodDisruptionBudget>,
  { metadata }: Pod,
): readonly PodDisruptionBudget[] {
  const matches = ({ spec }: PodDisruptionBudget): boolean => {
    try {
      return selectorQuery(spec?.selector).matches(metadata?.labels)
    } catch {
      return false
    }
  }
  return budgets.list(metadata?.namespace).filter(matches).toSorted(byName)
}

function severalBudgets(pod: Pod, chosen: PodDisruptionBudget): EventRecord {
  const { namespace, name } = pod.metadata ?? {}
  return {
    regarding: pod,
    type: 'Warning',
    reason: 'MultiplePodDisruptionBudgets',
    message: `Pod "${namespace}"/"${name}" matches multiple PodDisruptionBudgets.  Chose "${chosen.metadata?.name}" arbitrarily.`,
  }
}

/** Pods that were to be disrupted, once that should have happened. */
export function stalePodWatch(nowMs: () => number): Watch<Pod> {
  const later = (pod: Pod): readonly QueueKey[] => {
    const afterMs = staleAfterMs(pod, nowMs())
    return afterMs === undefined ? [] : [{ key: keyOf(pod), afterMs }]
  }
  return { type: resources.pods, onAdd: later, onUpdate: (_, current) => later(current) }
}
