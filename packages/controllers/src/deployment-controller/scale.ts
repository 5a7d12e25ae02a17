/**
 * Resizing one ReplicaSet.
 * Contract: docs/behaviour/controllers/deployment-controller.md, Scale helper.
 */
import { resources } from '@gyropilot/api'
import type { ReplicaSet } from '@gyropilot/api'
import { recordEvent, update, write } from '@gyropilot/runtime'
import type { Reconcile } from '@gyropilot/runtime'
import { annotationsOf, replicasAnnotations } from './annotations.ts'
import { SCALING_REPLICA_SET } from './events.ts'
import { replicasOf } from './numbers.ts'
import type { Rollout } from './rollout.ts'

export interface Scaled {
  /** The size changed; a changed annotation alone does not count. */
  readonly scaled: boolean
  readonly error?: unknown
}

/** Nothing is written for a ReplicaSet that has the size already. */
export function* scaleTo(
  rollout: Rollout,
  replicaSet: ReplicaSet,
  size: number,
): Reconcile<Scaled> {
  if (replicasOf(replicaSet) === size) return { scaled: false }
  return yield* scaleAndAnnotate(rollout, replicaSet, size)
}

/** Also refreshes the annotations of a ReplicaSet that has the size already. */
export function* scaleAndAnnotate(
  rollout: Rollout,
  replicaSet: ReplicaSet,
  size: number,
): Reconcile<Scaled> {
  const { deployment } = rollout
  const former = replicasOf(replicaSet)
  const current = annotationsOf(replicaSet)
  const wanted = replicasAnnotations(deployment)
  const annotated = Object.entries(wanted).every(([name, value]) => current[name] === value)
  if (former === size && annotated) return { scaled: false }
  const outcome = yield* write(
    update(resources.replicasets, {
      ...replicaSet,
      metadata: { ...replicaSet.metadata, annotations: { ...current, ...wanted } },
      spec: { ...replicaSet.spec!, replicas: size },
    }),
  )
  if (!outcome.ok) return { scaled: false, error: outcome.error }
  rollout.replaced(outcome.object)
  if (former === size) return { scaled: false }
  const direction = former < size ? 'up' : 'down'
  const { name } = replicaSet.metadata ?? {}
  const message = `Scaled ${direction} replica set ${name} from ${former} to ${size}`
  yield* recordEvent(deployment, 'Normal', SCALING_REPLICA_SET, message)
  return { scaled: true }
}
