/** Changes of an object's owner references. Contract: docs/behaviour/controllers/garbage-collector-controller.md, Exact ownerRef PATCH. */
import type { KubernetesObject, OwnerReference } from '@gyropilot/api'
import { isUnsupportedMediaType } from '@gyropilot/client'
import type { Patch } from '@gyropilot/client'
import { write } from '@gyropilot/runtime'
import type { Outcome, Reconcile, WriteOf } from '@gyropilot/runtime'
import type { GraphNode } from './graph/graph-node.ts'
import type { ObjectIdentity } from './graph/identity.ts'
import { placeOf, readLive } from './live-metadata.ts'
import type { CollectorView, Place } from './live-metadata.ts'

/** One change in both forms: for types with patch strategies, and by hand for all others. */
interface OwnerPatch {
  readonly strategic: Patch
  /** The whole new list from the current one. */
  rewrite(references: readonly OwnerReference[]): readonly OwnerReference[]
}

/** Takes references to these owners away. The uid makes sure that no namesake is changed. */
export function withoutOwners(dependent: ObjectIdentity, ownerUids: readonly string[]): OwnerPatch {
  const ownerReferences = ownerUids.map((uid) => ({ $patch: 'delete', uid }))
  return {
    strategic: { type: 'strategic', value: { metadata: { uid: dependent.uid, ownerReferences } } },
    rewrite: (references) => references.filter(({ uid }) => !ownerUids.includes(uid)),
  }
}

/** The object no longer holds up the deletion of any owner. */
export function withoutBlocking({ identity, owners }: GraphNode): OwnerPatch {
  const released = (reference: OwnerReference): OwnerReference =>
    reference.blockOwnerDeletion ? { ...reference, blockOwnerDeletion: false } : reference
  const ownerReferences = owners
    .filter(({ blockOwnerDeletion }) => blockOwnerDeletion)
    .map(released)
  return {
    strategic: { type: 'strategic', value: { metadata: { ownerReferences, uid: identity.uid } } },
    rewrite: (references) => references.map(released),
  }
}

export function* patchOwners(
  target: ObjectIdentity,
  change: OwnerPatch,
  view: CollectorView,
): Reconcile<Outcome> {
  const place = placeOf(target, view, 'any')
  if (!place.ok) return place
  const patched = yield* write(patchOf(target, place.object, change.strategic))
  if (patched.ok || !isUnsupportedMediaType(patched.error)) return patched
  return yield* patchOwnersByMerge(target, change, view)
}

/** For types without strategic merge: the whole list, and the version it was made from. */
export function* patchOwnersByMerge(
  target: ObjectIdentity,
  change: OwnerPatch,
  view: CollectorView,
): Reconcile<Outcome> {
  const place = placeOf(target, view, 'any')
  if (!place.ok) return place
  const current = yield* currentMetadata(target, place.object, view)
  if (!current.ok) return current
  const { resourceVersion, ownerReferences = [] } = current.object.metadata ?? {}
  const value = { metadata: { resourceVersion, ownerReferences: change.rewrite(ownerReferences) } }
  return yield* write(patchOf(target, place.object, { type: 'merge', value }))
}

export function patchOf(
  { name }: ObjectIdentity,
  { type, namespace }: Place,
  patch: Patch,
): WriteOf<KubernetesObject> {
  return { verb: 'patch', type, namespace, name, patch }
}

function* currentMetadata(
  target: ObjectIdentity,
  { type, namespace }: Place,
  view: CollectorView,
): Reconcile<Outcome> {
  const cached = view.cached(type, namespace, target.name)
  if (cached?.metadata?.uid === target.uid) return { ok: true, object: cached }
  const live = yield* readLive(target, view, 'any')
  if (!live.ok || live.object.metadata?.uid === target.uid) return live
  const error = new Error(`${target.kind} ${target.name} has another uid than ${target.uid} by now`)
  return { ok: false, error, attempted: false }
}
