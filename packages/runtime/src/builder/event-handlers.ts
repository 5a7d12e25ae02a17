/** From what happened to an object to the requests to queue. Contract: docs/behaviour/runtime/custom-controllers.md, Builder. */
import type { KubernetesObject, ResourceType } from '@gyropilot/api'
import { groupOf } from '../object-writes/owner-references.ts'
import { keyOfRequest, requestFor } from './request.ts'
import type { Request } from './request.ts'
import type { RequestQueue } from './request-queue.ts'

/**
 * A missing function ignores its events. One that returns a promise is waited for, and further events wait with it; one
 * that throws loses its event, which is logged, and no other.
 */
export interface WatchHandler<T extends KubernetesObject = KubernetesObject> {
  create?(event: CreateEvent<T>, queue: RequestQueue): void | Promise<void>
  update?(event: UpdateEvent<T>, queue: RequestQueue): void | Promise<void>
  delete?(event: DeleteEvent<T>, queue: RequestQueue): void | Promise<void>
  generic?(event: GenericEvent<T>, queue: RequestQueue): void | Promise<void>
}

/** The object is new to the cache: created, or there already when watching began. */
export interface CreateEvent<T extends KubernetesObject = KubernetesObject> {
  readonly object: T
  readonly isInInitialList: boolean
}

/** Also a resync (equal resourceVersion), and a deletion and re-creation seen as one change (different uid). */
export interface UpdateEvent<T extends KubernetesObject = KubernetesObject> {
  readonly previous: T
  readonly object: T
}

/** The object has left the cache: deleted, or no longer selected. */
export interface DeleteEvent<T extends KubernetesObject = KubernetesObject> {
  readonly object: T
  /** The deletion itself was missed: `object` is the last state known. */
  readonly isFinalStateUnknown: boolean
}

/** Something outside of the cluster concerns this object. */
export interface GenericEvent<T extends KubernetesObject = KubernetesObject> {
  readonly object: T
}

/** The requests that an object gives rise to; a thrown error is logged and loses the event. */
export type MapToRequests<T extends KubernetesObject> = (
  object: T,
) => Iterable<Request> | Promise<Iterable<Request>>

/** Each object's own key. */
export function enqueueObject(): WatchHandler {
  return enqueueMapped((object) => [requestFor(object)])
}

/** Requests of the old and the new state of an object, each once per event. */
export function enqueueMapped<T extends KubernetesObject>(
  requestsOf: MapToRequests<T>,
): WatchHandler<T> {
  const enqueue = (queue: RequestQueue, ...objects: readonly T[]): void | Promise<void> => {
    const answers = objects.map(requestsOf)
    const known = new Set<string>()
    const add = (requests: Iterable<Request>): void => {
      for (const request of requests) {
        const key = keyOfRequest(request)
        if (known.has(key)) continue
        known.add(key)
        queue.add(request)
      }
    }
    if (!answers.some((answer) => answer instanceof Promise)) {
      for (const answer of answers) add(answer as Iterable<Request>)
      return undefined
    }
    return Promise.all(answers).then((all) => all.forEach(add))
  }
  return {
    create: ({ object }, queue) => enqueue(queue, object),
    update: ({ previous, object }, queue) => enqueue(queue, previous, object),
    delete: ({ object }, queue) => enqueue(queue, object),
    generic: ({ object }, queue) => enqueue(queue, object),
  }
}

interface OwnerOptions {
  /** All owners of the type, not only the controlling one. */
  readonly everyOwner?: boolean
}

/** The owner of type `owner`, found by group and kind: the version in a reference may be an older one. */
export function enqueueOwner(owner: ResourceType, options: OwnerOptions = {}): WatchHandler {
  return enqueueMapped((object) => ownersOf(object, owner, options))
}

function ownersOf(
  object: KubernetesObject,
  owner: ResourceType,
  { everyOwner = false }: OwnerOptions,
): Request[] {
  const namespace = owner.namespaced ? (object.metadata?.namespace ?? '') : ''
  return (object.metadata?.ownerReferences ?? [])
    .filter((reference) => everyOwner || reference.controller === true)
    .filter(({ apiVersion, kind }) => kind === owner.kind && groupOf(apiVersion) === owner.group)
    .map(({ name }) => ({ namespace, name }))
}
