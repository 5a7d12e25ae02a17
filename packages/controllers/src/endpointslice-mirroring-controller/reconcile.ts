/**
 * One sync of the mirror of Endpoints. Step numbers are those of
 * docs/behaviour/controllers/endpointslice-mirroring-controller.md; listing (2) is in what was
 * observed.
 */
import { resources } from '@gyropilot/api'
import type { EndpointSlice, Endpoints } from '@gyropilot/api'
import { recordEvent, remove, writeAll } from '@gyropilot/runtime'
import type { Reconcile } from '@gyropilot/runtime'
import type { SliceTracker } from '../endpoint-support/slice-tracker.ts'
import { writeSlices } from '../endpoint-support/write-slices.ts'
import { messageOf } from '../workload-support/aggregate-error.ts'
import { desiredMirrors } from './desired-mirrors.ts'
import type { DesiredMirrors } from './desired-mirrors.ts'
import type { MirroringMetrics } from './metrics.ts'
import { hasSelector, isMirrorable } from './mirrorable.ts'
import type { ObservedMirror } from './observe.ts'
import { planMirrors } from './plan-mirrors.ts'

/** What this process remembers between syncs. */
export interface MirrorMemory {
  readonly tracker: SliceTracker
  readonly metrics: MirroringMetrics
}

export function* reconcile(
  observed: ObservedMirror,
  memory: MirrorMemory,
  maxEndpointsPerSubset: number,
): Reconcile {
  const { key, endpoints, service, slices } = observed
  const { tracker, metrics } = memory
  // 1.
  const isMirrored =
    endpoints !== undefined &&
    isMirrorable(endpoints) &&
    service !== undefined &&
    !hasSelector(service)
  if (!isMirrored) {
    tracker.forget(key)
    metrics.forget(key)
    return yield* removeAll(key, slices, metrics)
  }
  // 3.
  if (tracker.isStale(key, slices))
    return { error: new Error('EndpointSlice informer cache is out of date') }
  // 4 to 7.
  const desired = desiredMirrors(endpoints, maxEndpointsPerSubset)
  yield* tellSkipped(endpoints, desired, maxEndpointsPerSubset)
  // 8 to 13.
  const plan = planMirrors(endpoints, desired.mirrors, slices)
  for (const slice of plan.unchanged) tracker.written(slice)
  metrics.synced(key, plan, desired.skipped)
  // 14.
  const { error } = yield* writeSlices(plan.writes, {
    owner: `Endpoints ${key}`,
    ownerIsDeleting: Boolean(endpoints.metadata?.deletionTimestamp),
    tracker,
    onWritten: (operation) => metrics.written(operation),
  })
  return error === undefined ? undefined : { error }
}

/** All are tried, whatever becomes of the first. */
function* removeAll(
  key: string,
  slices: readonly EndpointSlice[],
  metrics: MirroringMetrics,
): Reconcile {
  const removals = slices.map((slice) => remove(resources.endpointslices, slice))
  const errors: unknown[] = []
  for (const outcome of yield* writeAll(removals, 'parallel')) {
    if (outcome.ok) metrics.written('delete')
    else errors.push(outcome.error)
  }
  if (errors.length === 0) return
  const count = `${errors.length}/${slices.length}`
  const text = `error(s) deleting ${count} EndpointSlices for ${key} Endpoints, including: ${messageOf(errors[0])}`
  return { error: new Error(text, { cause: errors[0] }) }
}

/** At every sync that leaves something out. */
function* tellSkipped(
  endpoints: Endpoints,
  { invalid, skipped }: DesiredMirrors,
  max: number,
): Reconcile<void> {
  if (invalid > 0) {
    const text = `Skipped ${invalid} invalid IP addresses when mirroring to EndpointSlices`
    yield* recordEvent(endpoints, 'Warning', 'InvalidIPAddress', text)
  }
  if (skipped > invalid) {
    const text = `A max of ${max} addresses can be mirrored to EndpointSlices per Endpoints subset. ${skipped} addresses were skipped`
    yield* recordEvent(endpoints, 'Warning', 'TooManyAddressesToMirror', text)
  }
}
