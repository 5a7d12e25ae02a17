/** Live reads of objects by what references say of them. */
import type { KubernetesObject, ResourceType } from '@gyropilot/api'
import type { Outcome, Read, Reconcile } from '@gyropilot/runtime'
import type { ObjectIdentity } from './graph/identity.ts'
import type { KindLookup, Versions } from './kinds/served-kinds.ts'

/** What rules may ask besides live reads. */
export interface CollectorView {
  readonly typeOf: KindLookup
  /** The monitor's copy. */
  cached(
    type: ResourceType,
    namespace: string | undefined,
    name: string,
  ): KubernetesObject | undefined
}

/** The server is not known to serve this kind. That may change, so it proves nothing about the object. */
export class UnknownKindError extends Error {
  constructor({ apiVersion, kind }: Pick<ObjectIdentity, 'apiVersion' | 'kind'>) {
    super(`no matches for kind ${JSON.stringify(kind)} in version ${JSON.stringify(apiVersion)}`)
    this.name = 'UnknownKindError'
  }
}

/** A cluster-scoped object names an owner of a namespaced kind: no one can say in which namespace. Never to be retried. */
export class OwnerNamespaceUnknownError extends Error {
  constructor() {
    super('cluster-scoped objects cannot refer to namespaced owners')
    this.name = 'OwnerNamespaceUnknownError'
  }
}

export interface Place {
  readonly type: ResourceType
  readonly namespace: string | undefined
}

/**
 * Where the API has the object of this identity. The namespace is that of the identity unless the kind has none. Of an object
 * that a watch has shown `any` version will do: the one in which it was shown may be served no more, and then it would neither
 * be collected nor released. What only a reference says holds for the `exact` version.
 */
export function placeOf(
  identity: ObjectIdentity,
  view: CollectorView,
  versions: Versions,
): Outcome<Place> {
  const type = view.typeOf(identity, versions)
  if (type === undefined) return failed(new UnknownKindError(identity))
  if (!type.namespaced) return { ok: true, object: { type, namespace: undefined } }
  if (identity.namespace === '') return failed(new OwnerNamespaceUnknownError())
  return { ok: true, object: { type, namespace: identity.namespace } }
}

export function* readLive(
  identity: ObjectIdentity,
  view: CollectorView,
  versions: Versions,
  options: Pick<Read & { verb: 'get' }, 'shared'> = {},
): Reconcile<Outcome<KubernetesObject>> {
  const place = placeOf(identity, view, versions)
  if (!place.ok) return place
  const { type, namespace } = place.object
  return (yield {
    effect: 'read',
    read: { verb: 'get', type, namespace, name: identity.name, metadataOnly: true, ...options },
  }) as Outcome
}

function failed(error: unknown): Outcome<never> {
  return { ok: false, error, attempted: false }
}
