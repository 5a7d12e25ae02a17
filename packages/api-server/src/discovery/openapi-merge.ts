/** The swagger 2.0 document of another API server as a part of this one's. */
import { deepEqual } from '@gyropilot/api'

// oxlint-disable-next-line no-explicit-any -- documents are walked as the JSON they are
type Json = any
type Named = Readonly<Record<string, Json>>

interface Swagger {
  readonly paths: Readonly<Record<string, object>>
  readonly definitions: Named
}

const KINDS = 'x-kubernetes-group-version-kind'
const REFERENCE = '#/definitions/'

/**
 * Adds the paths below `prefix` that are not there yet, and the definitions that they use. A definition that has the name of another
 * one gets a name of its own (`..._v2`), unless both say the same but for the kinds they are called by.
 */
export function merged<D extends Swagger>(own: D, theirs: Partial<Swagger>, prefix: string): D {
  const paths = Object.entries(theirs.paths ?? {}).filter(([path]) => path.startsWith(prefix))
  const used = usedBy(paths, theirs.definitions ?? {}, new Map())
  const definitions = new Map(Object.entries(own.definitions))
  const names = new Map<string, string>()
  for (const [name, definition] of used) {
    const free = nameFor(name, definition, definitions)
    names.set(name, free)
    definitions.set(free, withKindsOf(definition, definitions.get(free)))
  }
  for (const name of names.values())
    if (!Object.hasOwn(own.definitions, name))
      definitions.set(name, withReferences(definitions.get(name), names))
  const added = paths
    .filter(([path]) => !Object.hasOwn(own.paths, path))
    .map(([path, item]) => [path, withReferences(item, names)])
  return {
    ...own,
    paths: { ...own.paths, ...Object.fromEntries(added) },
    definitions: Object.fromEntries(definitions),
  }
}

/** Those that are referred to, and those that they refer to. */
function usedBy(value: Json, definitions: Named, used: Map<string, Json>): Map<string, Json> {
  if (typeof value !== 'object' || value === null) return used
  for (const [key, part] of Object.entries(value)) {
    const name = key === '$ref' ? nameIn(part) : undefined
    if (name === undefined) usedBy(part, definitions, used)
    else if (!used.has(name) && Object.hasOwn(definitions, name)) {
      used.set(name, definitions[name])
      usedBy(definitions[name], definitions, used)
    }
  }
  return used
}

function nameIn(reference: unknown): string | undefined {
  return typeof reference === 'string' && reference.startsWith(REFERENCE)
    ? reference.slice(REFERENCE.length)
    : undefined
}

/** The first that is free or means the same. */
function nameFor(name: string, definition: Json, taken: ReadonlyMap<string, Json>): string {
  for (let at = 2, free = name; ; free = `${name}_v${at++}`)
    if (!taken.has(free) || meanTheSame(taken.get(free), definition)) return free
}

function meanTheSame(a: Json, b: Json): boolean {
  const { [KINDS]: _a, ...one } = a
  const { [KINDS]: _b, ...other } = b
  return deepEqual(one, other)
}

function withKindsOf(definition: Json, present: Json): Json {
  if (present === undefined) return definition
  const kinds = [...(present[KINDS] ?? []), ...(definition[KINDS] ?? [])]
  const distinct = new Map(kinds.map((kind) => [JSON.stringify(kind), kind]))
  return kinds.length === 0 ? present : { ...present, [KINDS]: [...distinct.values()] }
}

function withReferences(value: Json, names: ReadonlyMap<string, string>): Json {
  if (Array.isArray(value)) return value.map((part) => withReferences(part, names))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, part]) => {
      const name = key === '$ref' ? nameIn(part) : undefined
      return [
        key,
        name === undefined ? withReferences(part, names) : `${REFERENCE}${names.get(name) ?? name}`,
      ]
    }),
  )
}
