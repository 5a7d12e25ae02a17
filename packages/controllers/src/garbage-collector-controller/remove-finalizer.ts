/** Releases an object whose deletion policy has been carried out. */
import { hasFinalizer } from '@gyropilot/api'
import { isNotFound } from '@gyropilot/client'
import { write } from '@gyropilot/runtime'
import type { Outcome, Reconcile } from '@gyropilot/runtime'
import type { ObjectIdentity } from './identity.ts'
import { placeOf, readLive } from './live-metadata.ts'
import type { CollectorView } from './live-metadata.ts'
import { patchOf } from './owner-patches.ts'

export type FinalizerRemoval = { readonly ok: true } | Extract<Outcome, { ok: false }>

/** One attempt. A conflict is an outcome: the caller tries again after a while. */
export function* removeFinalizer(
  identity: ObjectIdentity,
  finalizer: string,
  view: CollectorView,
): Reconcile<FinalizerRemoval> {
  const place = placeOf(identity, view)
  if (!place.ok) return place
  const live = yield* readLive(identity, view)
  if (!live.ok) return isNotFound(live.error) ? { ok: true } : live
  // A namesake is not the object that waited.
  if (live.object.metadata?.uid !== identity.uid) return { ok: true }
  if (!hasFinalizer(live.object, finalizer)) return { ok: true }
  const { resourceVersion, finalizers = [] } = live.object.metadata ?? {}
  const left = finalizers.filter((name) => name !== finalizer)
  const value = { metadata: { resourceVersion, finalizers: left } }
  return yield* write(patchOf(identity, place.object, { type: 'merge', value }))
}
