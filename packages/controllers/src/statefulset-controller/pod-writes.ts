/**
 * Creating, updating and deleting a pod of a set, with its claims.
 * Contract: docs/behaviour/controllers/statefulset-controller.md, Creating, updating, deleting a pod.
 */
import { resources } from '@gyropilot/api'
import type { PersistentVolumeClaim, Pod, StatefulSet } from '@gyropilot/api'
import { isAlreadyExists, isConflict, isNotFound } from '@gyropilot/client'
import { create, remove, update, write } from '@gyropilot/runtime'
import type { Reconcile } from '@gyropilot/runtime'
import { aggregateErrors, messageOf } from '../workload-support/aggregate-error.ts'
import {
  deletesWhenScaled,
  hasConflictingController,
  ownersAreRight,
  waitsForEarlierPod,
  withRightOwners,
} from './claim-owners.ts'
import { recordClaimEvent, recordConflictingController, recordPodEvent } from './events.ts'
import {
  claimFromTemplate,
  claimName,
  identityMatches,
  ordinalOf,
  storageMatches,
  withIdentity,
  withStorage,
} from './pod-identity.ts'

/** Attempts of a PUT that meets conflicts. */
const UPDATE_ATTEMPTS = 4

/** What the caches say now, also of what this sync has written meanwhile. */
export interface Caches {
  claim(name: string): PersistentVolumeClaim | undefined
  pod(name: string): Pod | undefined
}

/** What became of one pod. */
export interface PodOutcome {
  readonly error?: unknown
  /** As it was created. */
  readonly created?: Pod
}

function claimsOf(set: StatefulSet, pod: Pod, caches: Caches): readonly PersistentVolumeClaim[] {
  return (set.spec?.volumeClaimTemplates ?? []).flatMap((template) => {
    const claim = caches.claim(claimName(template, set, ordinalOf(pod)))
    return claim === undefined ? [] : [claim]
  })
}

/** Whether a claim of this pod belongs to the pod that had its name before. */
export function claimIsStale(set: StatefulSet, pod: Pod, caches: Caches): boolean {
  return (
    deletesWhenScaled(set) &&
    claimsOf(set, pod, caches).some((claim) => waitsForEarlierPod(claim, pod))
  )
}

export function claimOwnersMatch(set: StatefulSet, pod: Pod, caches: Caches): boolean {
  return claimsOf(set, pod, caches).every((claim) => ownersAreRight(claim, { set, pod }))
}

export function* createPod(set: StatefulSet, pod: Pod, caches: Caches): Reconcile<PodOutcome> {
  const name = pod.metadata?.name ?? ''
  const claims = yield* createClaims(set, pod, caches)
  if (claims.error !== undefined) {
    yield* recordPodEvent('Create', set, name, claims.error)
    return claims
  }
  const created = yield* write(create(resources.pods, pod))
  if (!created.ok && isAlreadyExists(created.error)) return { error: created.error }
  // Also when the pod was refused: the claims are there.
  const owners = yield* fixClaimOwners(set, pod, caches)
  if (owners.error !== undefined) {
    yield* recordPodEvent('Update', set, name, owners.error)
    return created.ok ? { ...owners, created: created.object } : owners
  }
  yield* recordPodEvent('Create', set, name, created.ok ? undefined : created.error)
  return created.ok ? { created: created.object } : { error: created.error }
}

/** What a pod that does not run yet may lack: claims that were deleted meanwhile. */
export function* createMissingClaims(
  set: StatefulSet,
  pod: Pod,
  caches: Caches,
): Reconcile<PodOutcome> {
  const claims = yield* createClaims(set, pod, caches)
  if (claims.error !== undefined) return claims
  const owners = yield* fixClaimOwners(set, pod, caches)
  if (owners.error !== undefined)
    yield* recordPodEvent('Update', set, pod.metadata?.name ?? '', owners.error)
  return owners
}

function* createClaims(set: StatefulSet, pod: Pod, caches: Caches): Reconcile<PodOutcome> {
  const errors: unknown[] = []
  const podName = pod.metadata?.name ?? ''
  for (const template of set.spec?.volumeClaimTemplates ?? []) {
    const claim = claimFromTemplate(template, set, ordinalOf(pod))
    const name = claim.metadata?.name ?? ''
    const existing = caches.claim(name)
    if (existing !== undefined) {
      if (existing.metadata?.deletionTimestamp !== undefined)
        errors.push(new Error(`pvc ${name} is being deleted`))
      continue
    }
    const created = yield* write(create(resources.persistentvolumeclaims, claim))
    if (created.ok) yield* recordClaimEvent(set, podName, name)
    else {
      if (!isAlreadyExists(created.error))
        yield* recordClaimEvent(set, podName, name, created.error)
      errors.push(
        new Error(`failed to create PVC ${name}: ${messageOf(created.error)}`, {
          cause: created.error,
        }),
      )
    }
  }
  return { error: aggregateErrors(errors) }
}

/** Writes the owner references that the retention policy wants. Claims that are not there are left out. */
export function* fixClaimOwners(set: StatefulSet, pod: Pod, caches: Caches): Reconcile<PodOutcome> {
  for (const claim of claimsOf(set, pod, caches)) {
    const name = claim.metadata?.name ?? ''
    const owners = { set, pod }
    if (hasConflictingController(claim, owners)) yield* recordConflictingController(set, name)
    if (ownersAreRight(claim, owners)) continue
    const changed = withRightOwners(claim, owners)
    const updated = yield* write(update(resources.persistentvolumeclaims, changed))
    if (!updated.ok) {
      const text = `could not update claim ${name} for delete policy ownerRefs: ${messageOf(updated.error)}`
      return { error: new Error(text, { cause: updated.error }) }
    }
  }
  return {}
}

/** Whether anything of the pod or its claims is not as it should be. */
export function podMatches(set: StatefulSet, pod: Pod, caches: Caches): boolean {
  return identityMatches(set, pod) && storageMatches(set, pod) && claimOwnersMatch(set, pod, caches)
}

/**
 * Labels, volumes and claims. After a conflict again with what the cache has by then, for as long as that
 * is something new.
 */
export function* updatePod(set: StatefulSet, pod: Pod, caches: Caches): Reconcile<PodOutcome> {
  const name = pod.metadata?.name ?? ''
  let current = pod
  let conflict: unknown
  for (let attempt = 1; attempt <= UPDATE_ATTEMPTS; attempt += 1) {
    if (podMatches(set, current, caches)) break
    const prepared = yield* prepareUpdate(set, current, caches)
    if (prepared.error !== undefined) {
      yield* recordPodEvent('Update', set, name, prepared.error)
      return { error: prepared.error }
    }
    const updated = yield* write(update(resources.pods, prepared.pod!))
    if (updated.ok) {
      yield* recordPodEvent('Update', set, name)
      return {}
    }
    conflict = updated.error
    const next = caches.pod(name)
    const isNews =
      next !== undefined &&
      next.metadata?.uid === pod.metadata?.uid &&
      next.metadata?.resourceVersion !== current.metadata?.resourceVersion
    if (!isConflict(conflict) || !isNews || attempt === UPDATE_ATTEMPTS) {
      yield* recordPodEvent('Update', set, name, conflict)
      return { error: conflict }
    }
    current = next
  }
  if (conflict !== undefined) yield* recordPodEvent('Update', set, name)
  return {}
}

function* prepareUpdate(
  set: StatefulSet,
  pod: Pod,
  caches: Caches,
): Reconcile<{ readonly error?: unknown; readonly pod?: Pod }> {
  let changed = identityMatches(set, pod) ? pod : withIdentity(set, pod)
  if (!storageMatches(set, changed)) {
    changed = withStorage(set, changed)
    const claims = yield* createClaims(set, changed, caches)
    if (claims.error !== undefined) return claims
  }
  const owners = claimOwnersMatch(set, changed, caches)
    ? {}
    : yield* fixClaimOwners(set, changed, caches)
  return owners.error === undefined ? { pod: changed } : owners
}

/** By name and without preconditions, as upstream. A pod that is gone already is no error and no event. */
export function* deletePod(set: StatefulSet, pod: Pod): Reconcile<PodOutcome> {
  const deleted = yield* write(remove(resources.pods, pod))
  if (!deleted.ok && isNotFound(deleted.error)) return {}
  const error = deleted.ok ? undefined : deleted.error
  yield* recordPodEvent('Delete', set, pod.metadata?.name ?? '', error)
  return { error }
}
