/**
 * One sync of a Deployment. Step numbers are those of
 * docs/behaviour/controllers/deployment-controller.md; 1 is the shell's.
 */
import { resources } from '@gyropilot/api'
import type { Deployment, LabelQuery } from '@gyropilot/api'
import { recordEvent } from '@gyropilot/runtime'
import type { Reconcile, Verdict } from '@gyropilot/runtime'
import { messageOf } from '../workload-support/aggregate-error.ts'
import { claim } from '../workload-support/claim.ts'
import { selectorQuery } from '../workload-support/label-selector.ts'
import { isNamespaceTerminating } from '../workload-support/pod-control.ts'
import { rollbackRevisionOf } from './annotations.ts'
import { SELECTING_ALL } from './events.ts'
import { syncNewReplicaSet } from './new-replica-set.ts'
import { UnexpectedStrategy } from './numbers.ts'
import type { ObservedDeployment } from './observe.ts'
import { notePause } from './progress.ts'
import { isScalingEvent, scalingSync } from './proportional-scaling.ts'
import { recreate } from './recreate.ts'
import { rollBack } from './rollback.ts'
import { rollingUpdate } from './rolling-update.ts'
import { Rollout, withStatus } from './rollout.ts'
import { writePlainStatus } from './status.ts'
import type { StatusSettings } from './status.ts'

export function* reconcile(observed: ObservedDeployment, settings: StatusSettings): Reconcile {
  const verdict = yield* sync(observed, settings)
  // A namespace that is being emptied refuses every retry as well.
  return isNamespaceTerminating(verdict.error) ? {} : verdict
}

function* sync(observed: ObservedDeployment, settings: StatusSettings): Reconcile<Verdict> {
  const { deployment } = observed
  let query: LabelQuery
  try {
    query = selectorQuery(deployment.spec?.selector)
  } catch (error) {
    const { namespace, name } = deployment.metadata ?? {}
    return {
      error: new Error(
        `deployment ${namespace}/${name} has invalid label selector: ${messageOf(error)}`,
      ),
    }
  }
  // 2.
  if (query.matchesEverything) return yield* refuseToSelectAll(deployment)
  // 3.
  const claimed = yield* claim(
    {
      owner: deployment,
      ownerType: resources.deployments,
      type: resources.replicasets,
      matches: (replicaSet) => query.matches(replicaSet.metadata?.labels),
    },
    observed.replicaSets,
  )
  if (claimed.error !== undefined) return { error: claimed.error }
  const rollout = new Rollout(deployment, claimed.objects)
  // 5.
  if (deployment.metadata?.deletionTimestamp !== undefined) {
    const problem = yield* syncNewReplicaSet(rollout, { ...observed, createMissing: false })
    return problem ?? (yield* writePlainStatus(rollout, settings))
  }
  // 6.
  const noted = yield* notePause(rollout)
  if (noted.error !== undefined) return noted
  // 7.
  if (deployment.spec?.paused === true) return yield* scalingSync(rollout, observed, settings)
  // 8.
  const rollbackTo = rollbackRevisionOf(deployment)
  if (rollbackTo !== undefined) return yield* rollBack(rollout, rollbackTo, observed)
  // 9.
  const problem = yield* syncNewReplicaSet(rollout, { ...observed, createMissing: false })
  if (problem !== undefined) return problem
  if (isScalingEvent(rollout)) return yield* scalingSync(rollout, observed, settings)
  // 10.
  switch (deployment.spec?.strategy?.type) {
    case 'Recreate':
      return yield* recreate(rollout, observed, settings)
    case 'RollingUpdate':
      return yield* rollingUpdate(rollout, observed, settings)
    default:
      return { error: new UnexpectedStrategy(deployment) }
  }
}

/** A selector of everything would claim every ReplicaSet of the namespace. */
function* refuseToSelectAll(deployment: Deployment): Reconcile<Verdict> {
  const message = 'This deployment is selecting all pods. A non-empty selector is required.'
  yield* recordEvent(deployment, 'Warning', SELECTING_ALL, message)
  const generation = deployment.metadata?.generation ?? 0
  if ((deployment.status?.observedGeneration ?? 0) < generation) {
    yield* new Rollout(deployment, []).writeStatus(
      withStatus(deployment, { ...deployment.status, observedGeneration: generation }),
    )
  }
  return {}
}
