/**
 * Failure zones: how much of one is down, and how fast its nodes may be tainted then. Pure.
 * Contract: docs/behaviour/controllers/node-lifecycle-controller.md, E.
 */
import type { Node, NodeCondition } from '@gyropilot/api'
import type { NodeLifecycleConfiguration } from './config.ts'

export type ZoneState = 'Initial' | 'Normal' | 'PartialDisruption' | 'FullDisruption'

/** One node's vote: its Ready condition, where it has one. */
export type Vote = NodeCondition | undefined

export interface ZoneHealth {
  readonly state: ZoneState
  readonly size: number
  readonly notReady: number
}

const BETA = 'failure-domain.beta.kubernetes.io/'
const STABLE = 'topology.kubernetes.io/'
/** Nodes with this label, whatever its value, have no vote. */
export const EXCLUDED = 'node.kubernetes.io/exclude-disruption'

/** Empty: the node says nothing of where it is. */
export function zoneOf({ metadata }: Node): string {
  const labels = metadata?.labels ?? {}
  const of = (part: string): string => labels[`${BETA}${part}`] ?? labels[`${STABLE}${part}`] ?? ''
  const region = of('region')
  const zone = of('zone')
  return region === '' && zone === '' ? '' : `${region}:\0:${zone}`
}

const LEAST_DISRUPTED = 3

export function zoneHealth(votes: readonly Vote[], unhealthyZoneThreshold: number): ZoneHealth {
  const size = votes.length
  const notReady = votes.filter((ready) => ready?.status !== 'True').length
  const of = (state: ZoneState): ZoneHealth => ({ state, size, notReady })
  if (notReady === size && notReady > 0) return of('FullDisruption')
  if (notReady >= LEAST_DISRUPTED && notReady / size >= unhealthyZoneThreshold)
    return of('PartialDisruption')
  return of('Normal')
}

/** Taints per second in a zone, while not all zones are down. */
export function rateOf(
  { state, size }: Pick<ZoneHealth, 'state' | 'size'>,
  configuration: NodeLifecycleConfiguration,
): number {
  if (state !== 'PartialDisruption') return configuration.nodeEvictionRate
  return size > configuration.largeClusterSizeThreshold
    ? configuration.secondaryNodeEvictionRate
    : 0
}

type Disruption =
  /** Every zone is down, since now: it may be this process that is cut off. Nobody is evicted. */
  | { readonly kind: 'entering' }
  /** Some zone is up again. */
  | { readonly kind: 'leaving' }
  /** `changed`: zones whose state is another one. */
  | { readonly kind: 'usual'; readonly changed: readonly string[] }

/** What the new states mean, after the old ones of the same zones. */
export function disruptionOf(
  before: ReadonlyMap<string, ZoneState>,
  after: ReadonlyMap<string, ZoneHealth>,
): Disruption {
  const zones = [...after.keys()]
  const allAre = zones.every((zone) => after.get(zone)!.state === 'FullDisruption')
  const allWere = zones.every((zone) => before.get(zone) === 'FullDisruption')
  if (allAre && !allWere) return { kind: 'entering' }
  if (allWere && !allAre) return { kind: 'leaving' }
  return {
    kind: 'usual',
    changed: zones.filter((zone) => before.get(zone) !== after.get(zone)!.state),
  }
}
