/** Writes `resources`, the discovery table and the flat export of types. */
import { HEADER } from './interfaces.ts'
import type { Definition, DiscoveredResource } from './openapi.ts'

/** Names that packages/api/src/object.ts writes by hand. */
const HANDWRITTEN = ['Status', 'StatusDetails', 'StatusCause', 'WatchEvent']

/** Modules whose types keep their plain name in the flat export before others do. */
const MODULE_ORDER = ['core-v1', 'meta-v1', 'apps-v1', 'batch-v1', 'networking-v1', 'rbac-v1']

type Definitions = ReadonlyMap<string, Definition>

/** The key in `resources`: the plural; with the version behind it when an earlier group or version has that name. */
function nameResources(table: readonly DiscoveredResource[]): Map<string, DiscoveredResource> {
  const named = new Map<string, DiscoveredResource>()
  for (const resource of table) {
    const plain = resource.resource
    const name = named.has(plain) ? `${plain}${resource.version.toUpperCase()}` : plain
    if (named.has(name)) throw new Error(`two resources are named ${name}`)
    named.set(name, resource)
  }
  return named
}

function definitionOf(definitions: Definitions, resource: DiscoveredResource): Definition {
  for (const definition of definitions.values()) {
    for (const { group, version, kind } of definition.kinds) {
      if (group === resource.group && version === resource.version && kind === resource.kind) {
        return definition
      }
    }
  }
  throw new Error(`no definition of ${resource.group}/${resource.version} ${resource.kind}`)
}

export function writeResourceTypes(
  definitions: Definitions,
  table: readonly DiscoveredResource[],
  onRequest: readonly DiscoveredResource[],
): string {
  const modules = [...table, ...onRequest].map((one) => definitionOf(definitions, one).module)
  const imports = [...new Set(modules)]
    .toSorted()
    .map((module) => `import type * as ${namespaceOf(module)} from './${module}.ts'\n`)
  return `${HEADER}import type { ResourceType } from '../resource-type.ts'
import type { DiscoveredResource } from '../discovered-resource.ts'
${imports.join('')}
/**
 * Every resource of the API by its plural. Where two have one plural, the core group or the preferred version keeps the
 * name: \`events\` is core, \`eventsV1\` is events.k8s.io; \`horizontalpodautoscalers\` is v2, \`horizontalpodautoscalersV1\` v1.
 */
export const resources = {
${writeTyped(definitions, table)}}

/** What an API server serves only when its --runtime-config says so, by its plural. */
export const resourcesOnRequest = {
${writeTyped(definitions, onRequest)}}

/** What the API server tells in discovery, in its order. */
export const resourceTable: readonly DiscoveredResource[] = [
${writeTable(table)}]

/** What it tells besides, when its --runtime-config says so. */
export const resourceTableOnRequest: readonly DiscoveredResource[] = [
${writeTable(onRequest)}]
`
}

function writeTyped(definitions: Definitions, table: readonly DiscoveredResource[]): string {
  const lines = [...nameResources(table)].map(([name, resource]) => {
    const definition = definitionOf(definitions, resource)
    const { group, version, resource: plural, kind, namespaced } = resource
    const entry = JSON.stringify({ group, version, resource: plural, kind, namespaced })
    const shape = `${namespaceOf(definition.module)}.${definition.name}`
    return `  ${name}: ${entry} as ResourceType<${shape}>,\n`
  })
  return lines.join('')
}

function writeTable(table: readonly DiscoveredResource[]): string {
  return table.map((resource) => `  ${JSON.stringify(ordered(resource))},\n`).join('')
}

function ordered(resource: DiscoveredResource): unknown {
  const { group, version, resource: plural, singular, kind, namespaced } = resource
  const { shortNames, categories, verbs } = resource
  const subresources = resource.subresources.map((sub) => ({
    name: sub.name,
    verbs: sub.verbs,
    kind: sub.kind,
    group: sub.group,
    version: sub.version,
  }))
  return {
    group,
    version,
    resource: plural,
    singular,
    kind,
    namespaced,
    shortNames,
    categories,
    verbs,
    subresources,
  }
}

function namespaceOf(module: string): string {
  return module.replaceAll(/-(\w)/g, (_, letter: string) => letter.toUpperCase())
}

/** Kinds of resources first (preferred versions in discovery order), then the rest by module. */
export function writeTypeExports(
  definitions: Definitions,
  table: readonly DiscoveredResource[],
): string {
  const taken = new Set(HANDWRITTEN)
  const exports = new Map<string, string[]>()
  const take = ({ module, name }: Definition): void => {
    if (module === 'version' || taken.has(name)) return
    taken.add(name)
    const names = exports.get(module) ?? []
    exports.set(module, names)
    names.push(name)
  }
  for (const resource of table) take(definitionOf(definitions, resource))
  const rank = (module: string): number => {
    const place = MODULE_ORDER.indexOf(module)
    // autoscaling-v2 is preferred to autoscaling-v1, so the list goes backwards within a group, but for what is not served by default.
    if (/(?:alpha|beta)/.test(module)) return MODULE_ORDER.length + 1
    return place === -1 ? MODULE_ORDER.length : place
  }
  const modules = [...new Set([...definitions.values()].map((definition) => definition.module))]
  modules.sort(
    (a, b) => rank(a) - rank(b) || (groupOf(a) === groupOf(b) ? (a < b ? 1 : -1) : a < b ? -1 : 1),
  )
  for (const module of modules) {
    for (const definition of definitions.values())
      if (definition.module === module) take(definition)
  }
  const lines = [...exports.keys()].toSorted().map((module) => {
    const names = exports.get(module)!.toSorted()
    return `export type {\n${names.map((name) => `  ${name},\n`).join('')}} from './${module}.ts'\n`
  })
  return HEADER + lines.join('')
}

function groupOf(module: string): string {
  return module.slice(0, module.lastIndexOf('-'))
}
