/**
 * Conditions of autoscalers.
 * Contract: docs/behaviour/controllers/horizontal-pod-autoscaler-controller.md, Status and conditions.
 */
import type { HorizontalPodAutoscaler } from '@gyropilot/api'
import { formatTime } from '@gyropilot/foundation'

export type Condition = NonNullable<
  NonNullable<HorizontalPodAutoscaler['status']>['conditions']
>[number]

export interface ConditionUpdate {
  readonly type: 'AbleToScale' | 'ScalingActive' | 'ScalingLimited' | 'ScaledToZero'
  readonly status: 'True' | 'False'
  readonly reason: string
  readonly message: string
}

/** New types at the end. The time changes with the status only; reason and message always. */
export function withCondition(
  conditions: readonly Condition[],
  update: ConditionUpdate,
  nowMs: number,
): readonly Condition[] {
  const place = conditions.findIndex(({ type }) => type === update.type)
  const known = conditions[place]
  const lastTransitionTime =
    known?.status === update.status ? known.lastTransitionTime : formatTime(nowMs)
  const next = { ...update, lastTransitionTime }
  return place === -1 ? [...conditions, next] : conditions.with(place, next)
}

export const ableToScale = (reason: string, message: string): ConditionUpdate => ({
  type: 'AbleToScale',
  status: 'True',
  reason,
  message,
})

export const READY_FOR_NEW_SCALE = ableToScale(
  'ReadyForNewScale',
  'recommended size matches current size',
)
export const SCALE_DOWN_STABILIZED = ableToScale(
  'ScaleDownStabilized',
  'recent recommendations were higher than current one, applying the highest recent recommendation',
)
export const SCALE_UP_STABILIZED = ableToScale(
  'ScaleUpStabilized',
  'recent recommendations were lower than current one, applying the lowest recent recommendation',
)

/** Why the desired number is not what metrics ask for; the last one says that it is. */
export type Limit =
  | 'ScaleUpLimit'
  | 'TooManyReplicas'
  | 'ScaleDownLimit'
  | 'TooFewReplicas'
  | 'DesiredWithinRange'

const LIMITS: Readonly<Record<Limit, string>> = {
  ScaleUpLimit: 'the desired replica count is increasing faster than the maximum scale rate',
  TooManyReplicas: 'the desired replica count is more than the maximum replica count',
  ScaleDownLimit: 'the desired replica count is decreasing faster than the maximum scale rate',
  TooFewReplicas: 'the desired replica count is less than the minimum replica count',
  DesiredWithinRange: 'the desired count is within the acceptable range',
}

export function scalingLimited(limit: Limit): ConditionUpdate {
  return {
    type: 'ScalingLimited',
    status: limit === 'DesiredWithinRange' ? 'False' : 'True',
    reason: limit,
    message: LIMITS[limit],
  }
}

export function scalingInactive(reason: string, message: string): ConditionUpdate {
  return { type: 'ScalingActive', status: 'False', reason, message }
}
