/**
 * Finding the ReplicaSet with the Deployment's template, keeping its annotations, and creating it
 * when there is none.
 * Contract: docs/behaviour/controllers/deployment-controller.md, Finding and syncing the new RS.
 */
import { findCondition, isControlledBy, newControllerRef, resources } from '@gyropilot/api'
import type { Deployment, LabelSelector, ReplicaSet } from '@gyropilot/api'
import { isAlreadyExists } from '@gyropilot/client'
import { create, currentTimeMs, recordEvent, update, write } from '@gyropilot/runtime'
import type { Reconcile } from '@gyropilot/runtime'
import { messageOf } from '../workload-support/aggregate-error.ts'
import { isNamespaceTerminating } from '../workload-support/pod-control.ts'
import {
  TEMPLATE_HASH_LABEL,
  podTemplateHash,
  sameTemplate,
} from '../workload-support/pod-template-hash.ts'
import {
  REVISION,
  annotationsOf,
  highestRevision,
  replicasAnnotations,
  synchronizedAnnotations,
} from './annotations.ts'
import {
  FOUND_NEW_REPLICA_SET,
  NEW_REPLICA_SET_CREATED,
  PROGRESSING,
  REPLICA_SET_CREATE_ERROR,
  SCALING_REPLICA_SET,
} from './events.ts'
import { newReplicaSetSize, progressDeadlineMs, replicasOf, totalReplicas } from './numbers.ts'
import { byCreation, newCondition, withDeploymentCondition, withStatus } from './rollout.ts'
import type { Rollout } from './rollout.ts'

export interface Problem {
  readonly error: unknown
}

export interface NewReplicaSetRules {
  /** False: an existing one is looked for and kept up to date, but none is created. */
  readonly createMissing: boolean
  /** From the cache, for a name that is taken. */
  cachedReplicaSet(name: string): ReplicaSet | undefined
}

const LONGEST_NAME = 253

/**
 * The oldest one with the Deployment's template; when there are several, the others count as old.
 */
export function findNewReplicaSet(
  deployment: Deployment,
  replicaSets: readonly ReplicaSet[],
): ReplicaSet | undefined {
  return replicaSets
    .toSorted(byCreation)
    .find((replicaSet) => sameTemplate(deployment.spec?.template, replicaSet.spec?.template))
}

/**
 * Sorts the rollout's ReplicaSets into new and old, and writes what revision bookkeeping asks for.
 */
export function* syncNewReplicaSet(
  rollout: Rollout,
  rules: NewReplicaSetRules,
): Reconcile<Problem | undefined> {
  const all = rollout.replicaSets
  const existing = findNewReplicaSet(rollout.deployment, all)
  rollout.newReplicaSet = existing
  rollout.oldReplicaSets = all.filter((replicaSet) => replicaSet !== existing)
  // As upstream counts: after the last int64 comes the first.
  const newRevision = BigInt.asIntN(64, highestRevision(rollout.oldReplicaSets) + 1n)
  if (existing !== undefined) return yield* keepUpToDate(rollout, existing, newRevision)
  if (!rules.createMissing) return undefined
  return yield* createNewReplicaSet(rollout, newRevision, rules)
}

function* keepUpToDate(
  rollout: Rollout,
  existing: ReplicaSet,
  newRevision: bigint,
): Reconcile<Problem | undefined> {
  const { deployment } = rollout
  const current = annotationsOf(existing)
  const annotations = synchronizedAnnotations(deployment, current, newRevision)
  const minReadySeconds = deployment.spec?.minReadySeconds ?? 0
  if (annotations !== current || minReadySeconds !== (existing.spec?.minReadySeconds ?? 0)) {
    const corrected: ReplicaSet = {
      ...existing,
      metadata: { ...existing.metadata, annotations },
      spec: { ...existing.spec!, minReadySeconds },
    }
    const outcome = yield* write(update(resources.replicasets, corrected))
    if (!outcome.ok) return { error: outcome.error }
    rollout.replaced(outcome.object)
    return undefined
  }
  let next = withRevision(deployment, current[REVISION] ?? '')
  if (
    progressDeadlineMs(deployment) !== undefined &&
    findCondition(deployment.status?.conditions, PROGRESSING) === undefined
  ) {
    const message = `Found new replica set "${existing.metadata?.name}"`
    next = withProgressing(next, 'True', FOUND_NEW_REPLICA_SET, message, yield* currentTimeMs())
  }
  return yield* writeIfChanged(rollout, next)
}

function* createNewReplicaSet(
  rollout: Rollout,
  newRevision: bigint,
  rules: NewReplicaSetRules,
): Reconcile<Problem | undefined> {
  const { deployment } = rollout
  const wanted = replicaSetFor(rollout, newRevision)
  const outcome = yield* write(create(resources.replicasets, wanted))
  if (outcome.ok) {
    rollout.newReplicaSet = outcome.object
    const size = replicasOf(outcome.object)
    const { name } = outcome.object.metadata ?? {}
    if (size > 0) {
      yield* recordEvent(
        deployment,
        'Normal',
        SCALING_REPLICA_SET,
        `Scaled up replica set ${name} from 0 to ${size}`,
      )
    }
    let next = withRevision(deployment, String(newRevision))
    if (progressDeadlineMs(deployment) !== undefined) {
      const message = `Created new replica set "${name}"`
      next = withProgressing(next, 'True', NEW_REPLICA_SET_CREATED, message, yield* currentTimeMs())
    }
    return yield* writeIfChanged(rollout, next)
  }
  if (isAlreadyExists(outcome.error))
    return yield* nameIsTaken(rollout, wanted, newRevision, outcome.error, rules)
  if (!isNamespaceTerminating(outcome.error))
    yield* reportCreateError(rollout, wanted, outcome.error)
  return { error: outcome.error }
}

/**
 * Either the cache was behind and it is ours, or two templates hash to one name and the next
 * attempt needs another.
 */
function* nameIsTaken(
  rollout: Rollout,
  wanted: ReplicaSet,
  newRevision: bigint,
  refusal: unknown,
  rules: NewReplicaSetRules,
): Reconcile<Problem | undefined> {
  const { deployment } = rollout
  const present = rules.cachedReplicaSet(wanted.metadata?.name ?? '')
  if (present === undefined) return { error: refusal }
  if (
    isControlledBy(present, deployment) &&
    sameTemplate(deployment.spec?.template, present.spec?.template)
  ) {
    rollout.newReplicaSet = present
    return yield* writeIfChanged(rollout, withRevision(deployment, String(newRevision)))
  }
  const collisionCount = (deployment.status?.collisionCount ?? 0) + 1
  yield* rollout.writeStatus(withStatus(deployment, { ...deployment.status, collisionCount }))
  return { error: refusal }
}

function* reportCreateError(rollout: Rollout, wanted: ReplicaSet, error: unknown): Reconcile<void> {
  const { deployment } = rollout
  const message = `Failed to create new replica set "${wanted.metadata?.name}": ${messageOf(error)}`
  if (progressDeadlineMs(deployment) !== undefined) {
    yield* rollout.writeStatus(
      withProgressing(
        deployment,
        'False',
        REPLICA_SET_CREATE_ERROR,
        message,
        yield* currentTimeMs(),
      ),
    )
  }
  yield* recordEvent(deployment, 'Warning', REPLICA_SET_CREATE_ERROR, message)
}

/**
 * The ReplicaSet of the Deployment's present template, as large as the other ones leave room for.
 */
function replicaSetFor(rollout: Rollout, newRevision: bigint): ReplicaSet {
  const { deployment, oldReplicaSets } = rollout
  const template = deployment.spec?.template ?? {}
  const hash = podTemplateHash(template, deployment.status?.collisionCount)
  const labels = { ...template.metadata?.labels, [TEMPLATE_HASH_LABEL]: hash }
  const minReadySeconds = deployment.spec?.minReadySeconds
  return {
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    metadata: {
      name: replicaSetName(deployment.metadata?.name ?? '', hash),
      namespace: deployment.metadata?.namespace,
      labels,
      annotations: {
        ...synchronizedAnnotations(deployment, {}, newRevision),
        ...replicasAnnotations(deployment),
      },
      ownerReferences: [newControllerRef(deployment, resources.deployments)],
    },
    spec: {
      replicas: newReplicaSetSize(deployment, 0, totalReplicas(oldReplicaSets)),
      ...(minReadySeconds ? { minReadySeconds } : {}),
      selector: withMatchLabel(deployment.spec?.selector, TEMPLATE_HASH_LABEL, hash),
      template: { ...template, metadata: { ...template.metadata, labels } },
    },
  }
}

/** The Deployment's name is cut where both together would be too long. */
export function replicaSetName(deploymentName: string, hash: string): string {
  return `${deploymentName.slice(0, LONGEST_NAME - 1 - hash.length)}-${hash}`
}

function withMatchLabel(
  selector: LabelSelector | undefined,
  name: string,
  value: string,
): LabelSelector {
  return { ...selector, matchLabels: { ...selector?.matchLabels, [name]: value } }
}

function withRevision(deployment: Deployment, revision: string): Deployment {
  const annotations = annotationsOf(deployment)
  if ((annotations[REVISION] ?? '') === revision) return deployment
  return {
    ...deployment,
    metadata: { ...deployment.metadata, annotations: { ...annotations, [REVISION]: revision } },
  }
}

function withProgressing(
  deployment: Deployment,
  status: 'True' | 'False',
  reason: string,
  message: string,
  nowMs: number,
): Deployment {
  const next = newCondition(PROGRESSING, status, reason, message, nowMs)
  const conditions = withDeploymentCondition(deployment.status?.conditions, next)
  if (conditions === deployment.status?.conditions) return deployment
  return withStatus(deployment, { ...deployment.status, conditions })
}

function* writeIfChanged(rollout: Rollout, next: Deployment): Reconcile<Problem | undefined> {
  if (next === rollout.deployment) return undefined
  const outcome = yield* rollout.writeStatus(next)
  return outcome.ok ? undefined : { error: outcome.error }
}
