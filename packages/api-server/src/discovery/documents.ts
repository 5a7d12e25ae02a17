/** Discovery documents. Contract: docs/behaviour/api-server/requests.md, "Discovery". */
import { hash } from 'node:crypto'
import type { ServedResource, ServedVersion } from '../registry/resource-registry.ts'
import { toldStorageVersion } from '../registry/storage-versions.ts'
import type { DiscoveredGroup, DiscoveredVersion } from './discovered-groups.ts'

const addresses = (serverAddress: string) => [{ clientCIDR: '0.0.0.0/0', serverAddress }]

export function apiVersions(serverAddress: string): object {
  return {
    kind: 'APIVersions',
    versions: ['v1'],
    serverAddressByClientCIDRs: addresses(serverAddress),
  }
}

export function groupList(groups: readonly DiscoveredGroup[]): object {
  const named = groups.filter(({ group: name }) => name !== '')
  return { kind: 'APIGroupList', apiVersion: 'v1', groups: named.map(groupEntry) }
}

export function group(discovered: DiscoveredGroup): object {
  return { kind: 'APIGroup', apiVersion: 'v1', ...groupEntry(discovered) }
}

function groupEntry({ group: name, versions }: DiscoveredGroup) {
  const entries = versions.map(({ version }) => ({ groupVersion: `${name}/${version}`, version }))
  return { name, versions: entries, preferredVersion: entries[0] }
}

export function resourceList({ group: name, version, resources }: ServedVersion): object {
  return {
    kind: 'APIResourceList',
    ...(name === '' ? {} : { apiVersion: 'v1' }),
    groupVersion: name === '' ? version : `${name}/${version}`,
    resources: resources.flatMap(resourceEntries),
  }
}

function resourceEntries(resource: ServedResource): object[] {
  const { info, virtual } = resource
  const own = {
    name: info.resource,
    singularName: info.singular,
    namespaced: info.namespaced,
    kind: info.kind,
    verbs: info.verbs,
    ...(info.shortNames.length === 0 ? {} : { shortNames: info.shortNames }),
    ...(info.categories.length === 0 ? {} : { categories: info.categories }),
    ...(virtual || !info.verbs.includes('watch')
      ? {}
      : {
          storageVersionHash: storageHash(toldStorageVersion(resource), info.kind),
        }),
  }
  const subresources = info.subresources.map(({ name, kind, group: other, version, verbs }) => ({
    name: `${info.resource}/${name}`,
    singularName: '',
    namespaced: info.namespaced,
    ...(other === info.group && version === info.version ? {} : { group: other, version }),
    kind,
    verbs,
  }))
  return [own, ...subresources]
}

function storageHash(apiVersion: string, kind: string): string {
  const [groupName, version] = apiVersion.includes('/') ? apiVersion.split('/') : ['', apiVersion]
  return hash('sha256', `${groupName}/${version}/${kind}`, 'buffer')
    .subarray(0, 8)
    .toString('base64')
}

/** The aggregated form of the core group (`legacy`) or of all others. */
export function aggregated(groups: readonly DiscoveredGroup[], legacy: boolean): object {
  return {
    kind: 'APIGroupDiscoveryList',
    apiVersion: 'apidiscovery.k8s.io/v2',
    metadata: {},
    items: groups
      .filter(({ group: name }) => (name === '') === legacy)
      .map(({ group: name, versions }) => ({
        metadata: name === '' ? {} : { name },
        versions: versions.flatMap(discoveredVersion),
      }))
      .filter(({ versions }) => versions.length > 0),
  }
}

/** What nobody serves is left out; what another server could not be asked for is stale. */
function discoveredVersion(discovered: DiscoveredVersion): object[] {
  const { version } = discovered
  if (!('remote' in discovered))
    return [
      { version, resources: discovered.resources.map(discoveredResource), freshness: 'Current' },
    ]
  const { remote, resources } = discovered
  if (!remote) return []
  if (resources === undefined) return [{ version, freshness: 'Stale' }]
  return [{ version, ...(resources.length === 0 ? {} : { resources }), freshness: 'Current' }]
}

function discoveredResource({ info, custom }: ServedResource): object {
  const kindOf = (target: { group: string; version: string; kind: string }) => {
    const same = !custom && target.group === info.group && target.version === info.version
    return {
      group: same ? '' : target.group,
      version: same ? '' : target.version,
      kind: target.kind,
    }
  }
  return {
    resource: info.resource,
    responseKind: kindOf(info),
    scope: info.namespaced ? 'Namespaced' : 'Cluster',
    singularResource: info.singular,
    verbs: info.verbs,
    ...(info.shortNames.length === 0 ? {} : { shortNames: info.shortNames }),
    ...(info.categories.length === 0 ? {} : { categories: info.categories }),
    ...(info.subresources.length === 0
      ? {}
      : {
          subresources: info.subresources.map((subresource) => ({
            subresource: subresource.name,
            responseKind: kindOf(subresource),
            verbs: subresource.verbs,
          })),
        }),
  }
}
