/**
 * Extended resources that no node counts and devices serve: the claim that stands for them, and which container gets what of
 * it. Contract: docs/behaviour/simulation/scheduler.md, Extended resources of devices. Pure.
 */
import {
  DEVICE_CLASS_RESOURCE_PREFIX,
  EXTENDED_CLAIM_ANNOTATION,
  amountsOf,
  compareTimes,
  controllerOf,
  keyOf,
  podRequests,
} from '@gyropilot/api'
import type {
  Container,
  ContainerExtendedResourceRequest,
  DeviceClass,
  DeviceRequest,
  Pod,
  ResourceClaim,
} from '@gyropilot/api'
import { compareStrings } from '@gyropilot/foundation'
import type { NodeInfo } from '../node-info.ts'

/** How messages name the claim before it is made. */
const UNMADE = '<extended-resources>'

/** What devices serve of a pod on some node. */
export interface ExtendedClaim {
  /** Not made yet: the server is to name it. */
  readonly claim: ResourceClaim
  readonly mappings: readonly ContainerExtendedResourceRequest[]
}

/** The class whose devices serve an extended resource, by the resource's name. */
export type ClassOfResource = (resource: string) => DeviceClass | undefined

/** Of two classes for one resource the newer one counts, of two as old the first by name. */
export function classesOfResources(classes: readonly DeviceClass[]): ClassOfResource {
  const found = new Map<string, DeviceClass>()
  const ordered = classes.toSorted(
    (a, b) =>
      compareTimes(a.metadata?.creationTimestamp, b.metadata?.creationTimestamp) ||
      compareStrings(b.metadata?.name ?? '', a.metadata?.name ?? ''),
  )
  for (const each of ordered) {
    found.set(`${DEVICE_CLASS_RESOURCE_PREFIX}${each.metadata?.name}`, each)
    if (each.spec.extendedResourceName) found.set(each.spec.extendedResourceName, each)
  }
  return (resource) => found.get(resource)
}

/** What the pod asks for that devices serve on nodes that do not count it. */
export function servedResources(pod: Pod, classOf: ClassOfResource): readonly string[] {
  const { containers = [], initContainers = [] } = pod.spec ?? {}
  const isAsked = [...containers, ...initContainers].some(({ resources }) =>
    Object.keys(resources?.requests ?? {}).some((name) => name.includes('/') && classOf(name)),
  )
  if (!isAsked) return []
  const asked = [...podRequests(pod)].filter(([name, amount]) => amount > 0 && classOf(name))
  return asked.map(([name]) => name).toSorted(compareStrings)
}

/** A node that has the resource by itself serves it by itself. */
export function isCountedBy({ allocatable }: NodeInfo, resource: string): boolean {
  return (allocatable.get(resource) ?? 0) > 0
}

/** `served`: resources, in order. */
export function extendedClaim(
  pod: Pod,
  served: readonly string[],
  classOf: ClassOfResource,
): ExtendedClaim {
  const parts = served.map((resource) =>
    requestsFor(pod, resource, classOf(resource)?.metadata?.name ?? ''),
  )
  const requests = parts
    .flatMap((part) => part.requests)
    .toSorted((a, b) => compareStrings(a.name, b.name))
  return {
    claim: claimFor(pod, requests),
    mappings: parts.flatMap((part) => part.mappings),
  }
}

export function isExtendedClaim({ metadata }: ResourceClaim): boolean {
  return metadata?.annotations?.[EXTENDED_CLAIM_ANNOTATION] === 'true'
}

/** A claim by name; the one for extended resources by its pod, as it is known before it has a name. */
export function promiseKey(claim: ResourceClaim): string {
  return isExtendedClaim(claim) ? (controllerOf(claim)?.uid ?? '') : keyOf(claim)
}

function claimFor(pod: Pod, requests: readonly DeviceRequest[]): ResourceClaim {
  const { name = '', namespace, uid = '' } = pod.metadata ?? {}
  return {
    metadata: {
      name: UNMADE,
      generateName: `${name}-extended-resources-`,
      namespace,
      annotations: { [EXTENDED_CLAIM_ANNOTATION]: 'true' },
      ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name, uid, controller: true }],
    },
    spec: { devices: { requests } },
  }
}

/** A container's request for the resource. */
interface Wanted {
  readonly container: Container
  readonly count: number
  /** By the places of the container in the pod, init containers first, and of the resource in the container. */
  readonly requestName: string
  readonly at: number
  readonly isInit: boolean
  /** Unlike an init container that ends: what it has is nobody else's once it has started. */
  readonly runsOn: boolean
}

interface ResourceRequests {
  readonly requests: readonly DeviceRequest[]
  readonly mappings: readonly ContainerExtendedResourceRequest[]
}

/**
 * Containers that run on have devices each for itself. An init container that ends uses the devices of those that have not
 * started; what it lacks is asked for once, by the one that lacks most, for all of them.
 */
function requestsFor(pod: Pod, resource: string, deviceClassName: string): ResourceRequests {
  const all = wantedBy(pod, resource)
  const running = all.filter(({ runsOn }) => runsOn)
  const passing = all.flatMap((wanted) => (wanted.runsOn ? [] : [beside(wanted, running)]))
  const missing = Math.max(0, ...passing.map((each) => each.missing))
  const asking = passing.find((each) => each.missing === missing)?.wanted
  const extra = missing > 0 ? asking : undefined
  const mapping = ({ container }: Wanted, { requestName }: Wanted) => ({
    containerName: container.name,
    requestName,
    resourceName: resource,
  })
  const request = ({ requestName: name }: Wanted, count: number): DeviceRequest => ({
    name,
    exactly: { deviceClassName, allocationMode: 'ExactCount', count },
  })
  return {
    requests: [
      ...running.map((wanted) => request(wanted, wanted.count)),
      ...(extra ? [request(extra, missing)] : []),
    ],
    mappings: [
      ...running.map((wanted) => mapping(wanted, wanted)),
      ...passing.flatMap(({ wanted, uses, missing }) =>
        [...uses, ...(missing > 0 ? [extra!] : [])].map((of) => mapping(wanted, of)),
      ),
    ],
  }
}

function wantedBy(pod: Pod, resource: string): readonly Wanted[] {
  const { containers = [], initContainers = [] } = pod.spec ?? {}
  return [...initContainers, ...containers].flatMap((container, at) => {
    const requests = container.resources?.requests ?? {}
    const count = amountsOf(requests).get(resource) ?? 0
    if (count === 0) return []
    const place = Object.keys(requests).toSorted(compareStrings).indexOf(resource)
    const requestName = `container-${at}-request-${place}`
    const isInit = at < initContainers.length
    const runsOn = !isInit || container.restartPolicy === 'Always'
    return [{ container, count, requestName, at, isInit, runsOn }]
  })
}

/** Whose devices an init container that ends uses, of those that start after it, and how many it lacks. */
function beside(wanted: Wanted, running: readonly Wanted[]) {
  const uses: Wanted[] = []
  let missing = wanted.count
  for (const other of running) {
    if (missing <= 0) break
    if (other.isInit && other.at < wanted.at) continue
    uses.push(other)
    missing -= other.count
  }
  return { wanted, uses, missing: Math.max(0, missing) }
}
