/**
 * What metrics propose, within what is allowed, for autoscalers without `spec.behavior`. Pure.
 * Contract: docs/behaviour/controllers/horizontal-pod-autoscaler-controller.md, Normalizing without spec.behavior.
 */
import { READY_FOR_NEW_SCALE, SCALE_DOWN_STABILIZED } from './conditions.ts'
import type { ConditionUpdate, Limit } from './conditions.ts'
import { remembered } from './scaling-history.ts'
import type { Recommendation } from './scaling-history.ts'

export interface Proposal {
  readonly currentReplicas: number
  readonly proposedReplicas: number
  readonly minReplicas: number
  readonly maxReplicas: number
  /** By the clock of what is remembered. */
  readonly nowMs: number
}

export interface NormalizedReplicas {
  readonly replicas: number
  readonly recommendations: readonly Recommendation[]
  /** AbleToScale. */
  readonly able: ConditionUpdate
  readonly limit: Limit
}

/** Doubling and four replicas are always allowed. */
const UP_FACTOR = 2
const UP_LEAST = 4

export function normalize(
  proposal: Proposal,
  known: readonly Recommendation[],
  downscaleStabilizationMs: number,
): NormalizedReplicas {
  const { proposedReplicas, nowMs } = proposal
  // 1. Going down takes the highest of what was recommended lately.
  const sinceMs = nowMs - downscaleStabilizationMs
  const isOver = ({ timeMs }: Recommendation): boolean => timeMs < sinceMs
  const recent = known.filter((entry) => !isOver(entry)).map(({ replicas }) => replicas)
  const stabilized = Math.max(proposedReplicas, ...recent)
  const recommendations = remembered(known, { replicas: proposedReplicas, timeMs: nowMs }, isOver)
  // 2.
  const able = stabilized === proposedReplicas ? READY_FOR_NEW_SCALE : SCALE_DOWN_STABILIZED
  // 3.
  return { ...limited(stabilized, proposal), recommendations, able }
}

function limited(
  replicas: number,
  { currentReplicas, minReplicas, maxReplicas }: Proposal,
): { readonly replicas: number; readonly limit: Limit } {
  const fastest = Math.max(UP_FACTOR * currentReplicas, UP_LEAST)
  const upper = Math.min(maxReplicas, fastest)
  if (replicas < minReplicas) return { replicas: minReplicas, limit: 'TooFewReplicas' }
  if (replicas <= upper) return { replicas, limit: 'DesiredWithinRange' }
  return { replicas: upper, limit: maxReplicas > fastest ? 'ScaleUpLimit' : 'TooManyReplicas' }
}
