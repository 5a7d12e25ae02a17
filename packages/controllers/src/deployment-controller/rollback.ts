/**
 * The rollback that is asked for with a deprecated annotation.
 * Contract: docs/behaviour/controllers/deployment-controller.md, Rollback.
 */
import { resources } from '@gyropilot/api'
import type { Deployment, ReplicaSet } from '@gyropilot/api'
import { recordEvent, update, write } from '@gyropilot/runtime'
import type { Reconcile, Verdict } from '@gyropilot/runtime'
import { sameTemplate, withoutHash } from '../workload-support/pod-template-hash.ts'
import {
  ROLLBACK_TO,
  annotationsAfterRollback,
  annotationsOf,
  previousRevision,
  revisionOf,
} from './annotations.ts'
import { ROLLBACK_REVISION_NOT_FOUND, ROLLBACK_TEMPLATE_UNCHANGED, ROLLED_BACK } from './events.ts'
import { syncNewReplicaSet } from './new-replica-set.ts'
import type { NewReplicaSetRules } from './new-replica-set.ts'
import type { Rollout } from './rollout.ts'

/**
 * The request is taken off the Deployment whatever comes of it. `requested` 0 means the previous
 * revision.
 */
export function* rollBack(
  rollout: Rollout,
  requested: bigint,
  rules: Omit<NewReplicaSetRules, 'createMissing'>,
): Reconcile<Verdict> {
  const problem = yield* syncNewReplicaSet(rollout, { ...rules, createMissing: true })
  if (problem !== undefined) return problem
  const { deployment } = rollout
  const revision = requested === 0n ? previousRevision(rollout.replicaSets) : requested
  if (revision === 0n) {
    yield* recordEvent(
      deployment,
      'Warning',
      ROLLBACK_REVISION_NOT_FOUND,
      'Unable to find last revision.',
    )
    return yield* writeWithoutRequest(deployment)
  }
  const target = rollout.replicaSets.find((replicaSet) => revisionOf(replicaSet) === revision)
  if (target === undefined) {
    const message = 'Unable to find the revision to rollback to.'
    yield* recordEvent(deployment, 'Warning', ROLLBACK_REVISION_NOT_FOUND, message)
    return yield* writeWithoutRequest(deployment)
  }
  return yield* rollBackTo(deployment, target, revision)
}

function* rollBackTo(
  deployment: Deployment,
  target: ReplicaSet,
  revision: bigint,
): Reconcile<Verdict> {
  const { name } = deployment.metadata ?? {}
  if (sameTemplate(deployment.spec?.template, target.spec?.template)) {
    const message = `The rollback revision contains the same template as current deployment "${name}"`
    yield* recordEvent(deployment, 'Warning', ROLLBACK_TEMPLATE_UNCHANGED, message)
    return yield* writeWithoutRequest(deployment)
  }
  const verdict = yield* writeWithoutRequest({
    ...deployment,
    metadata: { ...deployment.metadata, annotations: annotationsAfterRollback(deployment, target) },
    spec: { ...deployment.spec!, template: withoutHash(target.spec?.template ?? {}) },
  })
  if (verdict.error === undefined) {
    yield* recordEvent(
      deployment,
      'Normal',
      ROLLED_BACK,
      `Rolled back deployment "${name}" to revision ${revision}`,
    )
  }
  return verdict
}

function* writeWithoutRequest(deployment: Deployment): Reconcile<Verdict> {
  const { [ROLLBACK_TO]: _, ...annotations } = annotationsOf(deployment)
  const outcome = yield* write(
    update(resources.deployments, {
      ...deployment,
      metadata: { ...deployment.metadata, annotations },
    }),
  )
  return outcome.ok ? {} : { error: outcome.error }
}
