/**
 * One sync of a Service. Step numbers are those of
 * docs/behaviour/controllers/endpointslice-controller.md; step 1 is `forgetService`, listing (3) is
 * in what was observed and cannot fail.
 */
import { resources } from '@gyropilot/api'
import type { EndpointSlice, Service } from '@gyropilot/api'
import { recordEvent, remove, write } from '@gyropilot/runtime'
import type { Reconcile, Verdict } from '@gyropilot/runtime'
import { declaredFamilies } from '../endpoint-support/ip-address.ts'
import type { IpFamily } from '../endpoint-support/ip-address.ts'
import type { SliceTracker } from '../endpoint-support/slice-tracker.ts'
import type { TriggerTimes } from '../endpoint-support/trigger-times.ts'
import { recycled, writeSlices } from '../endpoint-support/write-slices.ts'
import type { Written } from '../endpoint-support/write-slices.ts'
import { aggregateErrors, messageOf } from '../workload-support/aggregate-error.ts'
import { desiredEndpoints } from './desired-endpoints.ts'
import { hintedPlan, wantsTopologyHints } from './hints.ts'
import type { SliceMetrics } from './metrics.ts'
import type { SlicePlan } from './packing.ts'
import type { ObservedService } from './observe.ts'
import { planSlices } from './plan-slices.ts'
import type { Topology } from './topology.ts'
import { isOwnedByService, stampedWith } from './slice-object.ts'

/** What this process remembers between syncs. */
export interface SliceMemory {
  readonly tracker: SliceTracker
  readonly triggerTimes: TriggerTimes
  readonly topology: Topology
  readonly metrics: SliceMetrics
}

interface SliceSettings {
  readonly maxEndpointsPerSlice: number
}

/** A sync would work with slices of the past. */
class StaleSlicesError extends Error {
  constructor() {
    super('EndpointSlice informer cache is out of date')
    this.name = 'StaleSlicesError'
  }
}

export function* reconcile(
  observed: ObservedService,
  memory: SliceMemory,
  settings: SliceSettings,
): Reconcile<Verdict> {
  const error = yield* sync(observed, memory, settings)
  const isStale = error instanceof StaleSlicesError
  memory.metrics.synced(error === undefined ? 'success' : isStale ? 'stale' : 'error')
  return { error }
}

/** 1. The slices go by their owner reference. */
export function forgetService(key: string, memory: SliceMemory): void {
  memory.triggerTimes.forget(key)
  memory.tracker.forget(key)
  memory.topology.forget(key)
  memory.metrics.forget(key)
  memory.metrics.synced('success')
}

function* sync(
  observed: ObservedService,
  memory: SliceMemory,
  settings: SliceSettings,
): Reconcile<unknown> {
  const { key, service, pods, slices } = observed
  // 2.
  const { type, selector } = service.spec ?? {}
  if (type === 'ExternalName' || selector === undefined || selector === null) return undefined
  // 4.
  const current = slices.filter(({ metadata }) => !metadata?.deletionTimestamp)
  // 5.
  if (memory.tracker.isStale(key, current, slices)) return new StaleSlicesError()
  // 6. Also when nothing will be written: the times count as passed on.
  const triggerTime = memory.triggerTimes.next(service, pods)
  // 7.
  const families = addressTypesOf(service)
  const byType = Map.groupBy(current, ({ addressType }) => addressType)
  // 9.
  const errors: unknown[] = []
  for (const family of families) {
    const ofFamily = { family, slices: byType.get(family) ?? [], triggerTime }
    errors.push(...(yield* syncAddressType(ofFamily, observed, memory, settings)))
  }
  // 8.
  const unsupported = current.filter(
    ({ addressType }) => !families.some((family) => family === addressType),
  )
  errors.push(...(yield* removeUnsupported(unsupported, observed, memory)))
  if (errors.length === 0) return undefined
  const error = aggregateErrors(errors)
  const { namespace, name } = service.metadata ?? {}
  const message = `Error updating Endpoint Slices for Service ${namespace}/${name}: ${messageOf(error)}`
  yield* recordEvent(service, 'Warning', 'FailedToUpdateEndpointSlices', message)
  return error
}

/** A headless Service without declared families may have pods of either. */
function addressTypesOf(service: Service): readonly IpFamily[] {
  const families = declaredFamilies(service)
  return families.length > 0 ? families : ['IPv4', 'IPv6']
}

interface AddressTypeSync {
  readonly family: IpFamily
  readonly slices: readonly EndpointSlice[]
  readonly triggerTime: string | undefined
}

function* syncAddressType(
  { family, slices, triggerTime }: AddressTypeSync,
  { key, service, pods, nodeNamed }: ObservedService,
  { tracker, topology, metrics }: SliceMemory,
  { maxEndpointsPerSlice }: SliceSettings,
): Reconcile<readonly unknown[]> {
  // A.
  const desired = desiredEndpoints(service, pods, nodeNamed, family)
  // B, C.
  const packed = planSlices(service, family, slices, desired.groups, maxEndpointsPerSlice)
  metrics.packed(packed.added, packed.removed)
  metrics.setCounts(key, family, packed.groups)
  // D.
  const isTopology = wantsTopologyHints(service)
  const distribution = isTopology ? undefined : service.spec?.trafficDistribution
  metrics.setDistribution(key, distribution)
  const { plan, events } = hintedPlan(service, family, packed.plan, topology)
  // E.
  const written = yield* writePlan(plan, service, triggerTime, { tracker, metrics })
  if (written.changed !== undefined) metrics.changed(written.changed, isTopology, distribution)
  // F.
  for (const { type, reason, message } of events) {
    yield* recordEvent(service, type, reason, message)
  }
  return written.error === undefined ? desired.errors : [...desired.errors, written.error]
}

function* writePlan(
  plan: SlicePlan,
  service: Service,
  triggerTime: string | undefined,
  { tracker, metrics }: Pick<SliceMemory, 'tracker' | 'metrics'>,
): Reconcile<Written> {
  const { namespace, name, deletionTimestamp } = service.metadata ?? {}
  const writes = recycled(plan, (slice) => isOwnedByService(slice, service))
  const stamped = (slice: EndpointSlice): EndpointSlice => stampedWith(slice, triggerTime)
  return yield* writeSlices(
    { ...writes, create: writes.create.map(stamped), update: writes.update.map(stamped) },
    {
      owner: `Service ${namespace}/${name}`,
      ownerIsDeleting: Boolean(deletionTimestamp),
      tracker,
      onWritten: (operation) => metrics.written(operation),
    },
  )
}

function* removeUnsupported(
  slices: readonly EndpointSlice[],
  { key, service }: ObservedService,
  { tracker, topology, metrics }: SliceMemory,
): Reconcile<readonly unknown[]> {
  const errors: unknown[] = []
  const { namespace, name } = service.metadata ?? {}
  for (const slice of slices) {
    topology.removeHints(key, slice.addressType)
    metrics.forgetFamily(key, slice.addressType)
    const removed = yield* write(remove(resources.endpointslices, slice))
    if (removed.ok) {
      tracker.deleted(slice)
      metrics.written('delete')
    } else {
      const text = `error deleting ${slice.metadata?.name} EndpointSlice for Service ${namespace}/${name}: ${messageOf(removed.error)}`
      errors.push(new Error(text, { cause: removed.error }))
    }
  }
  return errors
}
