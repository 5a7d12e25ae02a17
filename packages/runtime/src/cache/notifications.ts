import type { KubernetesObject } from '@gyropilot/api'
import { keyOf } from '@gyropilot/api'
import { DeletedFinalStateUnknown } from '../informer.ts'
import type { ObjectTable } from './object-table.ts'

/** One object of these, and one list of what comes together, is shared by the buffers of all handlers. */
export type Notification<T extends KubernetesObject> =
  | { readonly kind: 'add'; readonly object: T; readonly isInInitialList: boolean }
  | { readonly kind: 'update'; readonly previous: T; readonly object: T }
  | { readonly kind: 'delete'; readonly object: T | DeletedFinalStateUnknown<T> }

/** Objects looked at between two pauses. */
const OBJECTS_PER_PIECE = 64

/** What a list in the place of `before` has to tell, in pieces of some microseconds: first what it has no more. A piece may be empty. */
export function* notificationsOfList<T extends KubernetesObject>(
  before: ObjectTable<T>,
  objects: ObjectTable<T>,
  isInInitialList: boolean,
): Generator<readonly Notification<T>[]> {
  let looked = 0
  let piece: Notification<T>[] = []
  for (const object of before) {
    if (objects.counterpartOf(object) === undefined) {
      const tombstone = new DeletedFinalStateUnknown(keyOf(object), object)
      piece.push({ kind: 'delete', object: tombstone })
    }
    if (++looked % OBJECTS_PER_PIECE !== 0) continue
    yield piece
    piece = []
  }
  for (const object of objects) {
    const previous = before.counterpartOf(object)
    piece.push(
      previous === undefined
        ? { kind: 'add', object, isInInitialList }
        : { kind: 'update', previous, object },
    )
    if (++looked % OBJECTS_PER_PIECE !== 0) continue
    yield piece
    piece = []
  }
  yield piece
}

/** Everything is as it was: what a resync tells, in pieces. */
export function* notificationsOfResync<T extends KubernetesObject>(
  objects: readonly T[],
): Generator<readonly Notification<T>[]> {
  for (let looked = 0; looked < objects.length; looked += OBJECTS_PER_PIECE) {
    const piece = objects.slice(looked, looked + OBJECTS_PER_PIECE)
    yield piece.map((object) => ({ kind: 'update', previous: object, object }))
  }
}

export function isInitial<T extends KubernetesObject>(notification: Notification<T>): boolean {
  return notification.kind === 'add' && notification.isInInitialList
}

/** An update between equal resourceVersions says nothing new. */
export function isResync<T extends KubernetesObject>(notification: Notification<T>): boolean {
  return (
    notification.kind === 'update' &&
    notification.previous.metadata?.resourceVersion ===
      notification.object.metadata?.resourceVersion
  )
}

/** Objects that handlers were not given before. */
export function newObjects<T extends KubernetesObject>(
  notifications: readonly Notification<T>[],
): readonly T[] {
  return notifications.flatMap((notification) =>
    notification.kind === 'add' ||
    (notification.kind === 'update' && notification.previous !== notification.object)
      ? [notification.object]
      : [],
  )
}
