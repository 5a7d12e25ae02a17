/** Equality and order. Values of different types are unequal; numbers of different types are compared by value. */
import { semanticEqual } from '@gyropilot/api'
import {
  CelDuration,
  CelList,
  CelMap,
  CelOptional,
  CelTimestamp,
  CelUint,
  EvaluationError,
  Opaque,
  TypeValue,
} from './values.ts'
import type { Value } from './values.ts'
import { runtimeTypeName } from '../checking/types.ts'

export function equal(a: Value, b: Value): boolean {
  if (a === b) return true
  if (a === null || b === null) return false
  const order = compareNumbers(a, b)
  if (order !== undefined) return order === 0
  if (a instanceof CelList) return b instanceof CelList && equalLists(a, b)
  if (a instanceof CelMap) return b instanceof CelMap && equalMaps(a, b)
  if (a instanceof Uint8Array) return b instanceof Uint8Array && Buffer.compare(a, b) === 0
  if (a instanceof CelTimestamp) return b instanceof CelTimestamp && a.nanos === b.nanos
  if (a instanceof CelDuration) return b instanceof CelDuration && a.nanos === b.nanos
  if (a instanceof CelOptional) {
    if (!(b instanceof CelOptional)) return false
    if (a.value === undefined || b.value === undefined) return a.value === b.value
    return equal(a.value, b.value)
  }
  if (a instanceof TypeValue)
    return b instanceof TypeValue && runtimeTypeName(a.type) === runtimeTypeName(b.type)
  if (!(a instanceof Opaque && b instanceof Opaque)) return false
  return a.typeName === b.typeName && b.isEqualable && a.equals(b)
}

/** Whether kube-apiserver would have an error for an answer. Within lists and maps that is no difference. */
export function isIncomparable(a: Value, b: Value): boolean {
  if (b === null) return false
  if (a instanceof CelList) return a.isOfSchema && !(b instanceof CelList)
  if (a instanceof CelMap) return a.ofSchema !== undefined && !(b instanceof CelMap)
  return a instanceof Opaque && b instanceof Opaque && a.typeName === b.typeName && !b.isEqualable
}

const differ = (a: Value, b: Value): boolean => !isIncomparable(a, b) && !equal(a, b)

function equalLists(a: CelList, b: CelList): boolean {
  if (a.length !== b.length) return false
  // The left one decides how they are compared.
  const { semantics } = a
  if (semantics.kind === 'atomic') {
    for (let index = 0; index < a.length; index++) {
      if (differ(a.at(index), b.at(index))) return false
    }
    return true
  }
  // Sets and maps are equal in any order.
  const find = finderOf(b, semantics)
  for (const item of a) {
    const other = find(item)
    if (other === undefined || !equal(item, other)) return false
  }
  return true
}

/** Finds the element of a list that stands for the same as another: the equal one of a set, the one with the same keys of a map. */
export function finderOf(
  list: CelList,
  semantics: CelList['semantics'],
): (item: Value) => Value | undefined {
  if (semantics.kind === 'map') {
    const byKey = new Map<string, Value>()
    for (const item of list) byKey.set(mapKey(item, semantics.keys), item)
    return (item) => byKey.get(mapKey(item, semantics.keys))
  }
  const texts = new Map<Value, Value>()
  const others: Value[] = []
  for (const item of list) {
    if (typeof item === 'string' || typeof item === 'bigint' || typeof item === 'boolean')
      texts.set(item, item)
    else others.push(item)
  }
  return (item) => texts.get(item) ?? others.find((other) => equal(other, item))
}

/** What identifies an item of a list of type map. */
function mapKey(item: Value, keys: readonly string[]): string {
  if (!(item instanceof CelMap)) return ''
  return JSON.stringify(
    keys.map((key) => {
      const value = item.get(key)
      return value === undefined ? null : `${typeof value}:${String(value)}`
    }),
  )
}

function equalMaps(a: CelMap, b: CelMap): boolean {
  if (a.size !== b.size) return false
  const undeclared = a.undeclared()
  for (const key of a.keys()) {
    // An undeclared field: see below.
    if (key === null && undeclared.length > 0) continue
    if (typeof key !== 'string' && b.ofSchema !== undefined) return false
    const value = a.get(key)
    const other = b.get(key)
    if (value === undefined) {
      // Null: a key without a value.
      if (other !== undefined || ![...b.keys()].includes(key)) return false
    } else if (other === undefined || differ(value, other)) return false
  }
  if (undeclared.length === 0) return true
  const theirs = b.ofSchema
  if (theirs === undefined) throw new EvaluationError('no such overload')
  // One that only the left side has makes no difference.
  const ours = a.ofSchema!
  return undeclared.every(
    (name) => !Object.hasOwn(theirs, name) || semanticEqual(ours[name], theirs[name]),
  )
}

function numberOf(value: Value): bigint | number | undefined {
  if (typeof value === 'bigint' || typeof value === 'number') return value
  return value instanceof CelUint ? value.value : undefined
}

/** Undefined when one of them is no number. NaN is neither less nor equal: NaN. */
function compareNumbers(a: Value, b: Value): number | undefined {
  const x = numberOf(a)
  const y = numberOf(b)
  if (x === undefined || y === undefined) return undefined
  // Integers of any kind by their exact values; with a double both are doubles, as in Go.
  if (typeof x === 'number' || typeof y === 'number') return compareDoubles(Number(x), Number(y))
  return x < y ? -1 : x > y ? 1 : 0
}

function compareDoubles(x: number, y: number): number {
  return x < y ? -1 : x > y ? 1 : x === y ? 0 : Number.NaN
}

/** Negative, zero or positive; NaN for NaN. Throws EvaluationError for types without an order. */
export function compare(a: Value, b: Value): number {
  const numbers = compareNumbers(a, b)
  if (numbers !== undefined) return numbers
  if (typeof a === 'string' && typeof b === 'string') return compareTexts(a, b)
  if (typeof a === 'boolean' && typeof b === 'boolean') return Number(a) - Number(b)
  if (a instanceof Uint8Array && b instanceof Uint8Array) return Buffer.compare(a, b)
  if (a instanceof CelTimestamp && b instanceof CelTimestamp) return sign(a.nanos - b.nanos)
  if (a instanceof CelDuration && b instanceof CelDuration) return sign(a.nanos - b.nanos)
  throw new EvaluationError('no such overload')
}

function sign(n: bigint): number {
  return n < 0n ? -1 : n > 0n ? 1 : 0
}

/** By code point, which is also the order of the UTF-8 bytes. */
function compareTexts(a: string, b: string): number {
  if (a === b) return 0
  const length = Math.min(a.length, b.length)
  for (let index = 0; index < length; index++) {
    const x = a.charCodeAt(index)
    const y = b.charCodeAt(index)
    if (x === y) continue
    // Surrogates stand for code points above all others.
    const high = (unit: number): number =>
      unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit
    return high(x) - high(y)
  }
  return a.length - b.length
}
