/** Types of expressions, and the declarations that come from schemas. */
import type { ListSemantics } from '../values/list-semantics.ts'

export interface ObjectField {
  readonly type: CelType
  /** The field's name in JSON: `a-b` for `a__dash__b`. */
  readonly jsonName: string
  /** Another name of a field that is declared, too. */
  readonly isAlias?: boolean
}

/** What is known of the size of values, for the estimate of costs. Absent: nothing. */
interface Sized {
  readonly maxElements?: number
}

export interface ObjectType {
  readonly kind: 'object'
  readonly name: string
  readonly fields: ReadonlyMap<string, ObjectField>
  /** Of a schema: the properties that expressions cannot name, by their JSON names. */
  readonly unnamed?: ReadonlyMap<string, CelType>
  /** Fields beyond those that are declared, of type dyn: `Object{}` literals of policies. */
  readonly open?: (field: string) => CelType | undefined
  /** A field that is null is there. */
  readonly hasNulls?: boolean
  /** Of literals that are made by patch policies; other objects cannot be constructed. */
  readonly constructible?: boolean
}

export interface ListType extends Sized {
  readonly kind: 'list'
  readonly element: CelType
  readonly semantics?: ListSemantics
  readonly isOfSchema?: true
}

export interface MapType extends Sized {
  readonly kind: 'map'
  readonly key: CelType
  readonly value: CelType
  readonly isOfSchema?: true
}

export interface OpaqueType {
  readonly kind: 'opaque'
  readonly name: string
  readonly parameters: readonly CelType[]
}

export interface TypeOfType {
  readonly kind: 'type'
  readonly of: CelType | undefined
}

/** A variable of a signature; with `fresh` one of an expression, to be found out. */
export interface ParameterType {
  readonly kind: 'parameter'
  readonly name: string
}

export interface SimpleType extends Sized {
  readonly kind:
    | 'dyn'
    | 'error'
    | 'null'
    | 'bool'
    | 'int'
    | 'uint'
    | 'double'
    | 'string'
    | 'bytes'
    | 'timestamp'
    | 'duration'
  /** Of type dyn: a schema says that values are integers or texts. */
  readonly isIntOrString?: true
  /** Of type dyn: a schema says nothing about values. */
  readonly isUntyped?: true
}

export type CelType =
  | SimpleType
  | ObjectType
  | ListType
  | MapType
  | OpaqueType
  | TypeOfType
  | ParameterType

const simple = (kind: SimpleType['kind']): SimpleType => ({ kind })

export const DYN = simple('dyn')
export const UNTYPED: SimpleType = { kind: 'dyn', isUntyped: true }
/** Of an expression about which a problem was reported already. */
export const ERROR = simple('error')
export const NULL = simple('null')
export const BOOL = simple('bool')
export const INT = simple('int')
export const UINT = simple('uint')
export const DOUBLE = simple('double')
export const STRING = simple('string')
export const BYTES = simple('bytes')
export const TIMESTAMP = simple('timestamp')
export const DURATION = simple('duration')

export const listType = (element: CelType): ListType => ({ kind: 'list', element })
export const mapType = (key: CelType, value: CelType): MapType => ({ kind: 'map', key, value })
export const opaqueType = (name: string, parameters: readonly CelType[] = []): OpaqueType => ({
  kind: 'opaque',
  name,
  parameters,
})
export const optionalType = (of: CelType): OpaqueType => opaqueType('optional_type', [of])
export const typeOf = (of?: CelType): TypeOfType => ({ kind: 'type', of })
export const parameter = (name: string): ParameterType => ({ kind: 'parameter', name })

export function objectType(name: string, fields: Readonly<Record<string, CelType>>): ObjectType {
  return {
    kind: 'object',
    name,
    fields: new Map(
      Object.entries(fields).map(([jsonName, type]) => [jsonName, { type, jsonName }]),
    ),
  }
}

const SIMPLE_NAMES: Readonly<Record<SimpleType['kind'], string>> = {
  dyn: 'dyn',
  error: '!error!',
  null: 'null',
  bool: 'bool',
  int: 'int',
  uint: 'uint',
  double: 'double',
  string: 'string',
  bytes: 'bytes',
  timestamp: 'timestamp',
  duration: 'duration',
}

/** As messages of the compiler write it. */
export function typeText(type: CelType): string {
  return textOf(type, ({ kind }) => SIMPLE_NAMES[kind])
}

/** As Kubernetes writes what an expression evaluates to: simple types by the names that they have as values. */
export function fullTypeText(type: CelType): string {
  return textOf(type, runtimeTypeName)
}

function textOf(type: CelType, simple: (type: SimpleType) => string): string {
  const inner = (of: CelType): string => textOf(of, simple)
  switch (type.kind) {
    case 'list':
      return `list(${inner(type.element)})`
    case 'map':
      return `map(${inner(type.key)}, ${inner(type.value)})`
    case 'object':
      return type.name
    case 'opaque':
      return type.parameters.length === 0
        ? type.name
        : `${type.name}(${type.parameters.map(inner).join(', ')})`
    case 'type':
      return type.of === undefined ? 'type' : `type(${inner(type.of)})`
    case 'parameter':
      return type.name
    default:
      return simple(type)
  }
}

/** The name of the type as a value: two are equal when these are. */
export function runtimeTypeName(type: CelType): string {
  switch (type.kind) {
    case 'null':
      return 'null_type'
    case 'timestamp':
      return 'google.protobuf.Timestamp'
    case 'duration':
      return 'google.protobuf.Duration'
    case 'object':
    case 'opaque':
      return type.name
    default:
      return type.kind
  }
}

const SCALARS: ReadonlySet<CelType['kind']> = new Set([
  'bool',
  'int',
  'uint',
  'double',
  'timestamp',
  'duration',
])

/** Whether there is nothing to count in a value. An optional is what it may hold. */
export function isScalar(type: CelType): boolean {
  if (type.kind === 'opaque' && type.name === 'optional_type') return isScalar(type.parameters[0]!)
  return SCALARS.has(type.kind)
}

/** Dyn, and the type of what is broken, agree with everything. */
export function isDynamic({ kind }: CelType): boolean {
  return kind === 'dyn' || kind === 'error'
}

/** Whether a value of this type may be of another than is written: then overloads are chosen at run time. */
export function mentionsDynamic(type: CelType): boolean {
  switch (type.kind) {
    case 'dyn':
    case 'error':
    case 'parameter':
      return true
    case 'list':
      return mentionsDynamic(type.element)
    case 'map':
      return mentionsDynamic(type.key) || mentionsDynamic(type.value)
    case 'opaque':
      return type.parameters.some(mentionsDynamic)
    default:
      return false
  }
}
