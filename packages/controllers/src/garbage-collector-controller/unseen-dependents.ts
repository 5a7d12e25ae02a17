/**
 * A live look for dependents before an owner is released for good: what informers have shown may be old. Why it is made the
 * way it is: docs/decisions/0011-last-look-for-dependents.md.
 */
import { apiVersionOf } from '@gyropilot/api'
import type { KubernetesObject, OwnerReference, ResourceType } from '@gyropilot/api'
import { isNotFound } from '@gyropilot/client'
import { listLive, wait } from '@gyropilot/runtime'
import type { Outcome, Reconcile } from '@gyropilot/runtime'
import type { DependencyGraph } from './graph/dependency-graph.ts'
import type { GraphNode } from './graph/graph-node.ts'
import { identityOf } from './graph/identity.ts'
import type { ObjectIdentity } from './graph/identity.ts'
import type { CollectorView } from './live-metadata.ts'
import { resourceId } from '../monitor-support/monitored-resources.ts'

/** More objects of one kind in one place than this are not read as long as the cache is known to be no older. */
export const LOOK_PAGE_SIZE = 100
/** Up to so many are read when the cache is not: a quiet watch tells where it is once a minute only. */
export const READ_INSTEAD_MAX = 500
/** Where anything happens the cache comes to what the page was made of within some of these waits. */
export const CACHE_WAIT_MS = 25
export const CACHE_WAITS_MAX = 10
/** By the delays of the queues, about five seconds. */
export const LOOK_TRIES = 10

export interface LookView extends CollectorView {
  readonly graph: DependencyGraph
  readonly looks: Looks
  /** The monitor's copies of all objects in a namespace, or in the cluster. */
  cachedIn(type: ResourceType, namespace: string | undefined): readonly KubernetesObject[]
  /** The resourceVersion that the monitor has come to; empty when it is not known. */
  seenVersion(type: ResourceType): string
}

/** What a look that could not be finished goes on with when its node is worked on again. */
interface Look {
  tries: number
  /** By resource: the version that the cache must come to before it is believed. */
  readonly awaited: Map<string, string>
}

export class Looks {
  readonly #looks = new WeakMap<GraphNode, Look>()

  of(node: GraphNode): Look {
    let look = this.#looks.get(node)
    if (look === undefined) this.#looks.set(node, (look = { tries: 0, awaited: new Map() }))
    return look
  }

  end(node: GraphNode): void {
    this.#looks.delete(node)
  }
}

interface Dependent {
  readonly identity: ObjectIdentity
  /** The reference to the owner. */
  readonly reference: OwnerReference
}

type Looked =
  | { readonly next: 'found'; readonly dependents: readonly Dependent[] }
  /** A cache has not yet come to where the server is. */
  | { readonly next: 'later' }
  | { readonly next: 'retry'; readonly error: unknown }

/** Objects that refer to the owner, of the kinds that depend on its kind. Cheap: a short list for each of these kinds. */
export function* lookForDependents(owner: GraphNode, view: LookView): Reconcile<Looked> {
  const look = view.looks.of(owner)
  look.tries++
  const dependents: Dependent[] = []
  for (const type of typesToLookAt(owner.identity, view)) {
    const objects = yield* objectsOf(type, owner.identity, look, view)
    if (objects === undefined) return { next: 'later' }
    if (!objects.ok) return { next: 'retry', error: objects.error }
    // More than the arguments that a call may have.
    for (const dependent of dependentsAmong(objects.object, type, owner.identity.uid))
      dependents.push(dependent)
  }
  view.looks.end(owner)
  return { next: 'found', dependents }
}

function typesToLookAt({ apiVersion, kind, namespace }: ObjectIdentity, view: LookView) {
  const types = new Map<string, ResourceType>()
  for (const dependent of view.graph.dependentKinds.of({ apiVersion, kind })) {
    const type = view.typeOf(dependent, 'any')
    // What is not served is not there. A namespaced owner has no dependents outside of its namespace.
    if (type !== undefined && (type.namespaced || namespace === ''))
      types.set(resourceId(type), type)
  }
  return types.values()
}

/** All that refer to the owner are among them. Undefined: not yet known. */
function* objectsOf(
  type: ResourceType,
  { namespace: place, uid }: ObjectIdentity,
  look: Look,
  view: LookView,
): Reconcile<Outcome<readonly KubernetesObject[]> | undefined> {
  const namespace = place || undefined
  const id = resourceId(type)
  const cached = (): Outcome<readonly KubernetesObject[]> => ({
    ok: true,
    object: view.cachedIn(type, namespace),
  })
  // A kind that cannot be read must not keep owners of other kinds for ever.
  const isLastTry = look.tries >= LOOK_TRIES
  let isFew = false
  let awaited = look.awaited.get(id)
  if (awaited === undefined) {
    const first = yield* list(type, namespace, uid, LOOK_PAGE_SIZE)
    if (!first.ok) {
      if (isNotFound(first.error)) return { ok: true, object: [] }
      return isLastTry ? cached() : first
    }
    const { resourceVersion = '', continue: more, remainingItemCount } = first.object.metadata
    if (!more) return { ok: true, object: first.object.items }
    look.awaited.set(id, (awaited = resourceVersion))
    for (let waits = 0; waits < CACHE_WAITS_MAX; waits++) {
      if (hasComeTo(awaited, view.seenVersion(type))) break
      yield* wait(CACHE_WAIT_MS)
    }
    isFew = LOOK_PAGE_SIZE + (remainingItemCount ?? Infinity) <= READ_INSTEAD_MAX
  }
  if (hasComeTo(awaited, view.seenVersion(type))) return cached()
  if (!isLastTry && !isFew) return undefined
  const all = yield* list(type, namespace, uid)
  if (all.ok) return { ok: true, object: all.object.items }
  return isLastTry ? cached() : all
}

interface ListOfMetadata {
  readonly metadata: {
    readonly resourceVersion?: string
    readonly continue?: string
    readonly remainingItemCount?: number
  }
  readonly items: readonly KubernetesObject[]
}

function* list(
  type: ResourceType,
  namespace: string | undefined,
  mentioning: string,
  limit?: number,
): Reconcile<Outcome<ListOfMetadata>> {
  // Most looks find nothing: then a few hundred objects are not decoded for it. Owners often wait in crowds: one list will do for all
  // who wait when it begins.
  const page = limit === undefined ? {} : { limit }
  const options = { metadataOnly: true, mentioning, shared: true, ...page }
  return (yield* listLive(type, namespace, options)) as Outcome<ListOfMetadata>
}

/** Versions of one resource are decimal numbers that grow (KEP-5504); of anything else nothing is known. */
function hasComeTo(wanted: string, seen: string): boolean {
  const isVersion = (text: string): boolean => /^[1-9][0-9]*$/.test(text)
  if (!isVersion(wanted) || !isVersion(seen)) return false
  return seen.length === wanted.length ? seen >= wanted : seen.length > wanted.length
}

function dependentsAmong(
  objects: readonly KubernetesObject[],
  type: ResourceType,
  ownerUid: string,
): readonly Dependent[] {
  const kind = { apiVersion: apiVersionOf(type), kind: type.kind }
  const dependents: Dependent[] = []
  // Each owner of a crowd has all that is cached gone through: nothing is made for what is not its own.
  for (const object of objects) {
    const references = object.metadata?.ownerReferences
    if (references === undefined) continue
    for (const reference of references) {
      if (reference.uid !== ownerUid) continue
      dependents.push({ identity: identityOf(object, kind), reference })
      break
    }
  }
  return dependents
}
