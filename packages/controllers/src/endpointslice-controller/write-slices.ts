/**
 * Carries out a plan.
 * Contract: docs/behaviour/controllers/endpointslice-controller.md, Sync E.
 */
import { resources } from '@gyropilot/api'
import type { EndpointSlice, Service } from '@gyropilot/api'
import { hasCause } from '@gyropilot/client'
import { create, remove, update, write } from '@gyropilot/runtime'
import type { Reconcile } from '@gyropilot/runtime'
import type { SliceTracker } from '../endpoint-support/slice-tracker.ts'
import { withTriggerTime } from '../endpoint-support/trigger-times.ts'
import { messageOf } from '../workload-support/aggregate-error.ts'
import type { SliceMetrics } from './metrics.ts'
import type { SlicePlan } from './packing.ts'
import { isOwnedByService } from './slice-object.ts'

export interface WriteContext {
  readonly service: Service
  readonly triggerTime: string | undefined
  readonly tracker: SliceTracker
  readonly metrics: SliceMetrics
}

type Writes = Omit<SlicePlan, 'unchanged'>

export interface Written {
  /** The first error; nothing was written after it. */
  readonly error?: unknown
  /** How many slices were to be written; absent when not all of them were. */
  readonly changed?: number
}

export function* writeSlices(plan: SlicePlan, context: WriteContext): Reconcile<Written> {
  const { service, triggerTime, tracker, metrics } = context
  const { namespace, name } = service.metadata ?? {}
  const failed = (what: string, error: unknown): Written => ({
    error: new Error(`failed to ${what} for Service ${namespace}/${name}: ${messageOf(error)}`, {
      cause: error,
    }),
  })
  // 1.
  const writes = recycled(plan, service)
  // 2. The garbage collector is about to remove them all: a new one would be left behind.
  const creations = service.metadata?.deletionTimestamp ? [] : writes.create
  for (const slice of creations) {
    const created = yield* write(create(resources.endpointslices, stampedWith(slice, triggerTime)))
    if (!created.ok) {
      if (hasCause(created.error, 'NamespaceTerminating')) return {}
      return failed('create EndpointSlice', created.error)
    }
    tracker.written(created.object)
    metrics.written('create')
  }
  // 3.
  for (const slice of writes.update) {
    const updated = yield* write(update(resources.endpointslices, stampedWith(slice, triggerTime)))
    if (!updated.ok) return failed(`update ${slice.metadata?.name} EndpointSlice`, updated.error)
    tracker.written(updated.object)
    metrics.written('update')
  }
  // 4.
  for (const slice of writes.remove) {
    const removed = yield* write(remove(resources.endpointslices, slice))
    if (!removed.ok) return failed(`delete ${slice.metadata?.name} EndpointSlice`, removed.error)
    tracker.deleted(slice)
    metrics.written('delete')
  }
  return { changed: writes.create.length + writes.update.length + writes.remove.length }
}

/** One write in place of two: a slice that would go takes in the content of one that would come. */
function recycled(plan: SlicePlan, service: Service): Writes {
  const creations = [...plan.create]
  const updates = [...plan.update]
  const removals: EndpointSlice[] = []
  for (const slice of plan.remove) {
    const next = creations.at(-1)
    const fits =
      next !== undefined &&
      next.addressType === slice.addressType &&
      isOwnedByService(slice, service)
    if (!fits) {
      removals.push(slice)
      continue
    }
    creations.pop()
    updates.push({ ...next, metadata: { ...next.metadata, name: slice.metadata?.name } })
  }
  return { create: creations, update: updates, remove: removals }
}

function stampedWith(slice: EndpointSlice, triggerTime: string | undefined): EndpointSlice {
  const annotations = withTriggerTime(slice.metadata?.annotations, triggerTime)
  return { ...slice, metadata: { ...slice.metadata, annotations } }
}
