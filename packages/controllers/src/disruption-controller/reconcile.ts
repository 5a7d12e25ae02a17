/**
 * One sync of a budget. Step numbers are those of
 * docs/behaviour/controllers/disruption-controller.md, Sync; step 1 is the shell's.
 */
import { labelSelectorText, resources } from '@gyropilot/api'
import type { Pod, PodDisruptionBudget, PodDisruptionBudgetStatus } from '@gyropilot/api'
import { isConflict } from '@gyropilot/client'
import { currentTimeMs, recordEvent, updateStatus, write } from '@gyropilot/runtime'
import type { Reconcile, Verdict } from '@gyropilot/runtime'
import { messageOf } from '../workload-support/aggregate-error.ts'
import { countHealthy, disruptedPods } from './disrupted-pods.ts'
import { expectedPods } from './expected-pods.ts'
import type { ObservedBudget } from './observe.ts'
import { failedStatus, nextStatus } from './status.ts'

interface BudgetVerdict extends Verdict {
  /** The budget is to be looked at again by then: an entry of its disrupted pods will be overdue. */
  readonly recheckAfterMs?: number
}

export function* reconcile(observed: ObservedBudget): Reconcile<BudgetVerdict> {
  const { error, recheckAfterMs } = yield* sync(observed)
  if (error === undefined) return recheckAfterMs === undefined ? {} : { recheckAfterMs }
  // 9. Somebody else's word came first, an eviction's perhaps: it must win, and is not to be undone by what follows.
  if (isConflict(error)) return { error }
  const nowMs = yield* currentTimeMs()
  const { budget } = observed
  return { error: yield* writeStatus(budget, failedStatus(budget, error, nowMs)) }
}

function* sync(observed: ObservedBudget): Reconcile<BudgetVerdict> {
  const { budget, owners } = observed
  // 2.
  const selected = yield* selectedPods(observed)
  if ('error' in selected) return selected
  const { pods } = selected
  // 3.
  const expected = yield* expectedPods(budget, pods, owners)
  if (expected.error !== undefined) {
    const text = `Failed to calculate the number of expected pods: ${messageOf(expected.error)}`
    yield* recordEvent(budget, 'Warning', 'CalculateExpectedPodCountFailed', text)
    return { error: expected.error }
  }
  // 4.
  if (expected.unmanaged.length > 0) {
    yield* recordEvent(budget, 'Warning', 'UnmanagedPods', unmanagedText(budget))
  }
  // 5.
  const nowMs = yield* currentTimeMs()
  const { kept, overdue, recheckAtMs } = disruptedPods(budget.status?.disruptedPods, pods, nowMs)
  yield* tellOverdue(budget, overdue)
  // 6, 7.
  const status = nextStatus({
    budget,
    currentHealthy: countHealthy(pods, kept, nowMs),
    desiredHealthy: expected.desiredHealthy,
    expectedPods: expected.expected,
    disruptedPods: kept,
    nowMs,
  })
  const error = status === undefined ? undefined : yield* writeStatus(budget, status)
  if (error !== undefined) return { error }
  // 8.
  return recheckAtMs === undefined ? {} : { recheckAfterMs: recheckAtMs - nowMs }
}

function* selectedPods(
  observed: ObservedBudget,
): Reconcile<{ readonly pods: readonly Pod[] } | { readonly error: unknown }> {
  const { budget } = observed
  let pods: readonly Pod[]
  try {
    pods = observed.pods()
  } catch (error) {
    yield* recordEvent(budget, 'Warning', 'NoPods', `Failed to get pods: ${messageOf(error)}`)
    return { error }
  }
  if (pods.length === 0) yield* recordEvent(budget, 'Normal', 'NoPods', 'No matching pods found')
  return { pods }
}

/** The namespace stands there twice, as upstream has it. */
function* tellOverdue(budget: PodDisruptionBudget, overdue: readonly Pod[]): Reconcile<void> {
  const { namespace } = budget.metadata ?? {}
  const text = `Pod was expected by PDB ${namespace}/${namespace} to be deleted but it wasn't`
  for (const pod of overdue) yield* recordEvent(pod, 'Warning', 'NotDeleted', text)
}

function unmanagedText({ spec }: PodDisruptionBudget): string {
  const selector = labelSelectorText(spec?.selector ?? {})
  return `Pods selected by this PodDisruptionBudget (selector: ${selector}) were found to be unmanaged. As a result, the status of the PDB cannot be calculated correctly, which may result in undefined behavior. To account for these pods please set ".spec.minAvailable" field of the PDB to an integer value.`
}

/** On the version that was observed: what an eviction has taken meanwhile must not be given back. */
function* writeStatus(
  budget: PodDisruptionBudget,
  status: PodDisruptionBudgetStatus,
): Reconcile<unknown> {
  const written = yield* write(updateStatus(resources.poddisruptionbudgets, { ...budget, status }))
  return written.ok ? undefined : written.error
}
