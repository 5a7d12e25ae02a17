/** Where a JSONPath leads in an object, and where it fails. */
import { isInt64 } from '@gyropilot/schema/go-number'
import { isObject } from '../schemas/structural-schema.ts'
import { EXISTS, type JsonPath, type Slice, type Step, type Steps } from './parse.ts'

interface Found {
  readonly values: readonly unknown[]
  /** The step cannot be taken; the values are those that it was to be taken from, or found before. */
  readonly failed?: true
}

/** The first value that the path leads to, which may be null; undefined for none, and where any step fails. */
export function firstAt(object: unknown, path: JsonPath): unknown {
  const results = path.map((steps) => walk([object], steps))
  return results.some(({ failed }) => failed) ? undefined : results[0]!.values[0]
}

function walk(start: readonly unknown[], steps: Steps): Found {
  let values = start
  for (const step of steps) {
    const found = take(values, step)
    if (found.failed) return found
    values = found.values
  }
  return { values }
}

function take(values: readonly unknown[], step: Step): Found {
  switch (step.type) {
    case 'field':
      return { values: values.flatMap((value) => member(value, step.name)) }
    case 'wildcard':
      return { values: values.flatMap(children) }
    case 'recursive':
      return { values: values.flatMap(withDescendants) }
    case 'slice':
      return takeSlice(values, step.slice)
    case 'union':
      return takeUnion(values, step.branches)
    case 'filter':
      return takeFiltered(values, step)
    case 'literal':
      return { values: values.map(() => step.value) }
    case 'word':
      return { values, failed: true }
  }
}

function member(value: unknown, name: string): readonly unknown[] {
  return isObject(value) && Object.hasOwn(value, name) ? [value[name]] : []
}

function children(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value
  if (typeof value === 'string') return [...Buffer.from(value)]
  return isObject(value) ? Object.values(value) : []
}

function withDescendants(value: unknown): readonly unknown[] {
  const below = children(value)
  return below.length === 0 ? [] : [value, ...below.flatMap(withDescendants)]
}

function takeSlice(values: readonly unknown[], slice: Slice): Found {
  const taken: unknown[] = []
  for (const list of values) {
    if (list === null) continue
    if (!Array.isArray(list)) return { values, failed: true }
    const { length } = list
    let { from = 0, to = length } = slice
    if (from < 0) from += length
    if (to < 0 || (to === 0 && slice.single)) to += length
    // Nothing is asked for, and nothing of the other lists, too.
    if (from === to) break
    const inBounds = from >= 0 && from < length && to >= 0 && to <= length && from < to
    const { step = 1 } = slice
    if (!inBounds || step <= 0) return { values, failed: true }
    for (let index = from; index < to; index += step) taken.push(list[index])
  }
  return { values: taken }
}

function takeUnion(values: readonly unknown[], branches: readonly Steps[]): Found {
  const found = branches.map((steps) => walk(values, steps))
  if (found.some(({ failed }) => failed)) return { values, failed: true }
  return { values: found.flatMap((branch) => branch.values) }
}

function takeFiltered(
  values: readonly unknown[],
  { left, operator, right }: Step & { readonly type: 'filter' },
): Found {
  const taken: unknown[] = []
  for (const list of values) {
    if (!Array.isArray(list)) return { values, failed: true }
    for (const item of list) {
      const lefts = walk([item], left)
      if (operator === EXISTS) {
        if (lefts.values.length > 0) taken.push(item)
        continue
      }
      if (lefts.failed || lefts.values.length > 1) return { values, failed: true }
      if (lefts.values.length === 0) continue
      const rights = walk([item], right)
      if (rights.failed || rights.values.length > 1) return { values, failed: true }
      if (rights.values.length === 0) continue
      const passes = compare(lefts.values[0], operator, rights.values[0])
      if (passes === undefined) return { values: taken, failed: true }
      if (passes) taken.push(item)
    }
  }
  return { values: taken }
}

type Scalar = string | number | bigint | boolean

/** Undefined: these two cannot be compared like this. Integers and floats cannot at all. */
function compare(left: unknown, operator: string, right: unknown): boolean | undefined {
  const kind = kindOf(left)
  if (kind === undefined || kind !== kindOf(right)) return undefined
  const [a, b] =
    kind === 'int'
      ? [BigInt(left as number), BigInt(right as number)]
      : ([left, right] as [Scalar, Scalar])
  if (operator === '==') return a === b
  if (operator === '!=') return a !== b
  if (kind === 'boolean') return undefined
  switch (operator) {
    case '<':
      return a < b
    case '<=':
      return a <= b
    case '>':
      return a > b
    case '>=':
      return a >= b
    default:
      return undefined
  }
}

function kindOf(value: unknown): 'string' | 'boolean' | 'int' | 'float' | undefined {
  if (typeof value === 'string') return 'string'
  if (typeof value === 'boolean') return 'boolean'
  if (typeof value !== 'number' && typeof value !== 'bigint') return undefined
  return isInt64(value) ? 'int' : 'float'
}
