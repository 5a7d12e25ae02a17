/**
 * Which resources a server has. Aggregated discovery where it is spoken (one request for the core group, one for all
 * others), else one request per group version. Wire form: docs/behaviour/api-server/requests.md, part "Discovery".
 */
import type { DiscoveredResource, DiscoveredSubresource, ResourceType } from '@gyropilot/api'
import { errorText } from '@gyropilot/foundation'
import type { Client } from './client.ts'
import { clientErrors } from './errors.ts'
import { isNotFound } from './answers/status-error.ts'

const AGGREGATED =
  'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json'

/** What `discover` found, in the order of the server. */
export interface Discovered {
  readonly resources: readonly DiscoveredResource[]
  /** Versions of each group, the preferred first. Groups in the server's order. */
  readonly versions: ReadonlyMap<string, readonly string[]>
  /** Group versions that could not be read (an aggregated API server that is down), with the reason. What else is there holds. */
  readonly failed: ReadonlyMap<string, string>
}

/** Rejects only when the core group cannot be read. */
export async function discover(client: Client, signal?: AbortSignal): Promise<Discovered> {
  const result = new Collected()
  await Promise.all(
    ['/api', '/apis'].map(async (path) => {
      let document: Document
      try {
        document = await read(client, path, signal, AGGREGATED)
      } catch (error) {
        // A server may have only one of the two.
        if (isNotFound(error)) return
        throw error
      }
      if (document.kind === 'APIGroupDiscoveryList') result.addAggregated(document)
      else await readLegacy(client, document, signal, result)
    }),
  )
  return result.sorted()
}

/** Looks resources up by kind or by name, in the manner of a REST mapper: an empty version means the preferred one. */
export class ResourceLookup {
  readonly #discovered: Discovered
  readonly #byKind = new Map<string, DiscoveredResource[]>()
  readonly #byResource = new Map<string, DiscoveredResource[]>()

  constructor(discovered: Discovered) {
    this.#discovered = discovered
    for (const resource of discovered.resources) {
      append(this.#byKind, `${resource.group}/${resource.kind}`, resource)
      append(this.#byResource, `${resource.group}/${resource.resource}`, resource)
    }
  }

  /** The resource that serves objects of this apiVersion and kind: what an owner reference names. */
  forKind(group: string, kind: string, version = ''): ResourceType | undefined {
    return asType(this.#preferred(this.#byKind.get(`${group}/${kind}`), version))
  }

  /** Throws DISCOVERY_FAILED where `forKind` answers undefined. */
  requireKind(group: string, kind: string, version = ''): ResourceType {
    const found = this.forKind(group, kind, version)
    if (found !== undefined) return found
    const where = group === '' ? version || 'v1' : version === '' ? group : `${group}/${version}`
    throw clientErrors.make(
      'DISCOVERY_FAILED',
      `no matches for kind ${JSON.stringify(kind)} in version ${JSON.stringify(where)}`,
    )
  }

  forResource(group: string, resource: string, version = ''): DiscoveredResource | undefined {
    return this.#preferred(this.#byResource.get(`${group}/${resource}`), version)
  }

  /** Each resource once, in its group's preferred version among those that have it, with all of `verbs`. */
  preferred(verbs: readonly string[] = []): readonly DiscoveredResource[] {
    const chosen: DiscoveredResource[] = []
    for (const versions of this.#byResource.values()) {
      const resource = this.#preferred(versions, '')
      if (resource !== undefined && verbs.every((verb) => resource.verbs.includes(verb)))
        chosen.push(resource)
    }
    return chosen
  }

  #preferred(
    versions: readonly DiscoveredResource[] | undefined,
    version: string,
  ): DiscoveredResource | undefined {
    if (versions === undefined) return undefined
    if (version !== '') return versions.find((resource) => resource.version === version)
    const order = this.#discovered.versions.get(versions[0]!.group) ?? []
    return (
      order.map((name) => versions.find((resource) => resource.version === name)).find(Boolean) ??
      versions[0]
    )
  }
}

/** What a client needs of a discovered resource. */
export function asType(resource: DiscoveredResource): ResourceType
export function asType(resource: DiscoveredResource | undefined): ResourceType | undefined
export function asType(resource: DiscoveredResource | undefined): ResourceType | undefined {
  if (resource === undefined) return undefined
  const { group, version, kind, namespaced } = resource
  return { group, version, resource: resource.resource, kind, namespaced }
}

interface Document {
  readonly kind?: string
  readonly items?: readonly AggregatedGroup[]
  readonly versions?: readonly string[]
  readonly groups?: readonly LegacyGroup[]
  readonly resources?: readonly LegacyResource[]
}

interface AggregatedGroup {
  readonly metadata?: { readonly name?: string }
  readonly versions?: readonly {
    readonly version: string
    readonly freshness?: string
    readonly resources?: readonly AggregatedResource[]
  }[]
}

interface Kind {
  readonly group?: string
  readonly version?: string
  readonly kind?: string
}

interface AggregatedResource {
  readonly resource: string
  readonly responseKind?: Kind | null
  readonly scope?: string
  readonly singularResource?: string
  readonly verbs?: readonly string[]
  readonly shortNames?: readonly string[]
  readonly categories?: readonly string[]
  readonly subresources?: readonly {
    readonly subresource: string
    readonly responseKind?: Kind | null
    readonly verbs?: readonly string[]
  }[]
}

interface LegacyGroup {
  readonly name: string
  readonly versions: readonly { readonly version: string }[]
  readonly preferredVersion?: { readonly version: string }
}

interface LegacyResource {
  readonly name: string
  readonly singularName?: string
  readonly namespaced?: boolean
  readonly group?: string
  readonly version?: string
  readonly kind: string
  readonly verbs?: readonly string[]
  readonly shortNames?: readonly string[]
  readonly categories?: readonly string[]
}

class Collected {
  readonly #resources: DiscoveredResource[] = []
  readonly #versions = new Map<string, readonly string[]>()
  readonly #failed = new Map<string, string>()

  addAggregated(document: Document): void {
    for (const item of document.items ?? []) {
      const group = item.metadata?.name ?? ''
      // What is stale is what its server said last: it may have other resources by now, and answers nobody.
      const { stale = [], current: versions = [] } = Object.groupBy(
        item.versions ?? [],
        ({ freshness }) => (freshness === 'Stale' ? 'stale' : 'current'),
      )
      for (const { version } of stale)
        this.addFailure(group, version, `stale GroupVersion discovery: ${group}/${version}`)
      this.addGroup(
        group,
        versions.map(({ version }) => version),
      )
      for (const { version, resources = [] } of versions) {
        for (const resource of resources)
          this.#addResource(fromAggregated(group, version, resource))
      }
    }
  }

  addLegacy(group: string, version: string, list: readonly LegacyResource[]): void {
    const parents = list.filter(({ name }) => !name.includes('/'))
    for (const parent of parents) {
      const children = list.filter(({ name }) => name.startsWith(`${parent.name}/`))
      this.#addResource(fromLegacy(group, version, parent, children))
    }
  }

  addGroup(group: string, versions: readonly string[]): void {
    this.#versions.set(group, versions)
  }

  addFailure(group: string, version: string, reason: string): void {
    this.#failed.set(group === '' ? version : `${group}/${version}`, reason)
  }

  /** Both documents are read at once: the order is that of groups, not of arrival. */
  sorted(): Discovered {
    const core = this.#versions.get('')
    const others = [...this.#versions].filter(([group]) => group !== '')
    const versions = new Map<string, readonly string[]>(
      core === undefined ? others : [['', core], ...others],
    )
    const rank = new Map([...versions.keys()].map((group, index) => [group, index]))
    const resources = [...this.#resources].sort((a, b) => rank.get(a.group)! - rank.get(b.group)!)
    return { resources, versions, failed: this.#failed }
  }

  #addResource(resource: DiscoveredResource): void {
    this.#resources.push(resource)
  }
}

function fromAggregated(
  group: string,
  version: string,
  resource: AggregatedResource,
): DiscoveredResource {
  const kindOf = (
    kind: Kind | null | undefined,
  ): { group: string; version: string; kind: string } => ({
    // Empty means that of the enclosing version; the core group's kinds say their version.
    group: kind?.group || (kind?.version ? '' : group),
    version: kind?.version || version,
    kind: kind?.kind ?? '',
  })
  return {
    group,
    version,
    resource: resource.resource,
    singular: resource.singularResource ?? '',
    kind: resource.responseKind?.kind ?? '',
    namespaced: resource.scope === 'Namespaced',
    shortNames: resource.shortNames ?? [],
    categories: resource.categories ?? [],
    verbs: resource.verbs ?? [],
    subresources: (resource.subresources ?? []).map(
      ({ subresource, responseKind, verbs = [] }): DiscoveredSubresource => ({
        name: subresource,
        verbs,
        ...kindOf(responseKind),
      }),
    ),
  }
}

function fromLegacy(
  group: string,
  version: string,
  parent: LegacyResource,
  children: readonly LegacyResource[],
): DiscoveredResource {
  return {
    group,
    version,
    resource: parent.name,
    singular: parent.singularName ?? '',
    kind: parent.kind,
    namespaced: parent.namespaced ?? false,
    shortNames: parent.shortNames ?? [],
    categories: parent.categories ?? [],
    verbs: parent.verbs ?? [],
    subresources: children.map((child) => ({
      name: child.name.slice(parent.name.length + 1),
      verbs: child.verbs ?? [],
      kind: child.kind,
      group: child.group ?? (child.version === undefined ? group : ''),
      version: child.version ?? version,
    })),
  }
}

async function readLegacy(
  client: Client,
  document: Document,
  signal: AbortSignal | undefined,
  result: Collected,
): Promise<void> {
  const groups: readonly LegacyGroup[] =
    document.kind === 'APIVersions'
      ? [{ name: '', versions: (document.versions ?? []).map((version) => ({ version })) }]
      : (document.groups ?? [])
  for (const { name, versions, preferredVersion } of groups) {
    const preferred = preferredVersion?.version
    const order = versions
      .map(({ version }) => version)
      .sort((a, b) => Number(b === preferred) - Number(a === preferred))
    result.addGroup(name, order)
  }
  await Promise.all(
    groups.flatMap(({ name, versions }) =>
      versions.map(async ({ version }) => {
        try {
          const path = name === '' ? `/api/${version}` : `/apis/${name}/${version}`
          result.addLegacy(name, version, (await read(client, path, signal)).resources ?? [])
        } catch (error) {
          if (name === '') throw error
          result.addFailure(name, version, errorText(error))
        }
      }),
    ),
  )
}

function read(
  client: Client,
  path: string,
  signal?: AbortSignal,
  accept = 'application/json',
): Promise<Document> {
  return client.raw<Document>({ method: 'GET', path, headers: { accept }, signal })
}

function append<K, V>(map: Map<K, V[]>, key: K, value: V): void {
  const list = map.get(key)
  if (list === undefined) map.set(key, [value])
  else list.push(value)
}
