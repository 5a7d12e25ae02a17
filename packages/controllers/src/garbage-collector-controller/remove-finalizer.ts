/** Releases an object whose deletion policy has been carried out. */
import { hasFinalizer } from '@gyropilot/api'
import type { KubernetesObject } from '@gyropilot/api'
import { isNotFound, isUnsupportedMediaType } from '@gyropilot/client'
import type { Patch } from '@gyropilot/client'
import { write } from '@gyropilot/runtime'
import type { Outcome, Reconcile } from '@gyropilot/runtime'
import type { ObjectIdentity } from './graph/identity.ts'
import { placeOf, readLive } from './live-metadata.ts'
import type { CollectorView } from './live-metadata.ts'
import { patchOf } from './owner-patches.ts'

type FinalizerRemoval = { readonly ok: true } | Extract<Outcome, { ok: false }>

export interface RemovalOptions {
  /** The object as it was read just now; absent: it is read first. */
  readonly live?: KubernetesObject
  /** Told what is about to be released, before it can be gone. */
  readonly beforeRelease?: (live: KubernetesObject) => void
}

/**
 * One attempt. The patch holds for this uid with the finalizer where it was read, and for nothing else: a write to the
 * status meanwhile is no conflict, a change of the finalizers is one. That is an outcome (422 or 409): the caller tries again.
 */
export function* removeFinalizer(
  identity: ObjectIdentity,
  finalizer: string,
  view: CollectorView,
  { live: known, beforeRelease }: RemovalOptions = {},
): Reconcile<FinalizerRemoval> {
  const place = placeOf(identity, view, 'any')
  if (!place.ok) return place
  const live: Outcome<KubernetesObject> =
    known === undefined ? yield* readLive(identity, view, 'any') : { ok: true, object: known }
  if (!live.ok) return isNotFound(live.error) ? { ok: true } : live
  // A namesake is not the object that waited.
  if (live.object.metadata?.uid !== identity.uid) return { ok: true }
  if (!hasFinalizer(live.object, finalizer)) return { ok: true }
  beforeRelease?.(live.object)
  const removal = yield* write(patchOf(identity, place.object, byPosition(live.object, finalizer)))
  if (!removal.ok && isNotFound(removal.error)) return { ok: true }
  if (removal.ok || !isUnsupportedMediaType(removal.error)) return removal
  return yield* write(patchOf(identity, place.object, byVersion(live.object, finalizer)))
}

function byPosition({ metadata }: KubernetesObject, finalizer: string): Patch {
  const path = `/metadata/finalizers/${metadata?.finalizers?.indexOf(finalizer)}`
  const operations = [
    { op: 'test', path: '/metadata/uid', value: metadata?.uid },
    { op: 'test', path, value: finalizer },
    { op: 'remove', path },
  ]
  return { type: 'json', operations }
}

/** For servers that know no JSON patch, as aggregated ones may. */
function byVersion({ metadata }: KubernetesObject, finalizer: string): Patch {
  const { resourceVersion, finalizers = [] } = metadata ?? {}
  const left = finalizers.filter((name) => name !== finalizer)
  return { type: 'merge', value: { metadata: { resourceVersion, finalizers: left } } }
}
