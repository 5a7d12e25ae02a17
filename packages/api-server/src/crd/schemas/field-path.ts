/**
 * Paths by which a definition names fields: `.spec.x`, `['a.b']`. Contract: docs/behaviour/api-server/custom-resources.md, CEL rules and
 * Selectable fields.
 */
import { additionalOf, childPath, propertyOf } from './structural-schema.ts'
import type { Schema } from './structural-schema.ts'

/** How far a path leads. */
interface Followed {
  readonly names: readonly string[]
  /** Where it leads to. Fields stand behind a dot whatever they are called, keys of maps in brackets. */
  readonly field: string
  /** The first thing on the way that is wrong. */
  readonly problem?: string
  /** Undefined where a map may hold anything. */
  readonly node?: Schema
}

/** Dots, brackets, quoted texts, and what is between them. A quote behind a backslash ends no text. */
const TOKENS = /'[^]*?(?<!\\)'|'[^]*|[.[\]]|[^.[\]]+/g
const END = 'unexpected end of JSON path'

/** Follows a path from `from` on, where `schema` is. `brackets`: names may be quoted and in brackets. */
export function followPath(
  path: string,
  schema: Schema | undefined,
  { from, brackets }: { readonly from: string; readonly brackets: boolean },
): Followed {
  const names: string[] = []
  let field = from
  let node: Schema | true | undefined = schema
  const tokens = path.match(TOKENS) ?? []
  while (tokens.length > 0) {
    const step = nextName(tokens, brackets)
    if ('problem' in step) return { names, field, problem: step.problem }
    const { name } = step
    const parent: Schema | undefined = node === true ? undefined : node
    const property = propertyOf(parent, name)
    node = property ?? valuesOf(parent)
    if (node === undefined) return { names, field, problem: 'does not refer to a valid field' }
    names.push(name)
    field = property === undefined ? `${field}[${name}]` : childPath(field, name)
    const problem = closeBracket(tokens, step.isOpen)
    if (problem !== undefined) return { names, field, problem }
  }
  return node === true || node === undefined ? { names, field } : { names, field, node }
}

type Step = { readonly name: string; readonly isOpen: boolean } | { readonly problem: string }

/** Takes the tokens of a name, less a closing bracket, from the front. */
function nextName(tokens: string[], brackets: boolean): Step {
  const first = tokens.shift()!
  if (first !== '.' && first !== '[') return { problem: `expected [ or . but got: ${first}` }
  const isOpen = first === '['
  if (isOpen && !brackets) return { problem: 'array notation is not allowed' }
  const token = tokens.shift()
  if (token === undefined) return { problem: END }
  // A second dot, a bracket and a quoted text are names there as they are.
  if (!isOpen) return { name: token, isOpen }
  if (!/^'[^]*'$/.test(token)) return { problem: `expected single quoted string but got ${token}` }
  const name = unescaped(token.slice(1, -1))
  if (typeof name === 'object') return { problem: `invalid string literal: ${name.problem}` }
  return { name, isOpen }
}

function closeBracket(tokens: string[], isOpen: boolean): string | undefined {
  if (!isOpen) return undefined
  const token = tokens.shift()
  if (token === undefined) return END
  return token === ']' ? undefined : `expected ] but got ${token}`
}

const ESCAPED: ReadonlyMap<string, string> = new Map([
  ['a', '\x07'],
  ['b', '\b'],
  ['f', '\f'],
  ['n', '\n'],
  ['r', '\r'],
  ['t', '\t'],
  ['v', '\v'],
  ["'", "'"],
  ['\\', '\\'],
])

function unescaped(text: string): string | { readonly problem: string } {
  const wrong = [...text.matchAll(/\\(.)/g)].find(([, character]) => !ESCAPED.has(character!))
  if (wrong !== undefined) return { problem: `invalid escape char ${wrong[0]}` }
  return text.replaceAll(/\\(.)/g, (_, character: string) => ESCAPED.get(character)!)
}

/** What a map holds, be it one that may hold nothing. */
function valuesOf(schema: Schema | undefined): Schema | true | undefined {
  const isEmptyMap = schema?.additionalProperties === false && schema.properties === undefined
  return isEmptyMap ? true : additionalOf(schema)
}
