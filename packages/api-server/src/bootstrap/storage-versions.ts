/**
 * The StorageVersions in which a server says how it keeps its objects, so that others know whether they can read them.
 * Contract: docs/behaviour/api-server/defaulting-and-validation.md, "StorageVersion".
 */
import type { ServerStorageVersion } from '@gyropilot/api'
import { formatTime } from '@gyropilot/foundation'
import type { Clock } from '@gyropilot/foundation'
import type { Stored } from '@gyropilot/schema/objects'
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
    const others: readonly ServerStorageVersion[] = before?.['status']?.storageVersions ?? []
    const own = { apiServerID, ...versionsOf(resource, registry) }
    const servers = [...others.filter((server) => server.apiServerID !== apiServerID), own]
    const status = statusOf(servers, before, nowText)
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

function statusOf(
  servers: readonly ServerStorageVersion[],
  before: Stored | undefined,
  nowText: string,
): object {
  const versions = new Set(servers.map(({ encodingVersion }) => encodingVersion))
  const common = versions.size === 1 ? servers[0]!.encodingVersion : undefined
  const [state, verb] = common === undefined ? ['False', 'Unset'] : ['True', 'Set']
  const type = 'AllEncodingVersionsEqual'
  const known = (before?.['status']?.conditions ?? []).find((one: Stored) => one['type'] === type)
  const lastTransitionTime = known?.status === state ? known.lastTransitionTime : nowText
  const condition = {
    type,
    status: state,
    lastTransitionTime,
    reason: `CommonEncodingVersion${verb}`,
    message: `Common encoding version ${verb!.toLowerCase()}`,
  }
  return {
    storageVersions: servers,
    ...(common === undefined ? {} : { commonEncodingVersion: common }),
    conditions: [condition],
  }
}
