/** Operators, indexing, membership and size: what the language itself defines. */
import { COMPARISON, CONCATENATION, EQUALITY, actualSize } from '../costs/cost.ts'
import { exactly, sum } from '../costs/cost-range.ts'
import { compare, equal, finderOf, isIncomparable } from '../values/equality.ts'
import { declare } from '../checking/signature.ts'
import type { Costs, Library } from '../checking/signature.ts'
import { isTimestamp } from '../values/time-text.ts'
import {
  ArrayList,
  CelDuration,
  CelList,
  CelMap,
  CelOptional,
  CelTimestamp,
  CelUint,
  EvaluationError,
  Opaque,
  GrowingList,
  MAX_INT,
  MAX_UINT,
  MIN_INT,
  NONE,
  typeNameOf,
} from '../values/values.ts'
import { textLength } from '../values/measures.ts'
import type { GrowingMap, Value } from '../values/values.ts'

/** Throws EvaluationError beyond 64 bits. */
export function int(value: bigint): bigint {
  if (value > MAX_INT || value < MIN_INT) throw new EvaluationError('integer overflow')
  return value
}

export function uint(value: bigint): CelUint {
  if (value > MAX_UINT || value < 0n) throw new EvaluationError('unsigned integer overflow')
  return new CelUint(value)
}

function duration(nanos: bigint): CelDuration {
  if (nanos > MAX_INT || nanos < MIN_INT) throw new EvaluationError('integer overflow')
  return new CelDuration(nanos)
}

/** Of the clock of `from`. */
function timestamp(from: CelTimestamp, moreNanos: bigint): CelTimestamp {
  const nanos = from.nanos + moreNanos
  if (!isTimestamp(nanos)) throw new EvaluationError('timestamp overflow')
  return new CelTimestamp(nanos, from.offsetMinutes)
}

function divisor(value: bigint, word: string): bigint {
  if (value === 0n) throw new EvaluationError(word)
  return value
}

function remainder(a: bigint, b: bigint): bigint {
  // That of the smallest int by -1 would be 0, but the quotient that it is left of overflows.
  int(a / divisor(b, 'modulus by zero'))
  return a % b
}

/** In the order in which the overloads are tried: the first that fits types without a name decides what they are. */
const ADDITION = [
  declare(
    '_+_(bytes, bytes): bytes',
    (a: Uint8Array, b: Uint8Array) => Uint8Array.from(Buffer.concat([a, b])),
    CONCATENATION,
  ),
  declare('_+_(double, double): double', (a: number, b: number) => a + b),
  declare('_+_(duration, duration): duration', (a: CelDuration, b: CelDuration) =>
    duration(a.nanos + b.nanos),
  ),
  declare('_+_(duration, timestamp): timestamp', (a: CelDuration, b: CelTimestamp) =>
    timestamp(b, a.nanos),
  ),
  declare('_+_(timestamp, duration): timestamp', (a: CelTimestamp, b: CelDuration) =>
    timestamp(a, b.nanos),
  ),
  declare('_+_(int, int): int', (a: bigint, b: bigint) => int(a + b)),
  declare('_+_(list(A), list(A)): list(A)', joinLists, {
    estimate: ([a, b]) => ({ cost: exactly(1), size: sum(a!.size, b!.size) }),
  }),
  declare('_+_(string, string): string', (a: string, b: string) => a + b, CONCATENATION),
  declare('_+_(uint, uint): uint', (a: CelUint, b: CelUint) => uint(a.value + b.value)),
]

const ARITHMETIC = [
  declare('_-_(int, int): int', (a: bigint, b: bigint) => int(a - b)),
  declare('_-_(uint, uint): uint', (a: CelUint, b: CelUint) => uint(a.value - b.value)),
  declare('_-_(double, double): double', (a: number, b: number) => a - b),
  declare('_-_(duration, duration): duration', (a: CelDuration, b: CelDuration) =>
    duration(a.nanos - b.nanos),
  ),
  declare('_-_(timestamp, timestamp): duration', (a: CelTimestamp, b: CelTimestamp) =>
    duration(a.nanos - b.nanos),
  ),
  declare('_-_(timestamp, duration): timestamp', (a: CelTimestamp, b: CelDuration) =>
    timestamp(a, duration(-b.nanos).nanos),
  ),
  declare('_*_(int, int): int', (a: bigint, b: bigint) => int(a * b)),
  declare('_*_(uint, uint): uint', (a: CelUint, b: CelUint) => uint(a.value * b.value)),
  declare('_*_(double, double): double', (a: number, b: number) => a * b),
  declare('_/_(int, int): int', (a: bigint, b: bigint) => int(a / divisor(b, 'division by zero'))),
  declare('_/_(uint, uint): uint', (a: CelUint, b: CelUint) =>
    uint(a.value / divisor(b.value, 'division by zero')),
  ),
  declare('_/_(double, double): double', (a: number, b: number) => a / b),
  declare('_%_(int, int): int', remainder),
  declare('_%_(uint, uint): uint', (a: CelUint, b: CelUint) =>
    uint(a.value % divisor(b.value, 'modulus by zero')),
  ),
  declare('-_(int): int', (a: bigint) => int(-a)),
  declare('-_(double): double', (a: number) => -a),
]

const ORDERED = ['bool', 'string', 'bytes', 'timestamp', 'duration']
const NUMBERS = ['int', 'uint', 'double']
const ORDERS: Readonly<Record<string, (order: number) => boolean>> = {
  '_<_': (order) => order < 0,
  '_<=_': (order) => order <= 0,
  '_>_': (order) => order > 0,
  '_>=_': (order) => order >= 0,
}
const COMPARISONS = Object.entries(ORDERS).flatMap(([name, holds]) => {
  const evaluate = (a: Value, b: Value): boolean => {
    const order = compare(a, b)
    // Functions of lists take it as it comes; only the operators refuse.
    if (Number.isNaN(order)) throw new EvaluationError('NaN values cannot be ordered')
    return holds(order)
  }
  // Numbers of different types are compared by value.
  const pairs = NUMBERS.flatMap((a) => NUMBERS.map((b) => `${name}(${a}, ${b}): bool`))
  return [
    ...pairs.map((signature) => declare(signature, evaluate)),
    ...ORDERED.flatMap((type) => {
      const text = type === 'string' || type === 'bytes'
      return declare(`${name}(${type}, ${type}): bool`, evaluate, text ? COMPARISON : {})
    }),
  ]
})

const LOGIC = [
  // Evaluated by the evaluator, which stops when one side decides.
  declare('_&&_(bool, bool): bool', (a: boolean, b: boolean) => a && b),
  declare('_||_(bool, bool): bool', (a: boolean, b: boolean) => a || b),
  declare('_?_:_(bool, A, A): A', (a: boolean, b: Value, c: Value) => (a ? b : c)),
  declare('@not_strictly_false(bool): bool', (a: boolean) => a),
  declare('!_(bool): bool', (a: boolean) => !a),
  declare('_==_(A, A): bool', areEqual, EQUALITY),
  declare('_!=_(A, A): bool', areDifferent, COMPARISON),
]

const MEMBERSHIP: Costs = {
  cost: (args) => actualSize(args[1]!),
  estimate: ([, list]) => ({ cost: list!.size }),
}

/** What is not there costs nothing. */
const WHAT_IS_THERE: Costs = {
  cost: (_, result) => (result === NONE ? 0 : 1),
}

const ACCESS = [
  declare(
    '@in(A, list(A)): bool',
    (item: Value, list: CelList) => {
      for (const element of list) if (equal(item, element)) return true
      return false
    },
    MEMBERSHIP,
  ),
  declare('@in(A, map(A, B)): bool', (key: Value, map: CelMap) => map.has(key)),
  declare('_[_](list(A), int): A', elementAt),
  declare('_[_](map(A, B), A): B', valueAt),
  declare('_[_](optional(list(A)), int): optional(A)', optionalElement),
  declare('_[_](optional(map(A, B)), A): optional(B)', optionalValue),
  declare('_[?_](list(A), int): optional(A)', optionalElement, WHAT_IS_THERE),
  declare('_[?_](map(A, B), A): optional(B)', optionalValue, WHAT_IS_THERE),
  declare('_[?_](optional(list(A)), int): optional(A)', optionalElement, WHAT_IS_THERE),
  declare('_[?_](optional(map(A, B)), A): optional(B)', optionalValue, WHAT_IS_THERE),
  declare('@insert(map(A, B), A, B): map(A, B)', insert),
  declare('@insert(map(A, B), map(A, B)): map(A, B)', insertAll),
  ...['string', 'bytes', 'list(A)', 'map(A, B)'].flatMap((type) => [
    declare(`size(${type}): int`, sizeOf),
    declare(`${type}.size(): int`, sizeOf),
  ]),
]

export const OPERATORS: Library = {
  overloads: [...ADDITION, ...ARITHMETIC, ...COMPARISONS, ...LOGIC, ...ACCESS],
}

/** Only the operators refuse what no value can equal; in lists it is just not found. */
function areEqual(a: Value, b: Value): boolean {
  if (isIncomparable(a, b)) throw new EvaluationError('no such overload')
  return equal(a, b)
}

/** What a schema describes differs from anything of another type. */
function areDifferent(a: Value, b: Value): boolean {
  return !(a instanceof Opaque ? areEqual(a, b) : equal(a, b))
}

/** Lists of Kubernetes join by what they are: sets without repetition, maps by key with the right one winning. */
function joinLists(a: CelList, b: CelList): CelList {
  if (a instanceof GrowingList) {
    for (const item of b) a.values.push(item)
    return a
  }
  const { semantics } = a
  if (semantics.kind === 'atomic') return new ArrayList([...a, ...b], a)
  const inLeft = finderOf(a, semantics)
  if (semantics.kind === 'set') {
    const added = [...b].filter((item) => inLeft(item) === undefined)
    return new ArrayList([...a, ...added], a)
  }
  const inRight = finderOf(b, semantics)
  const merged = [...a].map((item) => inRight(item) ?? item)
  const added = [...b].filter((item) => inLeft(item) === undefined)
  return new ArrayList([...merged, ...added], a)
}

function elementAt(list: CelList, index: bigint): Value {
  if (index < 0n || index >= BigInt(list.length))
    throw new EvaluationError(`index out of bounds: ${index}`)
  return list.at(Number(index))
}

function valueAt(map: CelMap, key: Value): Value {
  const value = map.get(key)
  if (value === undefined) {
    const shown = key instanceof CelUint ? key.value : key
    throw new EvaluationError(`no such key: ${String(shown)}`)
  }
  return value
}

function optionalElement(list: Value, index: bigint): CelOptional {
  const inner = list instanceof CelOptional ? list.value : list
  if (!(inner instanceof CelList) || index < 0n || index >= BigInt(inner.length)) return NONE
  return new CelOptional(inner.at(Number(index)))
}

function optionalValue(map: Value, key: Value): CelOptional {
  const inner = map instanceof CelOptional ? map.value : map
  if (!(inner instanceof CelMap)) return NONE
  const value = inner.get(key)
  return value === undefined ? NONE : new CelOptional(value)
}

function insert(map: GrowingMap, key: Value, value: Value): CelMap {
  map.insert(key, value)
  return map
}

function insertAll(map: GrowingMap, entries: CelMap): CelMap {
  for (const key of entries.keys()) map.insert(key, entries.get(key)!)
  return map
}

function sizeOf(value: string | Uint8Array | CelList | CelMap): bigint {
  if (typeof value === 'string') return BigInt(textLength(value))
  return BigInt(value instanceof CelMap ? value.size : value.length)
}

/** An element of a list or map, also where only the value tells what it is. */
export function indexed(holder: Value, key: Value): Value {
  if (holder instanceof CelOptional)
    return holder.value instanceof CelList
      ? optionalElement(holder, key as bigint)
      : optionalValue(holder, key)
  if (holder instanceof CelMap) return valueAt(holder, key)
  if (!(holder instanceof CelList)) throw new EvaluationError(`no such key: ${keyText(key)}`)
  return elementAt(holder, positionOf(key))
}

/** Where a key points to in a list. Throws EvaluationError for what is no whole number. */
export function positionOf(key: Value): bigint {
  if (typeof key === 'bigint') return key
  if (key instanceof CelUint) return key.value
  if (typeof key !== 'number')
    throw new EvaluationError(`unsupported index type '${typeNameOf(key)}' in list`)
  if (!Number.isInteger(key)) throw new EvaluationError(`unsupported index value ${key} in list`)
  return BigInt(key)
}

const keyText = (key: Value): string => String(key instanceof CelUint ? key.value : key)
