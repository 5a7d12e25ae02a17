/**
 * How many pods a budget counts on, and how many of them must stay healthy.
 * Contract: docs/behaviour/controllers/disruption-controller.md, Expected count and desired healthy.
 */
import { resolveIntOrPercent } from '@gyropilot/api'
import type { Pod, PodDisruptionBudget } from '@gyropilot/api'
import type { Reconcile } from '@gyropilot/runtime'
import { scaleSum } from './owner-replicas.ts'
import type { OwnerListers } from './owner-replicas.ts'

interface ExpectedPods {
  readonly expected: number
  readonly desiredHealthy: number
  /** Names of pods that no controller speaks for, where that matters. */
  readonly unmanaged: readonly string[]
  readonly error?: unknown
}

/** A number of pods to keep needs no owners; every other rule is about what owners ask for. */
export function* expectedPods(
  { spec }: PodDisruptionBudget,
  pods: readonly Pod[],
  owners: OwnerListers,
): Reconcile<ExpectedPods> {
  const { maxUnavailable, minAvailable } = spec ?? {}
  if (maxUnavailable === undefined && minAvailable === undefined) {
    return { expected: 0, desiredHealthy: 0, unmanaged: [] }
  }
  if (maxUnavailable === undefined && typeof minAvailable === 'number') {
    return { expected: pods.length, desiredHealthy: minAvailable, unmanaged: [] }
  }
  const { replicas, unmanaged, error } = yield* scaleSum(pods, owners)
  if (error !== undefined) return { expected: 0, desiredHealthy: 0, unmanaged, error }
  try {
    const desiredHealthy =
      maxUnavailable === undefined
        ? resolveIntOrPercent(minAvailable, replicas, 'up')
        : Math.max(0, replicas - resolveIntOrPercent(maxUnavailable, replicas, 'up'))
    return { expected: replicas, desiredHealthy, unmanaged }
  } catch (invalid) {
    return { expected: 0, desiredHealthy: 0, unmanaged, error: invalid }
  }
}
