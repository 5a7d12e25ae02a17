/**
 * One sync of a Service. Step numbers are those of
 * docs/behaviour/controllers/endpoints-controller.md; listing (3) is in what was observed and cannot
 * fail.
 */
import { resources } from '@gyropilot/api'
import type { Endpoints, Service } from '@gyropilot/api'
import { hasCause, isAlreadyExists, isNotFound, isTimeout, statusErrorIn } from '@gyropilot/client'
import { create, recordEvent, remove, update, write } from '@gyropilot/runtime'
import type { Reconcile } from '@gyropilot/runtime'
import type { TriggerTimes } from '../endpoint-support/trigger-times.ts'
import { messageOf } from '../workload-support/aggregate-error.ts'
import { desiredSubsets } from './desired-subsets.ts'
import { endpointsOf, isCurrent } from './endpoints-object.ts'
import type { ObservedEndpoints } from './observe.ts'
import type { ReplacedVersions } from './replaced-versions.ts'

/** What this process remembers between syncs. */
export interface EndpointsMemory {
  readonly triggerTimes: TriggerTimes
  readonly replaced: ReplacedVersions
  /** Keys of what was created here, or may have been, and not seen in the cache yet. */
  readonly created: Set<string>
}

export function* reconcile(observed: ObservedEndpoints, memory: EndpointsMemory): Reconcile {
  const { key, service, endpoints } = observed
  // 1.
  if (service === undefined) return yield* removeLeftOver(observed, memory)
  // 2.
  const { type, selector } = service.spec ?? {}
  if (type === 'ExternalName' || selector === undefined || selector === null) return
  // 3. Also when nothing will be written: the times count as passed on.
  const pods = observed.pods()
  const triggerTime = memory.triggerTimes.next(service, pods)
  // 4 to 9.
  const subsets = desiredSubsets(service, pods)
  // 10.
  if (endpoints !== undefined && memory.replaced.isStale(endpoints)) {
    const version = endpoints.metadata?.resourceVersion
    return {
      error: new Error(
        `endpoints informer cache is out of date, resource version ${version} already processed for endpoints ${key}`,
      ),
    }
  }
  if (endpoints !== undefined) memory.created.delete(key)
  // 11, 12.
  if (endpoints !== undefined && isCurrent(endpoints, service, subsets)) return
  // 13, 14.
  const next = endpointsOf(endpoints, service, subsets, triggerTime)
  // 15.
  return endpoints === undefined
    ? yield* createNew(service, next, key, memory)
    : yield* replace(endpoints, next, memory)
}

/**
 * Of what the cache shows that object alone: made anew meanwhile, with its Service or by hand for it, it is not left over, and who
 * made it would not do so again. What the cache does not show is left over only if it was created here.
 */
function* removeLeftOver(
  { key, namespace, name, endpoints }: ObservedEndpoints,
  memory: EndpointsMemory,
): Reconcile {
  if (endpoints !== undefined || memory.created.has(key)) {
    const uid = endpoints?.metadata?.uid
    const options = uid === undefined ? undefined : { preconditions: { uid } }
    const target = { metadata: { namespace, name } }
    const removed = yield* write(remove(resources.endpoints, target, options))
    if (!removed.ok && !isNotFound(removed.error)) return { error: removed.error }
  }
  memory.triggerTimes.forget(key)
  memory.replaced.forget(key)
  memory.created.delete(key)
  return
}

function* createNew(
  { metadata }: Service,
  next: Endpoints,
  key: string,
  memory: EndpointsMemory,
): Reconcile {
  const created = yield* write(create(resources.endpoints, next))
  if (created.ok) {
    memory.created.add(key)
    return
  }
  const { error } = created
  // The cache is behind: nothing went wrong, and it is looked at again.
  if (isAlreadyExists(error) && memory.created.has(key)) return { error }
  // Without an answer it may have been done.
  if (statusErrorIn(error) === undefined || isTimeout(error)) memory.created.add(key)
  // The namespace is being emptied: nothing to report, nothing to repeat.
  if (hasCause(error, 'NamespaceTerminating')) return
  const message = `Failed to create endpoint for service ${metadata?.namespace}/${metadata?.name}: ${messageOf(error)}`
  yield* recordEvent(next, 'Warning', 'FailedToCreateEndpoint', message)
  return { error }
}

function* replace(previous: Endpoints, next: Endpoints, memory: EndpointsMemory): Reconcile {
  const updated = yield* write(update(resources.endpoints, next))
  if (updated.ok) {
    memory.replaced.written(previous, updated.object)
    return
  }
  const { error } = updated
  const { namespace, name } = next.metadata ?? {}
  const message = `Failed to update endpoint ${namespace}/${name}: ${messageOf(error)}`
  yield* recordEvent(next, 'Warning', 'FailedToUpdateEndpoint', message)
  return { error }
}
