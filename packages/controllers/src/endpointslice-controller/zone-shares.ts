/**
 * How the CPU of the cluster is spread over zones, and how many endpoints each zone should serve.
 * Contract: docs/behaviour/controllers/endpointslice-controller.md, Sync D.
 */
import { isConditionTrue, quantityToMilli } from '@gyropilot/api'
import type { Node } from '@gyropilot/api'
import { compareStrings } from '@gyropilot/foundation'
import { ZONE_LABEL } from './desired-endpoints.ts'

/** Zone to its part of all CPU, sorted by zone. The parts add up to 1, and there are two at least. */
export type ZoneShares = ReadonlyMap<string, number>

/** How many endpoints have a hint for each zone. */
export type HintsByZone = ReadonlyMap<string, number>

export interface Allocation {
  readonly minimum: number
  readonly maximum: number
  readonly desired: number
}

/** A zone's endpoints may get this much more traffic than evenly spread endpoints would. */
const OVERLOAD_THRESHOLD = 0.2
const EXCLUDED_LABELS = [
  'node-role.kubernetes.io/control-plane',
  'node-role.kubernetes.io/master',
] as const

export function isNodeReady({ status }: Node): boolean {
  return isConditionTrue(status?.conditions, 'Ready')
}

/** Undefined: there is no telling, and hints would do harm. */
export function zoneShares(nodes: readonly Node[]): ZoneShares | undefined {
  const milliByZone = new Map<string, number>()
  let totalMilli = 0
  for (const node of nodes) {
    const labels = node.metadata?.labels ?? {}
    if (EXCLUDED_LABELS.some((label) => labels[label] !== undefined) || !isNodeReady(node)) continue
    const zone = labels[ZONE_LABEL]
    const milli = quantityToMilli(node.status?.allocatable?.['cpu'] ?? '0')
    if (!zone || milli === 0) return undefined
    milliByZone.set(zone, (milliByZone.get(zone) ?? 0) + milli)
    totalMilli += milli
  }
  if (milliByZone.size < 2) return undefined
  const zones = [...milliByZone].toSorted(([a], [b]) => compareStrings(a, b))
  return new Map(zones.map(([zone, milli]) => [zone, milli / totalMilli]))
}

/** Undefined: the zones' minimums add up to more endpoints than there are. */
export function allocations(
  shares: ZoneShares,
  endpoints: number,
): ReadonlyMap<string, Allocation> | undefined {
  const minimums = [...shares].map(([zone, share]) => {
    const minimum = minimumOf(share, endpoints)
    return { zone, minimum, desired: Math.max(share * endpoints, minimum) }
  })
  const spare = endpoints - minimums.reduce((sum, { minimum }) => sum + minimum, 0)
  if (spare < 0) return undefined
  return new Map(
    minimums.map(({ zone, minimum, desired }) => [
      zone,
      { minimum, desired, maximum: minimum + spare },
    ]),
  )
}

function minimumOf(share: number, endpoints: number): number {
  return Math.ceil(share * endpoints * (1 / (1 + OVERLOAD_THRESHOLD)))
}

/** Some zone has fewer endpoints than its share of the traffic needs. */
export function isOverloaded(hints: HintsByZone, shares: ZoneShares | undefined): boolean {
  if (hints.size === 0) return false
  if (shares === undefined) return true
  const total = [...hints.values()].reduce((sum, count) => sum + count, 0)
  for (const [zone, share] of shares) {
    const count = hints.get(zone)
    if (count === undefined || count < minimumOf(share, total)) return true
  }
  return false
}
