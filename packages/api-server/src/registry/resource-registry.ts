import { emptyObjectOf } from './empty-objects.ts'
import { byString, compareStrings } from '@gyropilot/foundation'
import { resourceTable } from '@gyropilot/api'
import type { ResourceInfo, SubresourceHandler } from '../contracts.ts'
import { conversionFor } from './conversion.ts'
import { deprecationWarning } from './deprecations.ts'
import type { DecodedObject } from '@gyropilot/schema'
import type { DocumentNotes } from '@gyropilot/schema/json'
import type { KindRules, PrinterColumn } from './kind-rules.ts'
import type { StorageMapping } from './storage-mapping.ts'
import type { Draft } from '@gyropilot/schema/objects'

/** One resource in one version, with all that the server knows of it. */
export interface ServedResource {
  readonly info: ResourceInfo
  readonly rules: KindRules
  readonly storage: StorageMapping
  /** True for kinds of CustomResourceDefinitions: another decoder, no strategic merge. */
  readonly custom: boolean
  readonly listKind: string
  readonly hasStatus: boolean
  /** POST only and never stored: reviews. */
  readonly virtual: boolean
  /** Fields besides metadata that are written even when nobody set them; bookmarks carry them. */
  readonly emptyObject?: () => Draft
  /** Custom resources: turns a body into an object. Built-in kinds are decoded by their schema. */
  readonly decode?: (
    value: unknown,
    notes?: DocumentNotes,
    /** Nulls that the schema does not allow are to be refused, and not dropped. */
    keepsNulls?: boolean,
  ) => DecodedObject
  /** Overrides the columns of the rules. */
  readonly columns?: readonly PrinterColumn[]
  /** Said in a Warning header of every answer. */
  readonly deprecationWarning?: string
  /** Handlers of its own, before those of the server: the scale of a custom resource. */
  readonly subresources?: readonly SubresourceHandler[]
  /** What the definition of a custom resource adds; the owner of `crd/` reads it back. */
  readonly definition?: unknown
}

export interface ServedVersion {
  readonly group: string
  readonly version: string
  readonly resources: readonly ServedResource[]
}

/** Group and version as in discovery: `versions` by falling priority. */
interface ServedGroup {
  readonly group: string
  readonly versions: readonly ServedVersion[]
}

/** The table of served resources. Built-in ones never change; custom ones come and go. */
export class ResourceRegistry {
  readonly #served = new Map<string, ServedResource>()
  readonly #byGroupResource = new Map<string, ServedResource>()
  readonly #byKind = new Map<string, ServedResource>()
  readonly #listeners = new Set<(resource: ServedResource, present: boolean) => void>()
  readonly #builtInGroups: ReadonlySet<string>
  #groups: readonly ServedGroup[] | undefined
  #edition = 0

  constructor(
    rulesFor: (group: string, kind: string) => KindRules | undefined,
    table: readonly ResourceInfo[] = resourceTable,
  ) {
    this.#builtInGroups = new Set(table.map(({ group }) => group))
    for (const info of table) this.add(builtIn(info, rulesFor(info.group, info.kind)))
  }

  /** Serves a resource, or replaces what was served under its group, version and plural. */
  add(resource: ServedResource): void {
    const { group, version, resource: plural, kind } = resource.info
    this.#served.set(`${group}/${version}/${plural}`, resource)
    this.#byKind.set(`${group}/${version}/${kind}`, resource)
    const key = `${group}/${plural}`
    const preferred = this.#byGroupResource.get(key)
    // The table lists versions by falling priority: the first is the one internal callers get.
    if (
      preferred === undefined ||
      preferred.info.version === version ||
      isStorageVersion(resource)
    ) {
      this.#byGroupResource.set(key, resource)
    }
    this.#groups = undefined
    this.#edition++
    for (const listener of this.#listeners) listener(resource, true)
  }

  /** Nothing happens when another is served in its place. */
  remove(resource: ServedResource): void {
    const { group, version, resource: plural } = resource.info
    if (this.#served.get(`${group}/${version}/${plural}`) !== resource) return
    this.#served.delete(`${group}/${version}/${plural}`)
    this.#byKind.delete(`${group}/${version}/${resource.info.kind}`)
    const key = `${group}/${plural}`
    if (this.#byGroupResource.get(key) === resource) {
      this.#byGroupResource.delete(key)
      const other = [...this.#served.values()].find(
        ({ info }) => info.group === group && info.resource === plural,
      )
      if (other !== undefined) this.#byGroupResource.set(key, other)
    }
    this.#groups = undefined
    this.#edition++
    for (const listener of this.#listeners) listener(resource, false)
  }

  /** What is served stays, and discovery tells something else of it. */
  retold(): void {
    this.#edition++
  }

  /** Another one whenever discovery may tell something else. */
  get edition(): number {
    return this.#edition
  }

  /** Called with every resource that is added, replaced (removed first) or removed. */
  onChange(listener: (resource: ServedResource, present: boolean) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  get(group: string, version: string, plural: string): ServedResource | undefined {
    return this.#served.get(`${group}/${version}/${plural}`)
  }

  /** The version in which the server itself reads and writes: the stored one. */
  preferred(group: string, plural: string): ServedResource | undefined {
    return this.#byGroupResource.get(`${group}/${plural}`)
  }

  byKind(group: string, version: string, kind: string): ServedResource | undefined {
    return this.#byKind.get(`${group}/${version}/${kind}`)
  }

  /** Groups of the API itself. Their paths are known as such; those of definitions come and go. */
  isBuiltInGroup(group: string): boolean {
    return this.#builtInGroups.has(group)
  }

  hasGroup(group: string): boolean {
    return this.groups().some((served) => served.group === group)
  }

  /** The group and its version, when served. */
  version(group: string, version: string): ServedVersion | undefined {
    return this.groups()
      .find((served) => served.group === group)
      ?.versions.find((served) => served.version === version)
  }

  /** In the order of discovery: built-in groups first, as in the table, then custom ones by name. */
  groups(): readonly ServedGroup[] {
    this.#groups ??= groupResources([...this.#served.values()])
    return this.#groups
  }

  all(): readonly ServedResource[] {
    return [...this.#served.values()]
  }
}

function isStorageVersion({ info, storage }: ServedResource): boolean {
  return storage.apiVersion === (info.group === '' ? info.version : `${info.group}/${info.version}`)
}

function builtIn(info: ResourceInfo, rules: KindRules | undefined): ServedResource {
  const apiVersion = info.group === '' ? info.version : `${info.group}/${info.version}`
  const collection = info.group === '' ? info.resource : `${info.resource}.${info.group}`
  return {
    info,
    rules: rules ?? { group: info.group, kind: info.kind },
    storage: conversionFor(info) ?? { collection, apiVersion },
    custom: false,
    listKind: `${info.kind}List`,
    hasStatus: info.subresources.some(({ name }) => name === 'status'),
    emptyObject: () => emptyObjectOf(info),
    virtual: info.verbs.length === 1 && info.verbs[0] === 'create',
    deprecationWarning: deprecationWarning(info),
  }
}

function groupResources(resources: readonly ServedResource[]): ServedGroup[] {
  const groups = new Map<string, Map<string, ServedResource[]>>()
  const builtInGroups = new Set<string>()
  for (const resource of resources) {
    const { group, version } = resource.info
    if (!resource.custom) builtInGroups.add(group)
    const versions = groups.get(group) ?? new Map<string, ServedResource[]>()
    groups.set(group, versions)
    versions.set(version, [...(versions.get(version) ?? []), resource])
  }
  const names = [...groups.keys()]
  const custom = names.filter((name) => !builtInGroups.has(name)).sort()
  return [...names.filter((name) => builtInGroups.has(name)), ...custom].map((group) => ({
    group,
    versions: [...groups.get(group)!]
      .map(([version, list]) => ({
        group,
        version,
        resources: list.sort(byString(({ info }) => info.resource)),
      }))
      .sort((a, b) => (builtInGroups.has(group) ? 0 : compareVersions(a.version, b.version))),
  }))
}

/** Kube-aware order: v2 > v1 > v1beta2 > v1alpha1 > anything else by name. Best first. */
export function compareVersions(a: string, b: string): number {
  const x = parseVersion(a)
  const y = parseVersion(b)
  if (x === undefined || y === undefined) {
    if (x === undefined && y === undefined) return compareStrings(a, b)
    return x === undefined ? 1 : -1
  }
  return y.stability - x.stability || y.major - x.major || y.minor - x.minor
}

function parseVersion(
  text: string,
): { major: number; stability: number; minor: number } | undefined {
  const match = /^v([1-9][0-9]*)(?:(alpha|beta)([1-9][0-9]*))?$/.exec(text)
  if (match === null) return undefined
  const stability = match[2] === undefined ? 2 : match[2] === 'beta' ? 1 : 0
  return { major: Number(match[1]), stability, minor: Number(match[3] ?? 0) }
}
