/**
 * Recreate: all old pods go, to the last terminating one, before the first new one comes.
 * Contract: docs/behaviour/controllers/deployment-controller.md, Recreate rollout.
 */
import { isPodFinished } from '@gyropilot/api'
import type { Pod, ReplicaSet } from '@gyropilot/api'
import type { Reconcile, Verdict } from '@gyropilot/runtime'
import { cleanUpHistory } from './history.ts'
import { syncNewReplicaSet } from './new-replica-set.ts'
import type { NewReplicaSetRules } from './new-replica-set.ts'
import { replicasOf, sumOf } from './numbers.ts'
import { writeRolloutStatus } from './progress.ts'
import type { Rollout } from './rollout.ts'
import { scaleTo } from './scale.ts'
import { isComplete } from './status.ts'
import type { StatusSettings } from './status.ts'

interface RecreateRules extends Omit<NewReplicaSetRules, 'createMissing'> {
  /** Cached pods that the ReplicaSet controls, in any phase. */
  podsOf(replicaSet: ReplicaSet): readonly Pod[]
}

export function* recreate(
  rollout: Rollout,
  rules: RecreateRules,
  settings: StatusSettings,
): Reconcile<Verdict> {
  // 1.
  const problem = yield* syncNewReplicaSet(rollout, { ...rules, createMissing: false })
  if (problem !== undefined) return problem
  let anyScaled = false
  for (const old of rollout.activeOldReplicaSets) {
    const { scaled, error } = yield* scaleTo(rollout, old, 0)
    if (error !== undefined) return { error }
    anyScaled ||= scaled
  }
  if (anyScaled) return yield* writeRolloutStatus(rollout, settings)
  // 2.
  if (oldPodsRunning(rollout, rules)) return yield* writeRolloutStatus(rollout, settings)
  // 3.
  if (rollout.newReplicaSet === undefined) {
    const refused = yield* syncNewReplicaSet(rollout, { ...rules, createMissing: true })
    if (refused !== undefined) return refused
  }
  const { error } = yield* scaleTo(rollout, rollout.newReplicaSet!, replicasOf(rollout.deployment))
  if (error !== undefined) return { error }
  if (isComplete(rollout.deployment, rollout.deployment.status)) {
    const failed = yield* cleanUpHistory(rollout)
    if (failed !== undefined) return failed
  }
  return yield* writeRolloutStatus(rollout, settings)
}

/** By what the old ReplicaSets say, and by the cached pods, of which terminating ones still run. */
function oldPodsRunning(rollout: Rollout, rules: Pick<RecreateRules, 'podsOf'>): boolean {
  const { oldReplicaSets } = rollout
  if (sumOf(oldReplicaSets, (old) => old.status?.replicas ?? 0) > 0) return true
  return oldReplicaSets.some((old) => rules.podsOf(old).some((pod) => !isPodFinished(pod)))
}
