/**
 * Status of a budget.
 * Contract: docs/behaviour/controllers/disruption-controller.md, Status and conditions.
 */
import { deepEqual, findCondition, setCondition } from '@gyropilot/api'
import type { Condition, PodDisruptionBudget, PodDisruptionBudgetStatus } from '@gyropilot/api'
import { formatTime } from '@gyropilot/foundation'
import { messageOf } from '../workload-support/aggregate-error.ts'
import type { DisruptedPods } from './disrupted-pods.ts'

const DISRUPTION_ALLOWED = 'DisruptionAllowed'

interface StatusInput {
  readonly budget: PodDisruptionBudget
  readonly currentHealthy: number
  readonly desiredHealthy: number
  readonly expectedPods: number
  readonly disruptedPods: DisruptedPods
  readonly nowMs: number
}

/** Undefined: the status is as it should be. */
export function nextStatus(input: StatusInput): PodDisruptionBudgetStatus | undefined {
  const { budget, currentHealthy, desiredHealthy, expectedPods } = input
  // Without pods nothing is allowed: the first ones to come must find a budget that holds.
  const spare = expectedPods > 0 ? currentHealthy - desiredHealthy : 0
  const numbers = {
    currentHealthy,
    desiredHealthy,
    disruptionsAllowed: Math.max(0, spare),
    expectedPods,
    observedGeneration: budget.metadata?.generation ?? 0,
  }
  if (isCurrent(budget.status, numbers, input.disruptedPods)) return undefined
  const { disruptedPods: _, ...others } = budget.status ?? {}
  const isAllowed = numbers.disruptionsAllowed > 0
  const condition = {
    status: isAllowed ? 'True' : 'False',
    reason: isAllowed ? 'SufficientPods' : 'InsufficientPods',
    message: '',
    observedGeneration: numbers.observedGeneration,
  }
  return {
    ...others,
    ...numbers,
    ...(Object.keys(input.disruptedPods).length === 0
      ? {}
      : { disruptedPods: input.disruptedPods }),
    conditions: withDisruptionAllowed(budget, condition, input.nowMs),
  }
}

/** After an error: nothing is allowed, the rest stays. */
export function failedStatus(
  budget: PodDisruptionBudget,
  error: unknown,
  nowMs: number,
): PodDisruptionBudgetStatus {
  const condition = {
    status: 'False',
    reason: 'SyncFailed',
    message: messageOf(error),
    ...observedSoFar(budget),
  }
  return {
    currentHealthy: 0,
    desiredHealthy: 0,
    expectedPods: 0,
    ...budget.status,
    disruptionsAllowed: 0,
    conditions: withDisruptionAllowed(budget, condition, nowMs),
  }
}

/** A budget that was never acted on has observed nothing. */
function observedSoFar({ status }: PodDisruptionBudget): { readonly observedGeneration?: number } {
  return status?.observedGeneration ? { observedGeneration: status.observedGeneration } : {}
}

type Numbers = Required<Omit<PodDisruptionBudgetStatus, 'conditions' | 'disruptedPods'>>

function isCurrent(
  status: PodDisruptionBudgetStatus | undefined,
  numbers: Numbers,
  disruptedPods: DisruptedPods,
): boolean {
  const condition = findCondition(status?.conditions, DISRUPTION_ALLOWED)
  const isAllowed = numbers.disruptionsAllowed > 0
  return (
    Object.entries(numbers).every(
      ([name, value]) => (status?.[name as keyof Numbers] ?? 0) === value,
    ) &&
    deepEqual(status?.disruptedPods ?? {}, disruptedPods) &&
    condition?.status === (isAllowed ? 'True' : 'False') &&
    condition.reason === (isAllowed ? 'SufficientPods' : 'InsufficientPods')
  )
}

function withDisruptionAllowed(
  { status }: PodDisruptionBudget,
  condition: Omit<Condition, 'type' | 'lastTransitionTime'>,
  nowMs: number,
): readonly Condition[] {
  const nowText = formatTime(nowMs)
  const next: Condition = { type: DISRUPTION_ALLOWED, ...condition, lastTransitionTime: nowText }
  return setCondition(status?.conditions, next, nowText)
}
