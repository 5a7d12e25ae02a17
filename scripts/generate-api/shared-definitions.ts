/** Versions on request that repeat another one: their definitions stand for both, so that nobody pays for what he does not ask for. */
import type { Definition, DiscoveredResource, OpenApiSchema } from './openapi.ts'

type Definitions = ReadonlyMap<string, Definition>

/**
 * By full name: the definition of another version of the group that says the same, in whatever it refers to as well. Of several
 * versions the one that is served by default has it, else the preferred one.
 */
export function sharedDefinitions(
  definitions: Definitions,
  onRequest: readonly DiscoveredResource[],
): ReadonlyMap<string, Definition> {
  const modules = modulesOf(definitions, onRequest)
  const shared = new Map<string, Definition>()
  for (const [index, module] of modules.entries()) {
    const group = groupOf(module)
    const earlier = [
      `${group}-v1`,
      ...modules.slice(0, index).filter((one) => groupOf(one) === group),
    ]
    for (const definition of definitions.values()) {
      if (definition.module !== module) continue
      const other = earlier
        .map((one) => definitions.get(inModule(definition, one)))
        .find((one) => one !== undefined && textOf(one) === textOf(definition))
      if (other !== undefined) shared.set(definition.fullName, other)
    }
  }
  while (dropThoseThatReferElsewhere(definitions, shared)) continue
  return shared
}

function dropThoseThatReferElsewhere(
  definitions: Definitions,
  shared: Map<string, Definition>,
): boolean {
  const before = shared.size
  for (const fullName of shared.keys()) {
    const { module, schema } = definitions.get(fullName)!
    const within = refsOf(schema).filter((ref) => definitions.get(ref)!.module === module)
    if (within.some((ref) => ref !== fullName && !shared.has(ref))) shared.delete(fullName)
  }
  return shared.size < before
}

/** In the order of discovery. */
function modulesOf(
  definitions: Definitions,
  onRequest: readonly DiscoveredResource[],
): readonly string[] {
  const served = onRequest.map(({ group, version, kind }) =>
    [...definitions.values()].find(({ kinds }) =>
      kinds.some((one) => one.group === group && one.version === version && one.kind === kind),
    ),
  )
  return [...new Set(served.map((definition) => definition!.module))]
}

function groupOf(module: string): string {
  return module.slice(0, module.lastIndexOf('-'))
}

function versionOf(module: string): string {
  return module.slice(module.lastIndexOf('-') + 1)
}

function inModule({ fullName, name, module }: Definition, other: string): string {
  return fullName.replace(`.${versionOf(module)}.${name}`, `.${versionOf(other)}.${name}`)
}

/** Without the version that it is of. */
function textOf({ schema, module }: Definition): string {
  const { 'x-kubernetes-group-version-kind': _, ...rest } = schema
  return JSON.stringify(rest).replaceAll(`.${groupOf(module)}.${versionOf(module)}.`, '..')
}

function refsOf(schema: OpenApiSchema): readonly string[] {
  return [...JSON.stringify(schema).matchAll(/"#\/components\/schemas\/([^"]+)"/g)].map(
    ([, ref]) => ref!,
  )
}
