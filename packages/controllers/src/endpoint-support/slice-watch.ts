/**
 * Which Services an event of an EndpointSlice concerns.
 * Contract: docs/behaviour/controllers/endpointslice-controller.md, Watches and keys.
 */
import { resources } from '@gyropilot/api'
import type { EndpointSlice } from '@gyropilot/api'
import { DeletedFinalStateUnknown } from '@gyropilot/runtime'
import type { QueueKey, Watch } from '@gyropilot/runtime'
import { SERVICE_NAME_LABEL, isManagedBy, serviceKeyOf } from './slice-labels.ts'
import type { SliceTracker } from './slice-tracker.ts'

interface SliceWatchOptions {
  /** The value of the managed-by label of this controller's slices. */
  readonly manager: string
  readonly tracker: SliceTracker
  readonly delayMs: number
}

/** What others do to slices of this manager. Own writes, as the tracker knows them, concern nobody. */
export function sliceWatch({ manager, tracker, delayMs }: SliceWatchOptions): Watch<EndpointSlice> {
  const serviceOf = (slice: EndpointSlice): readonly QueueKey[] => {
    const key = serviceKeyOf(slice)
    return key === undefined ? [] : [{ key, afterMs: delayMs }]
  }
  const isManaged = (slice: EndpointSlice): boolean => isManagedBy(slice, manager)
  return {
    type: resources.endpointslices,
    onAdd: (slice) => (isManaged(slice) && tracker.isForeignChange(slice) ? serviceOf(slice) : []),
    onUpdate(previous, current) {
      const nameOf = ({ metadata }: EndpointSlice): string =>
        metadata?.labels?.[SERVICE_NAME_LABEL] ?? ''
      if (nameOf(previous) !== nameOf(current))
        return [...serviceOf(current), ...serviceOf(previous)]
      const concerns =
        isManaged(previous) !== isManaged(current) ||
        (isManaged(current) && tracker.isForeignChange(current))
      return concerns ? serviceOf(current) : []
    },
    onDelete(slice) {
      if (slice instanceof DeletedFinalStateUnknown) return []
      return isManaged(slice) && tracker.isForeignDeletion(slice) ? serviceOf(slice) : []
    },
  }
}
