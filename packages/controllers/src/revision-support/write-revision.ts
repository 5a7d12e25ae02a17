/**
 * Storing revisions, as effects.
 * Contract: docs/behaviour/controllers/shared-controller-utils.md, ControllerRevision history.
 */
import { resources, revisionHash } from '@gyropilot/api'
import type { ControllerRevision, KubernetesObject, ResourceType } from '@gyropilot/api'
import { isAlreadyExists, isConflict } from '@gyropilot/client'
import { create, getLive, update, write } from '@gyropilot/runtime'
import type { Outcome, Reconcile } from '@gyropilot/runtime'
import { messageOf } from '../workload-support/aggregate-error.ts'
import { adopting, whyNotToAdopt } from '../workload-support/claim.ts'
import { dataText, sameData } from './revision-data.ts'
import { revisionName, withName } from './revision-object.ts'

/** Attempts of a PUT that meets conflicts. */
const RENUMBER_ATTEMPTS = 4

type StoredRevision =
  /** Stored now, or found under its name with equal data, whoever put it there. */
  | { readonly kind: 'stored'; readonly revision: ControllerRevision }
  /** The name belongs to other data. */
  | { readonly kind: 'taken'; readonly error: unknown }
  | { readonly kind: 'failed'; readonly error: unknown }

/** Creates the revision under the name it has. */
export function* storeRevision(revision: ControllerRevision): Reconcile<StoredRevision> {
  const created = yield* write(create(resources.controllerrevisions, revision))
  if (created.ok) return { kind: 'stored', revision: created.object }
  if (!isAlreadyExists(created.error)) return { kind: 'failed', error: created.error }
  const { namespace, name = '' } = revision.metadata ?? {}
  const existing = yield* getLive(resources.controllerrevisions, namespace, name)
  if (!existing.ok) return { kind: 'failed', error: existing.error }
  return sameData(existing.object, revision)
    ? { kind: 'stored', revision: existing.object }
    : { kind: 'taken', error: created.error }
}

interface NamedByHash {
  readonly ownerName: string
  /** Its name is replaced; its labels stay as they are, also after a collision. */
  readonly revision: ControllerRevision
  readonly collisionCount: number
}

/**
 * Creates the revision under `<owner>-<hash of its data and the collision count>`, counting up while
 * the name belongs to other data. The count goes with the outcome, also of a failure.
 */
export function* storeUnderHash({ ownerName, revision, collisionCount }: NamedByHash): Reconcile<{
  readonly outcome: Outcome<ControllerRevision>
  readonly collisionCount: number
}> {
  for (let count = collisionCount; ; count += 1) {
    const name = revisionName(ownerName, revisionHash(dataText(revision), count))
    const stored = yield* storeRevision(withName(revision, name))
    if (stored.kind === 'taken') continue
    const outcome: Outcome<ControllerRevision> =
      stored.kind === 'stored'
        ? { ok: true, object: stored.revision }
        : { ok: false, error: stored.error, attempted: true }
    return { outcome, collisionCount: count }
  }
}

/**
 * Gives the revision this number. After a conflict again with what `cached` has by then, for as long
 * as that is something new.
 */
export function* renumber(
  revision: ControllerRevision,
  number: number,
  cached: () => ControllerRevision | undefined,
): Reconcile<Outcome<ControllerRevision>> {
  let current = revision
  for (let attempt = 1; ; attempt += 1) {
    if (current.revision === number) return { ok: true, object: current }
    const updated = yield* write(
      update(resources.controllerrevisions, { ...current, revision: number }),
    )
    if (updated.ok || !isConflict(updated.error) || attempt === RENUMBER_ATTEMPTS) return updated
    const next = cached()
    if (next?.metadata?.resourceVersion === current.metadata?.resourceVersion) return updated
    if (next === undefined || next.metadata?.uid !== current.metadata?.uid) return updated
    current = next
  }
}

/**
 * Takes in revisions that have no controller, after one live look at the owner. Ends at the first
 * refusal. None: no call is made.
 */
export function* adoptRevisions(
  owner: KubernetesObject,
  ownerType: ResourceType,
  orphans: readonly ControllerRevision[],
): Reconcile<Outcome<readonly ControllerRevision[]>> {
  if (orphans.length === 0) return { ok: true, object: [] }
  const refusal = yield* whyNotToAdopt(owner, ownerType)
  if (refusal !== undefined) {
    const error = new Error(`can't adopt ControllerRevisions: ${messageOf(refusal)}`, {
      cause: refusal,
    })
    return { ok: false, error, attempted: true }
  }
  const type = resources.controllerrevisions
  const adopted: ControllerRevision[] = []
  for (const orphan of orphans) {
    const outcome = yield* write(adopting({ owner, ownerType, type }, orphan))
    if (!outcome.ok) return outcome
    adopted.push(outcome.object)
  }
  return { ok: true, object: adopted }
}
