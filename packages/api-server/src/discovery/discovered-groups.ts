/** What is served here and by other servers, in the order of discovery. Contract: docs/behaviour/api-server/requests.md, "Discovery". */
import { compareStrings } from '@gyropilot/foundation'
import type { ForeignVersion, Priorities } from '../aggregation/foreign-versions.ts'
import { compareVersions } from '../registry/resource-registry.ts'
import type { ResourceRegistry, ServedVersion } from '../registry/resource-registry.ts'

export type DiscoveredVersion = ServedVersion | ForeignVersion

export interface DiscoveredGroup {
  readonly group: string
  readonly versions: readonly DiscoveredVersion[]
}

export interface Announcements {
  /** Of those that are not served here. */
  versions(): readonly ForeignVersion[]
  prioritiesOf(group: string, version: string): Priorities | undefined
}

/** Comes first, and has no APIService. */
const AGGREGATOR = 'apiregistration.k8s.io'
/** Above all that an APIService may say: of groups and versions that have none. */
const HIGHEST: Priorities = { group: 20_001, version: 1_001 }
/** Of definitions, until they have their APIServices. */
const OF_DEFINITIONS: Priorities = { group: 1_000, version: 100 }
const STEP = 0.001

interface RankedGroup extends DiscoveredGroup {
  readonly rank: number
}

/** All that is served, by falling priority, the same by name. */
export function discoveredGroups(
  registry: ResourceRegistry,
  announced: Announcements,
): readonly DiscoveredGroup[] {
  return rankedGroups(registry, announced).toSorted(
    (a, b) => b.rank - a.rank || compareStrings(a.group, b.group),
  )
}

/** Less what is built in and has no APIService; the same priority by the first name of the APIServices that say it. */
export function listedGroups(
  registry: ResourceRegistry,
  announced: Announcements,
): readonly DiscoveredGroup[] {
  return rankedGroups(registry, announced)
    .flatMap(({ group, versions: all, rank }) => {
      const needsNone = group === AGGREGATOR || !registry.isBuiltInGroup(group)
      const priorityOf = ({ version }: DiscoveredVersion): number | undefined =>
        announced.prioritiesOf(group, version)?.group ?? (needsNone ? rank : undefined)
      const versions = all.filter((served) => priorityOf(served) !== undefined)
      const [first] = versions
        .filter((served) => priorityOf(served) === rank)
        .map(({ version }) => `${version}.${group}`)
        .toSorted(compareStrings)
      return first === undefined ? [] : [{ group, versions, rank, first }]
    })
    .toSorted((a, b) => b.rank - a.rank || compareStrings(a.first, b.first))
}

/** What is built in and has no APIService stays behind what it follows in the table. */
function rankedGroups(
  registry: ResourceRegistry,
  announced: Announcements,
): readonly RankedGroup[] {
  const byGroup = new Map<string, DiscoveredVersion[]>()
  for (const { group, versions } of registry.groups()) byGroup.set(group, [...versions])
  for (const announcement of announced.versions()) {
    const { group, version } = announcement
    // Of a version that a definition serves, too, the APIService decides.
    const others = (byGroup.get(group) ?? []).filter((served) => served.version !== version)
    byGroup.set(group, [...others, announcement])
  }
  let before = HIGHEST.group
  return [...byGroup].map(([group, versions]) => {
    const isBuiltIn = registry.isBuiltInGroup(group)
    if (group === AGGREGATOR) return { group, versions, rank: HIGHEST.group }
    const said = versions.flatMap(({ version }) => announced.prioritiesOf(group, version) ?? [])
    const assumed = isBuiltIn ? before - STEP : OF_DEFINITIONS.group
    const rank = said.length === 0 ? assumed : Math.max(...said.map((one) => one.group))
    before = rank
    return { group, versions: ordered(versions, isBuiltIn, announced), rank }
  })
}

function ordered(
  versions: readonly DiscoveredVersion[],
  isBuiltIn: boolean,
  announced: Announcements,
): readonly DiscoveredVersion[] {
  if (versions.length === 1) return versions
  let before = HIGHEST.version
  const ranked = versions.map((served) => {
    const assumed = isBuiltIn ? before - STEP : OF_DEFINITIONS.version
    const rank = announced.prioritiesOf(served.group, served.version)?.version ?? assumed
    before = rank
    return { served, rank }
  })
  return ranked
    .toSorted((a, b) => b.rank - a.rank || compareVersions(a.served.version, b.served.version))
    .map(({ served }) => served)
}
