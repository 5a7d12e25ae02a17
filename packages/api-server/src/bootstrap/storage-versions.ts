/**
 * The StorageVersions in which a server says how it keeps its objects, so that others know whether they can read them.
 * Contract: docs/behaviour/api-server/defaulting-and-validation.md, "StorageVersion".
 */
import { withStorageVersions } from '@gyropilot/api'
import type { ServerStorageVersion, StorageVersionStatus } from '@gyropilot/api'
import { formatTime } from '@gyropilot/foundation'
import type { Clock } from '@gyropilot/foundation'
import { earlierVersions } from '../handlers/bodies/known-kinds.ts'
import { compareVersions } from '../registry/resource-registry.ts'
import type { ResourceRegistry, ServedResource } from '../registry/resource-registry.ts'
import { toldStorageVersion } from '../registry/storage-versions.ts'
import type { KeptKind, Keeper } from './keeper.ts'

const GROUP = 'internal.apiserver.k8s.io'
const STORAGE_VERSIONS: KeptKind = {
  collection: `storageversions.${GROUP}`,
  apiVersion: `${GROUP}/v1alpha1`,
  kind: 'StorageVersion',
}

interface Announcement {
  readonly keeper: Keeper
  readonly registry: ResourceRegistry
  readonly clock: Clock
  /** The name of this server's Lease. */
  readonly apiServerID: string
}

/** One for each built-in resource that is stored; what other servers say of theirs stays. */
export function announceStorageVersions({
  keeper,
  registry,
  clock,
  apiServerID,
}: Announcement): void {
  if (registry.preferred(GROUP, 'storageversions') === undefined) return
  const nowText = formatTime(clock.nowMs())
  const stored = registry.all().filter(({ custom, virtual, info }) => {
    return !custom && !virtual && info.verbs.includes('watch')
  })
  for (const resource of stored) {
    const { group, resource: plural } = resource.info
    if (registry.preferred(group, plural) !== resource || keptElsewhere(resource)) continue
    const metadata = { name: `${group === '' ? 'core' : group}.${plural}` }
    const before = keeper.get(STORAGE_VERSIONS, { metadata })
    const told: StorageVersionStatus = before?.['status'] ?? {}
    const others = told.storageVersions ?? []
    const own = { apiServerID, ...versionsOf(resource, registry) }
    const servers = [...others.filter((server) => server.apiServerID !== apiServerID), own]
    const status = withStorageVersions(told, servers, nowText)
    if (before === undefined) keeper.create(STORAGE_VERSIONS, { metadata, spec: {}, status })
    else keeper.replace(STORAGE_VERSIONS, { ...before, status })
  }
}

/** Events of the newer group are those of the older one. */
function keptElsewhere({ info, storage }: ServedResource): boolean {
  const { group } = info
  return group !== '' && !storage.apiVersion.startsWith(`${group}/`)
}

function versionsOf(
  resource: ServedResource,
  registry: ResourceRegistry,
): Omit<ServerStorageVersion, 'apiServerID'> {
  const { group, kind, resource: plural } = resource.info
  const served = registry
    .all()
    .filter(({ info }) => info.group === group && info.resource === plural)
    .map(({ info }) => (group === '' ? info.version : `${group}/${info.version}`))
  const known = [...new Set([...served, ...earlierVersions(group, kind)])]
  const decodable = known.toSorted((a, b) => compareVersions(versionIn(a), versionIn(b)))
  if (group === '' && kind === 'Event') decodable.push('events.k8s.io/v1')
  return {
    encodingVersion: toldStorageVersion(resource),
    decodableVersions: decodable,
    servedVersions: served.toSorted(),
  }
}

function versionIn(apiVersion: string): string {
  return apiVersion.slice(apiVersion.indexOf('/') + 1)
}
