/**
 * How many requests at once each priority level is entitled to, as its configuration says. Nobody waits here, but monitoring
 * and tests read the shares. Contract: docs/behaviour/api-server/requests.md, "Flow schemas"; KEP-1040.
 */
import type { MetricsRegistry } from '@gyropilot/foundation'
import type { Stored } from '@gyropilot/schema/objects'
import type { Store } from '../../storage/store.ts'
import { PRIORITY_LEVELS } from './flow-control.ts'

const USUAL_SHARES = 30

interface Seats {
  readonly nominal: number
  /** What is left of them when others have borrowed what is lendable. */
  readonly lower: number
  /** With what it may borrow of others. */
  readonly upper: number
}

/** By the name of the level. `total`: requests at once that all levels share. */
export function seatsOf(levels: readonly Stored[], total: number): ReadonlyMap<string, Seats> {
  const shares = levels.map(sharesOf)
  const sum = shares.reduce((all, each) => all + each, 0)
  return new Map(
    levels.map((level, i) => {
      const nominal = sum === 0 ? 0 : Math.ceil((total * shares[i]!) / sum)
      const { lendablePercent = 0, borrowingLimitPercent } = partOf(level)
      const percent = (of: number): number => Math.round((nominal * of) / 100)
      const borrowed = borrowingLimitPercent === undefined ? total : percent(borrowingLimitPercent)
      const seats = {
        nominal,
        lower: nominal - percent(lendablePercent),
        upper: nominal + borrowed,
      }
      return [level['metadata'].name as string, seats]
    }),
  )
}

interface LevelPart {
  readonly nominalConcurrencyShares?: number
  readonly lendablePercent?: number
  readonly borrowingLimitPercent?: number
}

function partOf({ spec }: Stored): LevelPart {
  return (spec?.type === 'Exempt' ? spec.exempt : spec?.limited) ?? {}
}

function sharesOf(level: Stored): number {
  const usual = level['spec']?.type === 'Exempt' ? 0 : USUAL_SHARES
  return partOf(level).nominalConcurrencyShares ?? usual
}

export function exposePriorityLevels(registry: MetricsRegistry, store: Store, total: number): void {
  const nominal = registry.gauge({
    name: 'apiserver_flowcontrol_nominal_limit_seats',
    help: 'Requests at once that a priority level is entitled to.',
    labels: ['priority_level'],
    stability: 'BETA',
  })
  const lower = registry.gauge({
    name: 'apiserver_flowcontrol_lower_limit_seats',
    help: 'Requests at once that a priority level keeps when others borrow of it.',
    labels: ['priority_level'],
  })
  const upper = registry.gauge({
    name: 'apiserver_flowcontrol_upper_limit_seats',
    help: 'Requests at once that a priority level may have when it borrows of others.',
    labels: ['priority_level'],
  })
  registry.onCollect(() => {
    const found = store.list(PRIORITY_LEVELS, '')
    for (const gauge of [nominal, lower, upper]) gauge.clear()
    const levels = found === 'expired' ? [] : found.entries.map(({ object }) => object)
    for (const [name, seats] of seatsOf(levels, total)) {
      const labels = { priority_level: name }
      nominal.set(seats.nominal, labels)
      lower.set(seats.lower, labels)
      upper.set(seats.upper, labels)
    }
  })
}
