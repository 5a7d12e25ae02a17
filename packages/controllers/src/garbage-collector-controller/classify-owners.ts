/** Which owners of an object still hold it. Contract: docs/behaviour/controllers/garbage-collector-controller.md, Deletion check 6. */
import { hasFinalizer, isTerminating } from '@gyropilot/api'
import type { OwnerReference } from '@gyropilot/api'
import { isNotFound } from '@gyropilot/client'
import type { Outcome, Reconcile } from '@gyropilot/runtime'
import type { AbsentOwners } from './graph/absent-owners.ts'
import { FOREGROUND_FINALIZER } from './config.ts'
import { identityOfReference } from './graph/identity.ts'
import { placeOf, readLive } from './live-metadata.ts'
import type { CollectorView } from './live-metadata.ts'

export interface ClassifiedOwners {
  /** These exist and stay. */
  readonly solid: readonly OwnerReference[]
  /** These do not exist. */
  readonly dangling: readonly OwnerReference[]
  /** These are deleted in the foreground and wait for their dependents. */
  readonly waiting: readonly OwnerReference[]
}

type Standing = keyof ClassifiedOwners

/** References in their order; the first that cannot be judged ends it. */
export function* classifyOwners(
  references: readonly OwnerReference[],
  namespace: string,
  view: CollectorView,
  absentOwners: AbsentOwners,
): Reconcile<Outcome<ClassifiedOwners>> {
  const owners: Record<Standing, OwnerReference[]> = { solid: [], dangling: [], waiting: [] }
  for (const reference of references) {
    const standing = yield* standingOf(reference, namespace, view, absentOwners)
    if (!standing.ok) return standing
    owners[standing.object].push(reference)
  }
  return { ok: true, object: owners }
}

function* standingOf(
  reference: OwnerReference,
  namespace: string,
  view: CollectorView,
  absentOwners: AbsentOwners,
): Reconcile<Outcome<Standing>> {
  const clusterScoped = identityOfReference(reference, '')
  const beside = identityOfReference(reference, namespace)
  if (absentOwners.has(clusterScoped) || absentOwners.has(beside)) return answer('dangling')
  const place = placeOf(beside, view, 'exact')
  if (!place.ok) return place
  // Many dependents of one owner are judged at the same time.
  const live = yield* readLive(beside, view, 'exact', { shared: true })
  if (!live.ok && !isNotFound(live.error)) return live
  if (!live.ok || live.object.metadata?.uid !== reference.uid) {
    absentOwners.add(place.object.type.namespaced ? beside : clusterScoped)
    return answer('dangling')
  }
  const waits = isTerminating(live.object) && hasFinalizer(live.object, FOREGROUND_FINALIZER)
  return answer(waits ? 'waiting' : 'solid')
}

function answer(standing: Standing): Outcome<Standing> {
  return { ok: true, object: standing }
}
