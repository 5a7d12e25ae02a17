/** Whether a pod keeps more than its limits allow, in a kubelet's words. Contract: docs/behaviour/simulation/kubelet.md, Completion. Pure. */
import { parseQuantity } from '@gyropilot/api'
import type { Pod } from '@gyropilot/api'

const RESOURCE = 'ephemeral-storage'

export interface StoredBytes {
  /** What a container wrote beside its volumes. */
  ofContainer(name: string): number
  ofVolume(name: string): number
}

/** Whether it has any such limit. */
export function hasStorageLimits({ spec }: Pod): boolean {
  return (
    (spec?.volumes ?? []).some(({ emptyDir }) => emptyDir?.sizeLimit !== undefined) ||
    (spec?.containers ?? []).some(({ resources }) => resources?.limits?.[RESOURCE] !== undefined)
  )
}

/** Undefined: it keeps to them. */
export function storageProblem({ spec }: Pod, stored: StoredBytes): string | undefined {
  const volumes = (spec?.volumes ?? []).filter(({ emptyDir }) => emptyDir !== undefined)
  for (const { name, emptyDir } of volumes) {
    const limit = emptyDir?.sizeLimit
    if (limit !== undefined && stored.ofVolume(name) > bytesOf(limit))
      return `Usage of EmptyDir volume "${name}" exceeds the limit "${limit}". `
  }
  const containers = spec?.containers ?? []
  const limits = containers.map(({ resources }) => resources?.limits?.[RESOURCE])
  const known = limits.filter((limit) => limit !== undefined)
  if (known.length === 0) return undefined
  const onDisk = volumes.filter(({ emptyDir }) => emptyDir?.medium !== 'Memory')
  const total =
    sum(containers.map(({ name }) => stored.ofContainer(name))) +
    sum(onDisk.map(({ name }) => stored.ofVolume(name)))
  if (total > sum(known.map(bytesOf))) {
    const together = known
      .slice(1)
      .reduce((all, each) => all.add(parseQuantity(each)), parseQuantity(known[0]!))
    return `Pod ephemeral local storage usage exceeds the total limit of containers ${together.toString()}. `
  }
  for (const [index, { name }] of containers.entries()) {
    const limit = limits[index]
    if (limit !== undefined && stored.ofContainer(name) > bytesOf(limit))
      return `Container ${name} exceeded its local ephemeral storage limit "${limit}". `
  }
  return undefined
}

function bytesOf(quantity: string | number): number {
  return parseQuantity(String(quantity)).toNumber()
}

function sum(amounts: readonly number[]): number {
  return amounts.reduce((all, each) => all + each, 0)
}
