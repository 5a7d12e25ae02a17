/** Sums over the containers of a pod, as the scheduler and quota count them. */
import type { Stored } from '../registry/kind-rules.ts'
import { addQuantities, compareQuantities } from '@gyropilot/api'

export type ResourceList = Readonly<Record<string, string>>

export function addResources(left: ResourceList, right: ResourceList): ResourceList {
  const sum: Record<string, string> = { ...left }
  for (const [name, value] of Object.entries(right))
    sum[name] = sum[name] === undefined ? value : addQuantities(sum[name], value)
  return sum
}

export function maxResources(left: ResourceList, right: ResourceList): ResourceList {
  const result: Record<string, string> = { ...left }
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
  pod: Stored,
  kind: 'requests' | 'limits',
  withOverhead = true,
): ResourceList {
  const { containers = [], initContainers = [], overhead, resources } = pod['spec']
  let running: ResourceList = {}
  for (const container of containers)
    running = addResources(running, container.resources?.[kind] ?? {})
  let sidecars: ResourceList = {}
  let starting: ResourceList = {}
  for (const container of initContainers) {
    const own: ResourceList = container.resources?.[kind] ?? {}
    if (container.restartPolicy === 'Always') {
      running = addResources(running, own)
      sidecars = addResources(sidecars, own)
      starting = maxResources(starting, sidecars)
    } else starting = maxResources(starting, addResources(own, sidecars))
  }
  let total = maxResources(running, starting)
  if (resources?.[kind] !== undefined) total = { ...total, ...resources[kind] }
  if (!withOverhead || overhead === undefined) return total
  if (kind === 'requests') return addResources(total, overhead)
  // Limits get overhead only where there is a limit: none must not become a small one.
  const limited = Object.entries(overhead as ResourceList).filter(
    ([name]) => total[name] !== undefined,
  )
  return addResources(total, Object.fromEntries(limited))
}
