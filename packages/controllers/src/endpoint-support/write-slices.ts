/**
 * Writes of EndpointSlices, in order.
 * Contract: docs/behaviour/controllers/endpointslice-controller.md, Sync E, and
 * docs/behaviour/controllers/endpointslice-mirroring-controller.md, Sync 13 and 14.
 */
import { resources } from '@gyropilot/api'
import type { EndpointSlice } from '@gyropilot/api'
import { hasCause } from '@gyropilot/client'
import { create, remove, update, write } from '@gyropilot/runtime'
import type { Reconcile } from '@gyropilot/runtime'
import { messageOf } from '../workload-support/aggregate-error.ts'
import type { SliceTracker } from './slice-tracker.ts'

export interface SliceWrites {
  readonly create: readonly EndpointSlice[]
  readonly update: readonly EndpointSlice[]
  readonly remove: readonly EndpointSlice[]
}

interface SliceWriteContext {
  /** Whom the slices are for, in errors: `Service ns/name`. */
  readonly owner: string
  /** The owner is on its way out: nothing new is created. */
  readonly ownerIsDeleting: boolean
  readonly tracker: SliceTracker
  onWritten(operation: 'create' | 'update' | 'delete'): void
}

export interface Written {
  /** The first error; nothing was written after it. */
  readonly error?: unknown
  /** How many slices were to be written; absent when not all of them were. */
  readonly changed?: number
}

/** Creates, then updates, then deletes. A create that a terminating namespace refuses ends it without error. */
export function* writeSlices(writes: SliceWrites, context: SliceWriteContext): Reconcile<Written> {
  const { owner, tracker, onWritten } = context
  const failed = (what: string, error: unknown): Written => ({
    error: new Error(`failed to ${what} for ${owner}: ${messageOf(error)}`, { cause: error }),
  })
  // The garbage collector is about to remove them all: a new one would be left behind.
  for (const slice of context.ownerIsDeleting ? [] : writes.create) {
    const created = yield* write(create(resources.endpointslices, sent(slice)))
    if (!created.ok) {
      if (hasCause(created.error, 'NamespaceTerminating')) return {}
      return failed('create EndpointSlice', created.error)
    }
    tracker.written(created.object)
    onWritten('create')
  }
  for (const slice of writes.update) {
    const updated = yield* write(update(resources.endpointslices, sent(slice)))
    if (!updated.ok) return failed(`update ${slice.metadata?.name} EndpointSlice`, updated.error)
    tracker.written(updated.object)
    onWritten('update')
  }
  for (const slice of writes.remove) {
    const removed = yield* write(remove(resources.endpointslices, slice))
    if (!removed.ok) return failed(`delete ${slice.metadata?.name} EndpointSlice`, removed.error)
    tracker.deleted(slice)
    onWritten('delete')
  }
  return { changed: writes.create.length + writes.update.length + writes.remove.length }
}

/** Lists without anything in them are left out, as in upstream's bodies: who sends them owns them in managedFields. */
function sent(slice: EndpointSlice): EndpointSlice {
  const { endpoints, ports, ...others } = slice
  return {
    ...others,
    ...(endpoints?.length ? { endpoints } : {}),
    ...(ports?.length ? { ports } : {}),
  }
}

/**
 * One write in place of two: a slice that would go takes in the content of one of its address type
 * that would come.
 */
export function recycled(
  writes: SliceWrites,
  isReusable: (slice: EndpointSlice) => boolean = () => true,
): SliceWrites {
  const creations = [...writes.create]
  const updates = [...writes.update]
  const removals: EndpointSlice[] = []
  for (const slice of writes.remove) {
    const index = creations.findLastIndex(({ addressType }) => addressType === slice.addressType)
    if (index < 0 || !isReusable(slice)) {
      removals.push(slice)
      continue
    }
    const [next] = creations.splice(index, 1)
    updates.push({ ...next!, metadata: { ...next!.metadata, name: slice.metadata?.name } })
  }
  return { create: creations, update: updates, remove: removals }
}
