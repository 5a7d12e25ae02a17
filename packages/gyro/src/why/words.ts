/** How objects, times and counts are said. Pure. */
import { groupResourceOf } from '@gyropilot/api'
import type { DiscoveredResource } from '@gyropilot/api'
import type { FailedList, Found } from './facts.ts'

const MINUTE_SECONDS = 60
const HOUR_SECONDS = 3600
const DAY_SECONDS = 86_400

/** `pod/web-0` or `deployment.apps/web`: what `gyro why` and kubectl take. */
export function shortName({ type, object }: Found): string {
  return `${kindName(type)}/${object.metadata?.name ?? ''}`
}

/** With its namespace in front, as `shop/pod/web-0` cannot be told from a path: `pod/web-0 in shop`. */
export function fullName(found: Found): string {
  const namespace = found.object.metadata?.namespace
  return namespace ? `${shortName(found)} in ${namespace}` : shortName(found)
}

export function kindName({ singular, kind, group }: DiscoveredResource): string {
  const name = singular === '' ? kind.toLowerCase() : singular
  return group === '' ? name : `${name}.${group}`
}

/** `2 configmaps, 1 widgets.example.com`, the most first. */
export function counted(found: readonly Found[]): string {
  const counts = new Map<string, number>()
  for (const { type } of found) {
    const name = groupResourceOf(type)
    counts.set(name, (counts.get(name) ?? 0) + 1)
  }
  return [...counts]
    .toSorted(([a, m], [b, n]) => n - m || (a < b ? -1 : 1))
    .map(([name, count]) => `${count} ${name}`)
    .join(', ')
}

/** What could not be looked at may hold it too. */
export function unreadable(failed: readonly FailedList[]): readonly string[] {
  return failed.map(({ resource, reason, forbidden }) =>
    forbidden
      ? `${resource} could not be looked at: this user may not list them`
      : `${resource} cannot be listed: ${reason}`,
  )
}

/** `1 pod`, `3 pods`. */
export function some(count: number, singular: string): string {
  return `${count} ${singular}${count === 1 ? '' : 's'}`
}

/** `42s`, `3m20s`, `5h10m`, `3d4h`. */
export function span(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000))
  const two = (large: number, unit: string, small: number, smallUnit: string): string =>
    `${large}${unit}${small === 0 ? '' : `${small}${smallUnit}`}`
  if (seconds < MINUTE_SECONDS) return `${seconds}s`
  if (seconds < HOUR_SECONDS)
    return two(Math.floor(seconds / 60), 'm', seconds % MINUTE_SECONDS, 's')
  if (seconds < DAY_SECONDS)
    return two(Math.floor(seconds / 3600), 'h', Math.floor((seconds % HOUR_SECONDS) / 60), 'm')
  const hours = Math.floor((seconds % DAY_SECONDS) / HOUR_SECONDS)
  return two(Math.floor(seconds / DAY_SECONDS), 'd', hours, 'h')
}

/** `since 2026-01-02T03:04:05Z (3m20s ago)`. */
export function sinceText(time: string, nowMs: number): string {
  return `since ${time} (${span(nowMs - Date.parse(time))} ago)`
}
