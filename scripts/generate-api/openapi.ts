/** Reads the recorded OpenAPI v3 documents and aggregated discovery of a Kubernetes API server. */
import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'

interface GroupVersionKind {
  readonly group: string
  readonly version: string
  readonly kind: string
}

export interface OpenApiSchema {
  readonly $ref?: string
  readonly allOf?: readonly OpenApiSchema[]
  readonly type?: string
  readonly format?: string
  readonly default?: unknown
  readonly enum?: readonly string[]
  readonly items?: OpenApiSchema
  readonly additionalProperties?: OpenApiSchema
  readonly properties?: Readonly<Record<string, OpenApiSchema>>
  readonly required?: readonly string[]
  readonly 'x-kubernetes-group-version-kind'?: readonly GroupVersionKind[]
  readonly 'x-kubernetes-list-type'?: string
  readonly 'x-kubernetes-list-map-keys'?: readonly string[]
  readonly 'x-kubernetes-map-type'?: string
  readonly 'x-kubernetes-patch-strategy'?: string
  readonly 'x-kubernetes-patch-merge-key'?: string
  readonly 'x-kubernetes-unions'?: readonly unknown[]
}

export interface Definition {
  /** The name in the documents: `io.k8s.api.core.v1.Pod`. */
  readonly fullName: string
  /** The generated file it goes to: `core-v1`. */
  readonly module: string
  readonly name: string
  readonly schema: OpenApiSchema
  /** Every group and version that serves the kind; the options and Status kinds have many. */
  readonly kinds: readonly GroupVersionKind[]
}

interface DiscoveredSubresource extends GroupVersionKind {
  readonly name: string
  readonly verbs: readonly string[]
}

export interface DiscoveredResource extends GroupVersionKind {
  readonly resource: string
  readonly singular: string
  readonly namespaced: boolean
  readonly shortNames: readonly string[]
  readonly categories: readonly string[]
  readonly verbs: readonly string[]
  readonly subresources: readonly DiscoveredSubresource[]
}

const META_PACKAGES = [
  'io.k8s.apimachinery.pkg.apis.meta.v1',
  'io.k8s.apimachinery.pkg.api.resource',
  'io.k8s.apimachinery.pkg.runtime',
  'io.k8s.apimachinery.pkg.util.intstr',
]

/** Structs that have no fields, which the documents tell as they tell of objects with any fields. */
const WITHOUT_FIELDS =
  /\.(?:BasicSchedulingPolicy|CustomResourceSubresourceStatus|StorageVersionSpec)$/

function moduleOf(packageName: string): string {
  if (META_PACKAGES.includes(packageName)) return 'meta-v1'
  if (packageName === 'io.k8s.apimachinery.pkg.version') return 'version'
  const parts = packageName.split('.')
  return parts.slice(-2).join('-')
}

export function refName(ref: string): string {
  return ref.slice(ref.lastIndexOf('/') + 1)
}

/** All definitions of all documents, by full name, sorted. */
export function readDefinitions(directory: string): ReadonlyMap<string, Definition> {
  const schemas = new Map<string, OpenApiSchema>()
  const kinds = new Map<string, Map<string, GroupVersionKind>>()
  for (const file of readdirSync(directory).toSorted()) {
    if (!/^apis?__.*v\d+[a-z0-9]*\.json$/.test(file)) continue
    const document = JSON.parse(readFileSync(join(directory, file), 'utf8'))
    const found: Record<string, OpenApiSchema> = document.components?.schemas ?? {}
    for (const [fullName, schema] of Object.entries(found)) {
      if (!schemas.has(fullName))
        schemas.set(
          fullName,
          WITHOUT_FIELDS.test(fullName) ? { properties: {}, ...schema } : schema,
        )
      const served = kinds.get(fullName) ?? new Map<string, GroupVersionKind>()
      kinds.set(fullName, served)
      for (const { group, version, kind } of schema['x-kubernetes-group-version-kind'] ?? []) {
        served.set(`${group}/${version}/${kind}`, { group, version, kind })
      }
    }
  }
  const definitions = new Map<string, Definition>()
  for (const fullName of [...schemas.keys()].toSorted()) {
    const at = fullName.lastIndexOf('.')
    definitions.set(fullName, {
      fullName,
      module: moduleOf(fullName.slice(0, at)),
      name: fullName.slice(at + 1),
      schema: schemas.get(fullName)!,
      kinds: [...kinds.get(fullName)!.entries()].toSorted(byKey).map(([, kind]) => kind),
    })
  }
  return definitions
}

function byKey(a: readonly [string, unknown], b: readonly [string, unknown]): number {
  return a[0] < b[0] ? -1 : a[0] > b[0] ? 1 : 0
}

interface DiscoveryKind {
  readonly group: string
  readonly version: string
  readonly kind: string
}

interface DiscoveryVersion {
  readonly version: string
  readonly resources: readonly {
    readonly resource: string
    readonly responseKind: DiscoveryKind
    readonly scope: 'Namespaced' | 'Cluster'
    readonly singularResource: string
    readonly verbs: readonly string[]
    readonly shortNames?: readonly string[]
    readonly categories?: readonly string[]
    readonly subresources?: readonly {
      readonly subresource: string
      readonly responseKind: DiscoveryKind
      readonly verbs: readonly string[]
    }[]
  }[]
}

/** The resources in the server's order: core first, then groups by priority, preferred version first. */
export function readDiscovery(file: string): readonly DiscoveredResource[] {
  const discovery = JSON.parse(readFileSync(file, 'utf8'))
  const found: DiscoveredResource[] = []
  for (const item of [...discovery.api.items, ...discovery.apis.items]) {
    const group: string = item.metadata.name ?? ''
    const versions: readonly DiscoveryVersion[] = item.versions
    for (const { version, resources } of versions) {
      for (const entry of resources) {
        // An empty group and version in discovery mean those of the list itself.
        const kindOf = (kind: DiscoveryKind): GroupVersionKind =>
          kind.version === '' ? { group, version, kind: kind.kind } : kind
        found.push({
          group,
          version,
          resource: entry.resource,
          singular: entry.singularResource,
          kind: entry.responseKind.kind,
          namespaced: entry.scope === 'Namespaced',
          shortNames: entry.shortNames ?? [],
          categories: entry.categories ?? [],
          verbs: entry.verbs,
          subresources: (entry.subresources ?? []).map((sub) => ({
            name: sub.subresource,
            verbs: sub.verbs,
            ...kindOf(sub.responseKind),
          })),
        })
      }
    }
  }
  return found
}
