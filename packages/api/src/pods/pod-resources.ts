/** Sums over the containers of a pod, as the scheduler and quota count them. */
import type { Container, ContainerStatus, Pod } from '../generated/core-v1.ts'
import type { Quantity } from '../generated/meta-v1.ts'
import { addQuantities, compareQuantities } from '../values/quantity.ts'

/** Amounts by resource name. */
export type ResourceList = Readonly<Record<string, Quantity>>

type AmountKind = 'requests' | 'limits'

export interface PodResourcesOptions {
  /** Default: true. */
  readonly withOverhead?: boolean
  /** What running containers have been given counts too, where it is more than what they ask for. Default: false. */
  readonly withStatus?: boolean
}

export function addResources(left: ResourceList, right: ResourceList): ResourceList {
  const sum: Record<string, Quantity> = { ...left }
  for (const [name, value] of Object.entries(right))
    sum[name] = sum[name] === undefined ? value : addQuantities(sum[name], value)
  return sum
}

export function maxResources(left: ResourceList, right: ResourceList): ResourceList {
  const result: Record<string, Quantity> = { ...left }
  for (const [name, value] of Object.entries(right)) {
    if (result[name] === undefined || compareQuantities(value, result[name]) > 0)
      result[name] = value
  }
  return result
}

/**
 * What a pod takes as a whole: all containers and sidecars run together, plain init containers one at a time beside the
 * sidecars started before them. Pod-level resources replace the sum for the resources they name.
 */
export function podResources(
  pod: Pod,
  kind: AmountKind,
  { withOverhead = true, withStatus = false }: PodResourcesOptions = {},
): ResourceList {
  const { containers = [], initContainers = [], overhead, resources } = pod.spec ?? {}
  const amountsOf = withStatus
    ? amountsWithStatus(pod, kind)
    : (container: Container): ResourceList => container.resources?.[kind] ?? {}
  let running: ResourceList = {}
  for (const container of containers) running = addResources(running, amountsOf(container))
  let sidecars: ResourceList = {}
  let starting: ResourceList = {}
  for (const container of initContainers) {
    if (container.restartPolicy === 'Always') {
      const own = amountsOf(container)
      running = addResources(running, own)
      sidecars = addResources(sidecars, own)
      starting = maxResources(starting, sidecars)
      continue
    }
    // Those that run to an end are never resized: their status says nothing new.
    const own: ResourceList = container.resources?.[kind] ?? {}
    starting = maxResources(starting, addResources(own, sidecars))
  }
  let total = maxResources(running, starting)
  const podLevel = resources?.[kind]
  if (podLevel !== undefined) total = { ...total, ...podLevel }
  if (!withOverhead || overhead === undefined) return total
  if (kind === 'requests') return addResources(total, overhead)
  // Limits get overhead only where there is a limit: none must not become a small one.
  const limited = Object.entries(overhead).filter(
    ([name]) => total[name] !== undefined && compareQuantities(total[name], '0') !== 0,
  )
  return addResources(total, Object.fromEntries(limited))
}

/** Of containers and sidecars. */
export function amountsWithStatus(
  pod: Pod,
  kind: AmountKind,
): (container: Container) => ResourceList {
  const { containerStatuses, initContainerStatuses } = pod.status ?? {}
  const statuses = new Map<string, ContainerStatus>()
  for (const status of [...(containerStatuses ?? []), ...(initContainerStatuses ?? [])])
    statuses.set(status.name, status)
  const infeasible = isInfeasible(pod)
  return ({ name, resources }) =>
    countedAmounts(kind, resources?.[kind], statuses.get(name), infeasible)
}

/** Of the pod as a whole: the resources that it asks for, none of those that its status leaves out. */
export function podLevelRequestsWithStatus(pod: Pod): ResourceList {
  const wished = pod.spec?.resources?.requests
  if (wished === undefined) return {}
  const counted = countedAmounts('requests', wished, pod.status, isInfeasible(pod))
  return Object.fromEntries(Object.keys(wished).map((name) => [name, counted[name] ?? '0']))
}

function isInfeasible(pod: Pod): boolean {
  return (pod.status?.conditions ?? []).some(
    ({ type, reason }) => type === 'PodResizePending' && reason === 'Infeasible',
  )
}

/** A status without resources says nothing. A resize that can never be had does not count as wished for. */
function countedAmounts(
  kind: AmountKind,
  wished: ResourceList = {},
  status: Pick<ContainerStatus, 'resources' | 'allocatedResources'> | undefined,
  infeasible: boolean,
): ResourceList {
  if (status?.resources === undefined) return wished
  let given: ResourceList = status.resources[kind] ?? {}
  if (kind === 'requests') given = maxResources(given, status.allocatedResources ?? {})
  return infeasible ? given : maxResources(wished, given)
}
