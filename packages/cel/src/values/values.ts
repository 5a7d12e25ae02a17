/** What expressions compute with. */
import type { CelType } from '../checking/types.ts'
import type { ListSemantics } from './list-semantics.ts'

export type Value =
  | null
  | boolean
  /** int */
  | bigint
  /** double */
  | number
  | string
  | Uint8Array
  | CelUint
  | CelTimestamp
  | CelDuration
  | CelList
  | CelMap
  | CelOptional
  | TypeValue
  | Opaque

export const MAX_INT = 2n ** 63n - 1n
export const MIN_INT = -(2n ** 63n)
export const MAX_UINT = 2n ** 64n - 1n

/** An expression that could not be evaluated. Absorbed by `||` and `&&` when the other side decides. */
export class EvaluationError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'EvaluationError'
  }
}

/** Not absorbed by anything: the expression has cost more than it may. */
export class CostExceeded extends Error {
  constructor() {
    super('operation cancelled: actual cost limit exceeded')
    this.name = 'CostExceeded'
  }
}

export class CelUint {
  readonly value: bigint

  constructor(value: bigint) {
    this.value = value
  }
}

/** Nanoseconds since the Unix epoch. */
export class CelTimestamp {
  readonly nanos: bigint
  /** Of the clock that it was read from, before UTC below zero: only its text shows it. */
  readonly offsetMinutes: number

  constructor(nanos: bigint, offsetMinutes = 0) {
    this.nanos = nanos
    this.offsetMinutes = offsetMinutes
  }
}

export class CelDuration {
  readonly nanos: bigint

  constructor(nanos: bigint) {
    this.nanos = nanos
  }
}

const ATOMIC: ListSemantics = { kind: 'atomic' }

export abstract class CelList {
  readonly semantics: ListSemantics = ATOMIC
  /** Part of an object that a schema describes. */
  readonly isOfSchema: boolean = false
  abstract readonly length: number
  abstract at(index: number): Value

  // A method comes first: when types are stripped, nothing else ends the field above.
  isEmpty(): boolean {
    return this.length === 0
  }

  *[Symbol.iterator](): Iterator<Value> {
    for (let index = 0; index < this.length; index++) yield this.at(index)
  }
}

export class ArrayList extends CelList {
  readonly #values: readonly Value[]
  override readonly semantics: ListSemantics
  override readonly isOfSchema: boolean

  constructor(values: readonly Value[], like?: CelList) {
    super()
    this.#values = values
    this.semantics = like?.semantics ?? ATOMIC
    this.isOfSchema = like?.isOfSchema === true
  }

  override get length(): number {
    return this.#values.length
  }

  override at(index: number): Value {
    return this.#values[index]!
  }
}

/** The result of a fold while it grows: nothing else can hold it before it is `finished`. */
export class GrowingList extends CelList {
  readonly values: Value[] = []

  /** The list for everybody else, which nothing extends; it takes the values over, so this one must not be used any more. */
  finished(): ArrayList {
    return new ArrayList(this.values)
  }

  override get length(): number {
    return this.values.length
  }

  override at(index: number): Value {
    return this.values[index]!
  }
}

export abstract class CelMap {
  /** The JSON of an object that a schema describes. */
  readonly ofSchema: Readonly<Record<string, unknown>> | undefined
  abstract readonly size: number
  /** Undefined: no such key. */
  abstract get(key: Value): Value | undefined
  abstract keys(): Iterable<Value>

  has(key: Value): boolean {
    return this.get(key) !== undefined
  }

  /** The fields that it has beyond those of its schema. */
  undeclared(): readonly string[] {
    return []
  }
}

/**
 * A map that an expression has written out. A key of another type of number is another key, found by doubles and between int
 * and uint when it has the value; lists and maps are keys that nothing finds.
 */
export class EntryMap extends CelMap {
  readonly #entries = new Map<unknown, readonly [key: Value, value: Value]>()

  override get size(): number {
    return this.#entries.size
  }

  override get(key: Value): Value | undefined {
    const found = this.#entries.get(keyIdentity(key))
    if (found !== undefined) return found[1]
    for (const alike of alikeIdentities(key)) {
      const other = this.#entries.get(alike)
      if (other !== undefined) return other[1]
    }
    return undefined
  }

  override *keys(): Iterable<Value> {
    for (const [key] of this.#entries.values()) yield key
  }

  /** The last of equal keys wins. */
  put(key: Value, value: Value): void {
    this.#entries.set(keyIdentity(key), [key, value])
  }

  /** Throws EvaluationError for keys that are there already. */
  insert(key: Value, value: Value): void {
    const identity = keyIdentity(key)
    if (this.#entries.has(identity))
      throw new EvaluationError(`insert failed: key ${String(key)} already exists`)
    this.#entries.set(identity, [key, value])
  }
}

/** The result of a fold over a map while it grows. */
export class GrowingMap extends EntryMap {}

/** An object that a patch is made of: `Object.metadata{...}`. */
export class StructMap extends EntryMap {
  readonly structName: string

  constructor(structName: string) {
    super()
    this.structName = structName
  }
}

function keyIdentity(key: Value): unknown {
  switch (typeof key) {
    case 'string':
      return `s${key}`
    case 'boolean':
      return `b${key}`
    case 'bigint':
      return `i${key}`
    case 'number':
      return `d${key}`
  }
  if (key instanceof CelUint) return `u${key.value}`
  if (key instanceof CelTimestamp) return `t${key.nanos}`
  if (key instanceof CelDuration) return `l${key.nanos}`
  // Null is itself; what has no identity by value has its own.
  return key
}

/** Where a number of another type with the value of this one would be. */
function alikeIdentities(key: Value): readonly string[] {
  if (typeof key === 'bigint') return [`u${key}`]
  if (key instanceof CelUint) return [`i${key.value}`]
  if (typeof key !== 'number' || !Number.isInteger(key)) return []
  return [`i${BigInt(key)}`, `u${BigInt(key)}`]
}

export class CelOptional {
  /** Undefined: none. */
  readonly value: Value | undefined

  constructor(value: Value | undefined) {
    this.value = value
  }
}

export const NONE = new CelOptional(undefined)

/** A type as a value: `type(x) == int`. */
export class TypeValue {
  readonly type: CelType

  constructor(type: CelType) {
    this.type = type
  }
}

/** A value of a library: quantities, addresses, URLs, decisions. Equality and size are its own. */
export abstract class Opaque {
  abstract readonly typeName: string
  abstract equals(other: Opaque): boolean

  /** Whether another value may equal this one: not so what kube-apiserver keeps in another form than it compares with. */
  get isEqualable(): boolean {
    return true
  }

  /** Of values that stand for a text or bytes, for costs. */
  get costSize(): number {
    return 1
  }
}

export const EMPTY_LIST = new ArrayList([])
export const EMPTY_MAP: CelMap = new EntryMap()

/** The name of a value's type at run time, as messages show it. */
export function typeNameOf(value: Value): string {
  switch (typeof value) {
    case 'boolean':
      return 'bool'
    case 'bigint':
      return 'int'
    case 'number':
      return 'double'
    case 'string':
      return 'string'
  }
  if (value === null) return 'null_type'
  if (value instanceof Uint8Array) return 'bytes'
  if (value instanceof CelUint) return 'uint'
  if (value instanceof CelTimestamp) return 'google.protobuf.Timestamp'
  if (value instanceof CelDuration) return 'google.protobuf.Duration'
  if (value instanceof CelList) return 'list'
  if (value instanceof CelMap) return 'map'
  if (value instanceof CelOptional) return 'optional_type'
  if (value instanceof TypeValue) return 'type'
  return value.typeName
}

/** A map whose values are computed when they are first asked for: the variables of a policy. */
export class LazyMap extends CelMap {
  readonly #makers: ReadonlyMap<string, () => Value>
  readonly #values = new Map<string, Value>()

  constructor(makers: Iterable<readonly [name: string, make: () => Value]>) {
    super()
    this.#makers = new Map(makers)
  }

  override get size(): number {
    return this.#makers.size
  }

  override has(key: Value): boolean {
    return typeof key === 'string' && this.#makers.has(key)
  }

  override get(key: Value): Value | undefined {
    if (typeof key !== 'string') return undefined
    const known = this.#values.get(key)
    if (known !== undefined) return known
    const value = this.#makers.get(key)?.()
    if (value !== undefined) this.#values.set(key, value)
    return value
  }

  override keys(): Iterable<Value> {
    return this.#makers.keys()
  }
}
