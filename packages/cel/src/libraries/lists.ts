/** Lists and sets of values. */
import { EACH_ELEMENT, EACH_WITH_EACH, actualSize } from '../costs/cost.ts'
import {
  MOST,
  STRING_TRAVERSAL,
  exactly,
  product,
  scaled,
  sum,
  UNKNOWN_SIZE,
} from '../costs/cost-range.ts'
import type { CostRange } from '../costs/cost-range.ts'
import { compare, equal } from '../values/equality.ts'
import { declare, declareFor } from '../checking/signature.ts'
import type { Costs, EstimatedArgument, Library } from '../checking/signature.ts'
import {
  ArrayList,
  CelDuration,
  CelList,
  CelUint,
  CostExceeded,
  EvaluationError,
  MAX_INT,
  MIN_INT,
  typeNameOf,
} from '../values/values.ts'
import type { Value } from '../values/values.ts'
import { int, uint } from './operators.ts'

const COMPARABLE = ['int', 'uint', 'double', 'bool', 'duration', 'timestamp', 'string', 'bytes']

function isSorted(list: CelList): boolean {
  for (let index = 1; index < list.length; index++)
    if (compare(list.at(index - 1), list.at(index)) > 0) return false
  return true
}

function total(list: CelList, zero: Value): Value {
  let result = zero
  for (const item of list) result = add(result, item)
  return result
}

function add(a: Value, b: Value): Value {
  if (typeof a === 'bigint' && typeof b === 'bigint') return int(a + b)
  if (typeof a === 'number' && typeof b === 'number') return a + b
  if (a instanceof CelUint && b instanceof CelUint) return uint(a.value + b.value)
  if (a instanceof CelDuration && b instanceof CelDuration) {
    const nanos = a.nanos + b.nanos
    if (nanos > MAX_INT || nanos < MIN_INT) throw new EvaluationError('integer overflow')
    return new CelDuration(nanos)
  }
  throw new EvaluationError('no such overload')
}

const ZEROS: readonly (readonly [string, Value])[] = [
  ['int', 0n],
  ['uint', new CelUint(0n)],
  ['double', 0],
  ['duration', new CelDuration(0n)],
]

/** Of a list whose static type says nothing, the elements tell what nothing is. */
function sumFrom(zero: Value): (list: CelList) => Value {
  return (list) => {
    if (list.length === 0) return zero
    return total(new ArrayList([...list].slice(1)), list.at(0))
  }
}

function extreme(name: 'min' | 'max'): (list: CelList) => Value {
  return (list) => {
    if (list.length === 0) throw new EvaluationError(`${name} called on empty list`)
    let best = list.at(0)
    for (const item of list) {
      const order = compare(item, best)
      if (name === 'min' ? order < 0 : order > 0) best = item
    }
    return best
  }
}

function indexOf(list: CelList, item: Value): bigint {
  for (let index = 0; index < list.length; index++)
    if (equal(list.at(index), item)) return BigInt(index)
  return -1n
}

function lastIndexOf(list: CelList, item: Value): bigint {
  for (let index = list.length - 1; index >= 0; index--)
    if (equal(list.at(index), item)) return BigInt(index)
  return -1n
}

function slice(list: CelList, start: bigint, end: bigint): CelList {
  if (start < 0n || end < 0n)
    throw new EvaluationError(`cannot slice(${start}, ${end}), negative indexes not supported`)
  if (start > end)
    throw new EvaluationError(
      `cannot slice(${start}, ${end}), start index must be less than or equal to end index`,
    )
  if (end > BigInt(list.length))
    throw new EvaluationError(`cannot slice(${start}, ${end}), list is length ${list.length}`)
  return new ArrayList([...list].slice(Number(start), Number(end)))
}

function flatten(list: CelList, depth = 1n): CelList {
  if (depth < 0n) throw new EvaluationError('level must be non-negative')
  const flat = (value: CelList, levels: bigint): Value[] =>
    [...value].flatMap((item) =>
      item instanceof CelList && levels > 0n ? flat(item, levels - 1n) : [item],
    )
  return new ArrayList(flat(list, depth))
}

function distinct(list: CelList): CelList {
  const kept: Value[] = []
  for (const item of list) if (!kept.some((other) => equal(item, other))) kept.push(item)
  return new ArrayList(kept)
}

const MOST_IN_RANGE = 1_000_000n

function range(count: bigint): CelList {
  // No expression may cost as much.
  if (count > MOST_IN_RANGE) throw new CostExceeded()
  return new ArrayList(Array.from({ length: Math.max(Number(count), 0) }, (_, n) => BigInt(n)))
}

function sorted(list: CelList): CelList {
  return new ArrayList([...list].toSorted(compare))
}

/** Sorts the first list by the keys at the same places of the second. */
function sortByKeys(list: CelList, keys: CelList): CelList {
  const pairs = [...list].map((item, index) => ({ item, key: keys.at(index) }))
  if (new Set(pairs.map(({ key }) => typeNameOf(key))).size > 1)
    throw new EvaluationError('list elements must have the same type')
  return new ArrayList(pairs.toSorted((a, b) => compare(a.key, b.key)).map(({ item }) => item))
}

const LIST_COST = 10

/** A new list, after `passes` looks at each element. */
const allocating = (size: CostRange, passes: number): CostRange =>
  sum(scaled(size, passes), exactly(1 + LIST_COST))

const allocated = (size: number): number => size + 1 + LIST_COST

const SAME_SIZE: Costs = {
  cost: (args) => allocated(actualSize(args[0]!)),
  estimate: ([list]) => ({ cost: allocating(list!.size, 1), size: list!.size }),
}
const SLICE: Costs = {
  cost: (_args, result) => allocated(actualSize(result)),
  estimate: ([list, start, end]) => {
    const from = literalNumber(start!) ?? 0
    const to = literalNumber(end!) ?? list!.size.max
    // As in Go, less than nothing is more than anything.
    const size = exactly(to < from ? MOST : to - from)
    return { cost: allocating(size, 1), size }
  },
}
const PASSES_PER_PAIR = 2

/** Every element with every other; texts are read on the way. */
const eachPair = (readsTexts: boolean): Costs => ({
  cost: (args) => allocated(actualSize(args[0]!) ** 2 * PASSES_PER_PAIR),
  estimate: (args) => {
    const { type, size } = args[0]!
    const keys = args.at(-1)!.type
    const pairs = product(size, size)
    const isText =
      readsTexts &&
      type.kind === 'list' &&
      keys.kind === 'list' &&
      ['string', 'bytes'].includes(keys.element.kind)
    const passes = PASSES_PER_PAIR + (isText ? STRING_TRAVERSAL : 0)
    return { cost: allocating(pairs, passes), size: pairs }
  },
})
const DISTINCT = eachPair(false)
const SORT = eachPair(true)
/** By the depth that is asked for, whether or not there is one. */
const FLATTEN: Costs = {
  cost: ([list, depth]) => allocated(actualSize(list!) * Number(depth ?? 1)),
  estimate: ([list, depth]) => ({
    cost: allocating(list!.size, depth === undefined ? 1 : (literalNumber(depth) ?? MOST)),
    size: list!.size,
  }),
}
const RANGE: Costs = {
  cost: (_args, result) => allocated(actualSize(result)),
  estimate: ([count]) => {
    const known = literalNumber(count!)
    const size = known === undefined ? UNKNOWN_SIZE : exactly(known)
    return { cost: allocating(size, 1), size }
  },
}

function literalNumber({ literal }: EstimatedArgument): number | undefined {
  return typeof literal === 'bigint' ? Number(literal) : undefined
}

export const LISTS: Library = {
  overloads: [
    ...declareFor(COMPARABLE, 'list(T).isSorted(): bool', isSorted, EACH_ELEMENT),
    ...ZEROS.map(([type, zero]) =>
      declare(`list(${type}).sum(): ${type}`, sumFrom(zero), EACH_ELEMENT),
    ),
    ...declareFor(COMPARABLE, 'list(T).min(): T', extreme('min'), EACH_ELEMENT),
    ...declareFor(COMPARABLE, 'list(T).max(): T', extreme('max'), EACH_ELEMENT),
    declare('list(A).indexOf(A): int', indexOf, EACH_ELEMENT),
    declare('list(A).lastIndexOf(A): int', lastIndexOf, EACH_ELEMENT),
    declare('list(A).slice(int, int): list(A)', slice, SLICE),
    declare('list(list(A)).flatten(): list(A)', flatten, FLATTEN),
    declare('list(dyn).flatten(int): list(dyn)', flatten, FLATTEN),
    declare('list(A).distinct(): list(A)', distinct, DISTINCT),
    declare(
      'list(A).reverse(): list(A)',
      (list: CelList) => new ArrayList([...list].toReversed()),
      SAME_SIZE,
    ),
    ...declareFor(COMPARABLE, 'list(T).sort(): list(T)', sorted, SORT),
    ...declareFor(COMPARABLE, 'list(A).@sortByAssociatedKeys(list(T)): list(A)', sortByKeys, SORT),
    declare('lists.range(int): list(int)', range, RANGE),
  ],
}

const isIn = (item: Value, list: CelList): boolean =>
  [...list].some((element) => equal(item, element))

function containsAll(list: CelList, part: CelList): boolean {
  return [...part].every((item) => isIn(item, list))
}

const EACH_WITH_EACH_TWICE: Costs = {
  cost: (args) => 2 * actualSize(args[0]!) * actualSize(args[1]!) + 1,
  estimate: ([a, b]) => ({ cost: sum(scaled(product(a!.size, b!.size), 2), exactly(1)) }),
}

export const SETS: Library = {
  overloads: [
    declare('sets.contains(list(A), list(A)): bool', containsAll, EACH_WITH_EACH),
    declare(
      'sets.equivalent(list(A), list(A)): bool',
      (a: CelList, b: CelList) => containsAll(a, b) && containsAll(b, a),
      EACH_WITH_EACH_TWICE,
    ),
    declare(
      'sets.intersects(list(A), list(A)): bool',
      (a: CelList, b: CelList) => [...b].some((item) => isIn(item, a)),
      EACH_WITH_EACH,
    ),
  ],
}
