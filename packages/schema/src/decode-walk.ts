/** The way through a document while it is decoded: where it stands, what it has to report, and errors that name the place. */
import type { Draft } from './objects.ts'
import { TypeMismatchError, jsonKind } from './decode-scalars.ts'
import type { Mismatch } from './decode-scalars.ts'
import { errorPathOf } from './go/go-facts.ts'
import { goQuote } from './go/go-quote.ts'
import { bareStructName, goTypeInVersion } from './go/go-types.ts'
import type { DocumentNotes } from './json/json.ts'

/** At most so many problems are reported. */
const PROBLEM_LIMIT = 100

export interface Walk {
  /** Field names and list positions, outermost first. */
  readonly path: (string | number)[]
  /** Structs on the way, with the depth of `path` at which their fields stand. */
  readonly structs: { readonly name: string; readonly depth: number }[]
  /** Each is told once, however often a key is repeated. */
  readonly problems: Set<string>
  readonly root: unknown
  /** The version in which the object was sent, of which the structs of the group `group` are: `networking`, `v1beta1`. */
  readonly sentAs: { readonly group: string; readonly version: string }
  readonly notes: DocumentNotes
  /** The first value of a wrong type. */
  readonly mismatches: TypeMismatchError[]
}

/** How the number at the place of the walk was written, when it is no plain integer. */
export function spellingOf({ root, path, notes: { spellings } }: Walk): string | undefined {
  if (spellings === undefined) return undefined
  let holder = root as Draft | undefined
  for (const step of path.slice(0, -1)) holder = holder?.[step]
  return holder === undefined ? undefined : spellings.get(holder)?.get(path.at(-1)!)
}

/** Members in document order, repeated ones as often as they stand there. `isKnown`: of which repeating is reported; others are unknown, no more. */
export function forEachMember(
  value: Draft,
  walk: Walk,
  isKnown: (key: string) => boolean,
  visit: (key: string, member: unknown) => void,
): void {
  const repeated = walk.notes.occurrences?.get(value)
  if (repeated === undefined) {
    for (const key of Object.keys(value)) visit(key, value[key])
    return
  }
  const seen = new Set<string>()
  for (const [key, member] of repeated) {
    if (seen.has(key) && isKnown(key)) report(walk, 'duplicate', key)
    seen.add(key)
    visit(key, member)
  }
}

export function report(walk: Walk, what: 'unknown' | 'duplicate', key: string): void {
  if (walk.problems.size >= PROBLEM_LIMIT) return
  walk.problems.add(`${what} field ${goQuote(pathText([...walk.path, key]))}`)
}

/** `spec.containers[0].env` */
function pathText(path: readonly (string | number)[]): string {
  let text = ''
  for (const part of path)
    text += typeof part === 'number' ? `[${part}]` : text === '' ? part : `.${part}`
  return text
}

function typeAsSent({ structs, sentAs }: Walk, goType: string): string {
  const struct = structs.at(-1)?.name
  if (struct?.startsWith(`${sentAs.group}-`) !== true) return goType
  return goTypeInVersion(goType, struct, sentAs.version)
}

/** `json: cannot unmarshal string into Go struct field Container.spec.containers.env of type []v1.EnvVar` */
export function mismatchOf(
  walk: Walk,
  fieldType: string,
  integer: boolean,
  shown?: string,
  isStruct = false,
): Mismatch {
  return (value) => {
    const kind = shown ?? jsonKind(value, integer)
    const innermost = walk.structs.at(-1)
    const goType = typeAsSent(walk, fieldType)
    if (innermost === undefined)
      return new TypeMismatchError(
        `json: cannot unmarshal ${kind} into Go value of type ${goType}`,
        {
          given: value,
          goType,
          isStruct,
        },
      )
    const names: string[] = []
    for (const { name: struct, depth } of walk.structs) {
      const name = walk.path.slice(depth).find((part) => typeof part === 'string') as string
      names.push(errorPathOf(struct, name))
    }
    return new TypeMismatchError(
      `json: cannot unmarshal ${kind} into Go struct field ${bareStructName(innermost.name)}.${names.join('.')} of type ${goType}`,
      { given: value, goType, isStruct },
    )
  }
}
