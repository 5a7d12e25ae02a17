/**
 * Which Services a pod event concerns.
 * Contract: docs/behaviour/controllers/endpoints-controller.md, Watches and keys.
 */
import {
  LabelQuery,
  deepEqual,
  isPodReady,
  keyOf,
  labelQueryOfLabels,
  resources,
} from '@gyropilot/api'
import type { Pod, Service } from '@gyropilot/api'
import { compareStrings } from '@gyropilot/foundation'
import { DeletedFinalStateUnknown } from '@gyropilot/runtime'
import type { IndexFunction, Informer, Lister, QueueKey, Watch } from '@gyropilot/runtime'
import { labelIndexValue, podLabelIndexValues } from '../workload-support/pod-label-index.ts'

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

/**
 * The index of Services by one label of their selector, the first by key: `ns/key=value`, or `ns` of
 * an empty selector. A pod that a Service selects has that label.
 */
const SERVICE_SELECTOR_INDEX = 'serviceSelector'

const serviceSelectorIndexValues: IndexFunction<Service> = ({ metadata, spec }) => {
  const selector = spec?.selector
  if (selector === undefined || selector === null) return []
  const namespace = metadata?.namespace ?? ''
  const [first] = Object.keys(selector).toSorted(compareStrings)
  return [first === undefined ? namespace : labelIndexValue(namespace, first, selector[first]!)]
}

/** Registering it again is fine. */
export function addServiceSelectorIndex(services: Informer<Service>): void {
  services.addIndex(SERVICE_SELECTOR_INDEX, serviceSelectorIndexValues)
}

/** An empty selector selects every pod of the namespace, an absent one none. */
function servicesSelecting(services: Lister<Service>, pod: Pod): ReadonlySet<string> {
  const keys = new Set<string>()
  const namespace = pod.metadata?.namespace ?? ''
  if (services.count(namespace) === 0) return keys
  for (const value of [...podLabelIndexValues(pod), namespace]) {
    for (const service of services.byIndex(SERVICE_SELECTOR_INDEX, value)) {
      if (serviceQuery(service).matches(pod.metadata?.labels)) keys.add(keyOf(service))
    }
  }
  return keys
}

type Selector = Readonly<Record<string, string>>

/** Selectors in caches are shared and never edited, so what was made of them stays true. */
const queries = new WeakMap<Selector, LabelQuery>()

/** An absent selector accepts nothing, `{}` everything. */
export function serviceQuery({ spec }: Service): LabelQuery {
  const selector = spec?.selector
  if (selector === undefined || selector === null) return LabelQuery.nothing
  let query = queries.get(selector)
  if (query === undefined) queries.set(selector, (query = labelQueryOfLabels(selector)))
  return query
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
  // Another pod under the same name, seen as one change: with the address of the node it may look the same.
  if (previous.metadata?.uid !== current.metadata?.uid) return true
  // On its way out every word counts: it may have ended, which readiness does not say of what never was ready. That the end of such a
  // pod that is not on its way out concerns nobody is upstream's, and recorded.
  if (previous.metadata?.deletionTimestamp || current.metadata?.deletionTimestamp) return true
  if (isPodReady(previous) !== isPodReady(current)) return true
  const [before, now] = [previous.status?.podIPs ?? [], current.status?.podIPs ?? []]
  return before.length !== now.length || before.some(({ ip }, index) => ip !== now[index]?.ip)
}

/** Upstream asks for hostname and subdomain too, to no effect: the same Services select the pod before and after. */
function selectionChanged(previous: Pod, current: Pod): boolean {
  return !deepEqual(previous.metadata?.labels ?? {}, current.metadata?.labels ?? {})
}
