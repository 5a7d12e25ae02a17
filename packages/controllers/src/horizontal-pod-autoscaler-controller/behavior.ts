/**
 * What metrics propose, within what `spec.behavior` allows. Pure.
 * Contract: docs/behaviour/controllers/horizontal-pod-autoscaler-controller.md, Normalizing with spec.behavior.
 */
import type { HPAScalingPolicy, HPAScalingRules } from '@gyropilot/api'
import { READY_FOR_NEW_SCALE, SCALE_DOWN_STABILIZED, SCALE_UP_STABILIZED } from './conditions.ts'
import type { Limit } from './conditions.ts'
import type { NormalizedReplicas, Proposal } from './normalize.ts'
import { changeWithin, remembered } from './scaling-history.ts'
import type { Recommendation, ScaleEvent, ScalingHistory } from './scaling-history.ts'

/** Both directions are there: the API server fills them in. */
export interface Behavior {
  readonly scaleUp?: HPAScalingRules
  readonly scaleDown?: HPAScalingRules
}

export function normalizeWithBehavior(
  proposal: Proposal,
  history: ScalingHistory,
  behavior: Behavior,
  downscaleStabilizationMs: number,
): NormalizedReplicas {
  const { proposedReplicas, currentReplicas, nowMs } = proposal
  const up = behavior.scaleUp ?? {}
  const down = behavior.scaleDown ?? {}
  // 1.
  const upWindowMs = (up.stabilizationWindowSeconds ?? 0) * 1_000
  const downWindowMs =
    down.stabilizationWindowSeconds === undefined
      ? downscaleStabilizationMs
      : down.stabilizationWindowSeconds * 1_000
  // 2.
  const { recommendations: known } = history
  const stabilized = stabilize(proposal, known, upWindowMs, downWindowMs)
  const longestMs = Math.max(upWindowMs, downWindowMs)
  const recommendations = remembered(
    known,
    { replicas: proposedReplicas, timeMs: nowMs },
    ({ timeMs }) => timeMs < nowMs - longestMs,
  )
  // 3.
  const isUp = proposedReplicas >= currentReplicas
  const able =
    stabilized === proposedReplicas
      ? READY_FOR_NEW_SCALE
      : isUp
        ? SCALE_UP_STABILIZED
        : SCALE_DOWN_STABILIZED
  // 4. and 5.
  return { ...limited(stabilized, proposal, history, up, down), recommendations, able }
}

function stabilize(
  { currentReplicas, proposedReplicas, nowMs }: Proposal,
  known: readonly Recommendation[],
  upWindowMs: number,
  downWindowMs: number,
): number {
  const within = (windowMs: number): readonly number[] =>
    known.filter(({ timeMs }) => timeMs > nowMs - windowMs).map(({ replicas }) => replicas)
  const lowest = Math.min(proposedReplicas, ...within(upWindowMs))
  const highest = Math.max(proposedReplicas, ...within(downWindowMs))
  return Math.min(Math.max(currentReplicas, lowest), highest)
}

function limited(
  replicas: number,
  proposal: Proposal,
  { scaledUp, scaledDown }: ScalingHistory,
  up: HPAScalingRules,
  down: HPAScalingRules,
): { readonly replicas: number; readonly limit: Limit } {
  const { currentReplicas, minReplicas, maxReplicas } = proposal
  if (replicas > currentReplicas) {
    const fastest = Math.max(currentReplicas, mostAllowed(proposal, scaledUp, scaledDown, up))
    const upper = Math.min(maxReplicas, fastest)
    if (replicas <= upper) return { replicas, limit: 'DesiredWithinRange' }
    return { replicas: upper, limit: fastest < maxReplicas ? 'ScaleUpLimit' : 'TooManyReplicas' }
  }
  if (replicas < currentReplicas) {
    const fastest = Math.min(currentReplicas, leastAllowed(proposal, scaledUp, scaledDown, down))
    const lower = Math.max(minReplicas, fastest)
    if (replicas >= lower) return { replicas, limit: 'DesiredWithinRange' }
    return { replicas: lower, limit: fastest > minReplicas ? 'ScaleDownLimit' : 'TooFewReplicas' }
  }
  return { replicas, limit: 'DesiredWithinRange' }
}

function mostAllowed(
  proposal: Proposal,
  added: readonly ScaleEvent[],
  removed: readonly ScaleEvent[],
  rules: HPAScalingRules,
): number {
  if (rules.selectPolicy === 'Disabled') return proposal.currentReplicas
  const limits = limitsOf(rules, proposal, added, removed, ({ type, value }, start) =>
    type === 'Pods' ? start + value : Math.ceil(start * (1 + value / 100)),
  )
  return rules.selectPolicy === 'Min' ? Math.min(...limits) : Math.max(...limits)
}

function leastAllowed(
  proposal: Proposal,
  added: readonly ScaleEvent[],
  removed: readonly ScaleEvent[],
  rules: HPAScalingRules,
): number {
  if (rules.selectPolicy === 'Disabled') return proposal.currentReplicas
  const limits = limitsOf(rules, proposal, added, removed, ({ type, value }, start) =>
    type === 'Pods' ? start - value : Math.trunc(start * (1 - value / 100)),
  )
  return rules.selectPolicy === 'Min' ? Math.max(...limits) : Math.min(...limits)
}

/** Policies count from what there was when their period began. */
function limitsOf(
  { policies = [] }: HPAScalingRules,
  { currentReplicas, nowMs }: Proposal,
  added: readonly ScaleEvent[],
  removed: readonly ScaleEvent[],
  limitOf: (policy: HPAScalingPolicy, start: number) => number,
): number[] {
  return policies.map((policy) => {
    const gained = changeWithin(added, policy.periodSeconds, nowMs)
    const lost = changeWithin(removed, policy.periodSeconds, nowMs)
    return limitOf(policy, currentReplicas - gained + lost)
  })
}

/** What came of a rescale, remembered; entries that no policy of the direction looks back to are used again. */
export function rememberedScale(
  history: ScalingHistory,
  behavior: Behavior,
  fromReplicas: number,
  toReplicas: number,
  nowMs: number,
): ScalingHistory {
  const isUp = toReplicas > fromReplicas
  const { policies = [] } = (isUp ? behavior.scaleUp : behavior.scaleDown) ?? {}
  const longestMs = Math.max(0, ...policies.map(({ periodSeconds }) => periodSeconds)) * 1_000
  const event = { change: Math.abs(toReplicas - fromReplicas), timeMs: nowMs }
  const remember = (events: readonly ScaleEvent[]): readonly ScaleEvent[] =>
    remembered(events, event, ({ timeMs }) => timeMs < nowMs - longestMs)
  return isUp
    ? { ...history, scaledUp: remember(history.scaledUp) }
    : { ...history, scaledDown: remember(history.scaledDown) }
}
