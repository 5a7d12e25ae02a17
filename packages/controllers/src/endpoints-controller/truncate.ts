/**
 * Cuts what is too much for one object.
 * Contract: docs/behaviour/controllers/endpoints-controller.md, Truncation.
 */
import type { EndpointAddress, EndpointSubset } from '@gyropilot/api'

export function addressCount(subsets: readonly EndpointSubset[]): number {
  return subsets.reduce(
    (sum, subset) => sum + readyOf(subset).length + notReadyOf(subset).length,
    0,
  )
}

/**
 * At most `max` addresses: ready ones first, and of each subset its share. A subset that is left
 * without any is left out: the API takes none.
 */
export function truncateSubsets(
  subsets: readonly EndpointSubset[],
  max: number,
): readonly EndpointSubset[] {
  const ready = subsets.reduce((sum, subset) => sum + readyOf(subset).length, 0)
  if (ready > max) {
    const share = sharesOf(ready, max)
    return subsets
      .map((subset) => withAddresses(subset, share(readyOf(subset)), []))
      .filter((subset) => readyOf(subset).length > 0)
  }
  const notReady = addressCount(subsets) - ready
  const share = sharesOf(notReady, max - ready)
  return subsets
    .map((subset) => withAddresses(subset, readyOf(subset), share(notReadyOf(subset))))
    .filter((subset) => readyOf(subset).length + notReadyOf(subset).length > 0)
}

/** The first of each list, in proportion to all; rounded up, so that the last may get less. */
function sharesOf(
  total: number,
  budget: number,
): (addresses: readonly EndpointAddress[]) => readonly EndpointAddress[] {
  let left = budget
  return (addresses) => {
    const quota = Math.min(left, Math.ceil((addresses.length / total) * budget) || 0)
    left -= quota
    return addresses.slice(0, quota)
  }
}

function readyOf({ addresses }: EndpointSubset): readonly EndpointAddress[] {
  return addresses ?? []
}

function notReadyOf({ notReadyAddresses }: EndpointSubset): readonly EndpointAddress[] {
  return notReadyAddresses ?? []
}

function withAddresses(
  { ports }: EndpointSubset,
  addresses: readonly EndpointAddress[],
  notReadyAddresses: readonly EndpointAddress[],
): EndpointSubset {
  return {
    ...(addresses.length === 0 ? {} : { addresses }),
    ...(notReadyAddresses.length === 0 ? {} : { notReadyAddresses }),
    ...(ports === undefined ? {} : { ports }),
  }
}
