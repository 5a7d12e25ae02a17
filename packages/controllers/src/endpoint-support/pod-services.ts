/**
 * Which Services a pod event concerns.
 * Contract: docs/behaviour/controllers/endpoints-controller.md, Watches and keys.
 */
import { deepEqual, isPodReady, keyOf, labelQueryOfLabels, resources } from '@gyropilot/api'
import type { LabelQuery, Pod, Service } from '@gyropilot/api'
import { DeletedFinalStateUnknown } from '@gyropilot/runtime'
import type { Lister, QueueKey, Watch } from '@gyropilot/runtime'

/** Keys of the Services whose pods' endpoints may change, each after `delayMs`. */
export function podWatch(services: Lister<Service>, delayMs: number): Watch<Pod> {
  const later = (keys: Iterable<string>): readonly QueueKey[] =>
    [...keys].map((key) => ({ key, afterMs: delayMs }))
  return {
    type: resources.pods,
    onAdd: (pod) => later(servicesSelecting(services, pod)),
    onUpdate: (previous, current) => later(servicesOfChange(services, previous, current)),
    onDelete: (pod) =>
      pod instanceof DeletedFinalStateUnknown ? [] : later(servicesSelecting(services, pod)),
  }
}

/** An empty selector selects every pod of the namespace, an absent one none. */
export function servicesSelecting(services: Lister<Service>, pod: Pod): ReadonlySet<string> {
  const keys = new Set<string>()
  for (const service of services.list(pod.metadata?.namespace)) {
    if (selectsPod(service, pod)) keys.add(keyOf(service))
  }
  return keys
}

/** Services in caches are shared and never edited, so their selectors stay true. */
const selectors = new WeakMap<Service, LabelQuery>()

export function selectsPod(service: Service, pod: Pod): boolean {
  const selector = service.spec?.selector
  if (selector === undefined || selector === null) return false
  let query = selectors.get(service)
  if (query === undefined) selectors.set(service, (query = labelQueryOfLabels(selector)))
  return query.matches(pod.metadata?.labels)
}

function servicesOfChange(
  services: Lister<Service>,
  previous: Pod,
  current: Pod,
): ReadonlySet<string> {
  if (previous.metadata?.resourceVersion === current.metadata?.resourceVersion) return new Set()
  const podChanged = endpointChanged(previous, current)
  const labelsChanged = selectionChanged(previous, current)
  if (!podChanged && !labelsChanged) return new Set()
  const now = servicesSelecting(services, current)
  if (!labelsChanged) return now
  const before = servicesSelecting(services, previous)
  return podChanged ? now.union(before) : now.symmetricDifference(before)
}

function endpointChanged(previous: Pod, current: Pod): boolean {
  const isDeleting = ({ metadata }: Pod): boolean => Boolean(metadata?.deletionTimestamp)
  if (isDeleting(previous) !== isDeleting(current)) return true
  if (isPodReady(previous) !== isPodReady(current)) return true
  const [before, now] = [previous.status?.podIPs ?? [], current.status?.podIPs ?? []]
  return before.length !== now.length || before.some(({ ip }, index) => ip !== now[index]?.ip)
}

function selectionChanged(previous: Pod, current: Pod): boolean {
  if (!deepEqual(previous.metadata?.labels ?? {}, current.metadata?.labels ?? {})) return true
  return (
    (previous.spec?.hostname ?? '') !== (current.spec?.hostname ?? '') ||
    (previous.spec?.subdomain ?? '') !== (current.spec?.subdomain ?? '')
  )
}
