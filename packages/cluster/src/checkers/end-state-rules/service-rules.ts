/**
 * What must hold of ReplicationControllers, Endpoints, mirrored slices and budgets once all is quiet. Written from the
 * behaviour pages and not from the controllers.
 */
import {
  controllerOf,
  isPodActive,
  isPodFinished,
  isPodReady,
  labelQueryOf,
  labelQueryOfLabels,
  resources,
} from '@gyropilot/api'
import type {
  EndpointSlice,
  Endpoints,
  KubernetesObject,
  Pod,
  PodDisruptionBudget,
  ReplicationController,
  Service,
} from '@gyropilot/api'
import type { Objects } from '../../simulated/objects.ts'

const MIRROR = 'endpointslicemirroring-controller.k8s.io'

function nameOf({ kind, metadata }: KubernetesObject): string {
  return `${kind} ${metadata?.namespace}/${metadata?.name}`
}

/** The pods that it asks for, and a status that says so. */
export function* replicationControllers(objects: Objects): Iterable<string> {
  for (const found of objects.all(resources.replicationcontrollers)) {
    const owner: ReplicationController = found
    const pods = objects
      .all(resources.pods, owner.metadata?.namespace)
      .filter((pod) => isPodActive(pod) && controllerOf(pod)?.uid === owner.metadata?.uid)
    const { replicas = 0, readyReplicas = 0, observedGeneration = 0 } = owner.status ?? {}
    const wanted = owner.spec?.replicas ?? 1
    const ready = pods.filter(isPodReady).length
    if (pods.length !== wanted)
      yield `${nameOf(owner)} asks for ${wanted} pods and has ${pods.length}`
    if (replicas !== pods.length || readyReplicas !== ready)
      yield `${nameOf(owner)} says ${replicas} pods, ${readyReplicas} ready; there are ${pods.length}, ${ready} ready`
    if (observedGeneration !== owner.metadata?.generation)
      yield `${nameOf(owner)} observed generation ${observedGeneration}, it is ${owner.metadata?.generation}`
  }
}

/** Slices with endpoints have the ports of their Service; here target ports are numbers or left out. */
export function* slicePorts(objects: Objects): Iterable<string> {
  for (const slice of objects.all(resources.endpointslices)) {
    const { labels = {}, namespace } = slice.metadata ?? {}
    if (labels['endpointslice.kubernetes.io/managed-by'] !== 'endpointslice-controller.k8s.io')
      continue
    const name = labels['kubernetes.io/service-name'] ?? ''
    const service = objects.find(resources.services, namespace, name)
    const isShown = service?.spec?.selector != null && service.spec.type !== 'ExternalName'
    if (!isShown || (slice.endpoints ?? []).length === 0) continue
    const wanted = portsText(
      service.spec?.ports?.map((each) => ({ ...each, port: each.targetPort ?? each.port })),
    )
    const found = portsText(slice.ports)
    if (found !== wanted) yield `${nameOf(slice)} has the ports ${found}, its Service ${wanted}`
  }
}

const portsText = (ports: readonly { name?: string; port?: number | string }[] = []): string =>
  ports
    .map(({ name = '', port }) => `${name}:${port}`)
    .toSorted()
    .join()

/** Endpoints list the pods of their Service that have an address and stay, each as ready as it is. */
export function* endpoints(objects: Objects): Iterable<string> {
  for (const service of objects.all(resources.services)) {
    if (service.spec?.selector == null || service.spec.type === 'ExternalName') continue
    const { namespace, name = '' } = service.metadata ?? {}
    const found = objects.find(resources.endpoints, namespace, name)
    if (found === undefined) {
      yield `${nameOf(service)} has no Endpoints`
      continue
    }
    const wanted = podsListed(objects, service)
    const shown = addressesListed(found)
    if (wanted.join() !== shown.join())
      yield `${nameOf(found)} lists ${shown.join(' ') || 'nobody'}, its pods are ${wanted.join(' ') || 'none'}`
  }
  for (const found of objects.all(resources.endpoints)) {
    const { namespace, name = '', labels } = found.metadata ?? {}
    if (labels?.['endpoints.kubernetes.io/managed-by'] !== 'endpoint-controller') continue
    if (objects.find(resources.services, namespace, name) === undefined)
      yield `${nameOf(found)} is left of a Service`
  }
}

function podsListed(objects: Objects, { metadata, spec }: Service): readonly string[] {
  const selector = labelQueryOfLabels(spec?.selector)
  const isListed = (pod: Pod): boolean =>
    selector.matches(pod.metadata?.labels) &&
    !isPodFinished(pod) &&
    pod.metadata?.deletionTimestamp === undefined &&
    Boolean(pod.status?.podIP)
  return objects
    .all(resources.pods, metadata?.namespace)
    .filter(isListed)
    .map((pod) => `${pod.metadata?.name}=${isPodReady(pod)}`)
    .toSorted()
}

function addressesListed({ subsets }: Endpoints): readonly string[] {
  return (subsets ?? [])
    .flatMap(({ addresses = [], notReadyAddresses = [] }) => [
      ...addresses.map(({ targetRef }) => `${targetRef?.name}=true`),
      ...notReadyAddresses.map(({ targetRef }) => `${targetRef?.name}=false`),
    ])
    .toSorted()
}

/** Endpoints of a Service without a selector are shown by slices, all others are not. */
export function* mirroredSlices(objects: Objects): Iterable<string> {
  const shown = new Map<string, string[]>()
  for (const slice of objects.all(resources.endpointslices)) {
    if (slice.metadata?.labels?.['endpointslice.kubernetes.io/managed-by'] !== MIRROR) continue
    const key = `${slice.metadata.namespace}/${slice.metadata.labels['kubernetes.io/service-name']}`
    shown.set(key, [...(shown.get(key) ?? []), ...endpointsOf(slice)])
  }
  for (const service of objects.all(resources.services)) {
    const { namespace, name = '' } = service.metadata ?? {}
    const key = `${namespace}/${name}`
    const kept = objects.find(resources.endpoints, namespace, name)
    const isMirrored = service.spec?.selector == null && kept !== undefined && !isSkipped(kept)
    const wanted = isMirrored ? addressesMirrored(kept) : []
    const found = (shown.get(key) ?? []).toSorted()
    shown.delete(key)
    if (wanted.join() !== found.join())
      yield `the mirror of ${key} shows ${found.join(' ') || 'nobody'}, it should show ${wanted.join(' ') || 'nobody'}`
  }
  for (const [key, found] of shown) yield `${found.length} mirrored endpoints are left of ${key}`
}

function isSkipped({ metadata }: Endpoints): boolean {
  return metadata?.labels?.['endpointslice.kubernetes.io/skip-mirror'] === 'true'
}

function endpointsOf({ endpoints: members, ports }: EndpointSlice): readonly string[] {
  const port = portNumbers(ports)
  return (members ?? []).map(
    ({ addresses, conditions }) => `${addresses[0]}:${port}=${conditions?.ready}`,
  )
}

/** Slices have them in an order of their own. */
function portNumbers(ports: readonly { readonly port?: number }[] | null | undefined): string {
  return (ports ?? [])
    .map(({ port }) => `${port}`)
    .toSorted()
    .join('+')
}

function addressesMirrored({ subsets }: Endpoints): readonly string[] {
  return (subsets ?? [])
    .flatMap(({ addresses = [], notReadyAddresses = [], ports = [] }) => {
      const port = portNumbers(ports)
      return [
        ...addresses.map(({ ip }) => `${ip}:${port}=true`),
        ...notReadyAddresses.map(({ ip }) => `${ip}:${port}=false`),
      ]
    })
    .toSorted()
}

/** A budget counts the pods that are there, and allows what is left over. */
export function* budgetStatuses(objects: Objects): Iterable<string> {
  for (const budget of objects.all(resources.poddisruptionbudgets)) {
    const { spec, status, metadata } = budget as PodDisruptionBudget
    // Other budgets are about what owners ask for: their numbers are checked by the controller's own tests.
    if (typeof spec?.minAvailable !== 'number' || spec.maxUnavailable !== undefined) continue
    const selector = labelQueryOf(spec.selector)
    const pods = objects
      .all(resources.pods, metadata?.namespace)
      .filter((pod) => selector.matches(pod.metadata?.labels))
    const healthy = pods.filter(
      (pod) => isPodReady(pod) && pod.metadata?.deletionTimestamp === undefined,
    ).length
    const allowed = pods.length === 0 ? 0 : Math.max(0, healthy - spec.minAvailable)
    const { currentHealthy = 0, expectedPods = 0, disruptionsAllowed = 0 } = status ?? {}
    // The controller learns of a pod that left by its labels with the budget's next event only.
    if (expectedPods > pods.length) continue
    if (expectedPods < pods.length)
      yield `${nameOf(budget)} expects ${expectedPods} pods, there are ${pods.length}`
    if (currentHealthy !== healthy || disruptionsAllowed !== allowed)
      yield `${nameOf(budget)} says ${currentHealthy} healthy and allows ${disruptionsAllowed}; there are ${healthy}, so ${allowed}`
    const awaited = Object.keys(status?.disruptedPods ?? {})
    if (awaited.length > 0) yield `${nameOf(budget)} still awaits that ${awaited.join()} go`
  }
}
