/** Conversions between types, and types as values. */
import { onePass } from '../costs/cost.ts'
import { STRING_TRAVERSAL, scaled } from '../costs/cost-range.ts'
import { declare, declareFor } from '../checking/signature.ts'
import type { Costs, Library } from '../checking/signature.ts'
import {
  NANOS_PER_SECOND,
  floorDivide,
  formatDuration,
  formatTimestamp,
  offsetMinutesOf,
  isTimestamp,
  parseDuration,
  parseTimestamp,
} from '../values/time-text.ts'
import { parseDouble } from '../values/double-text.ts'
import {
  BOOL,
  BYTES,
  DOUBLE,
  DURATION,
  DYN,
  INT,
  NULL,
  STRING,
  TIMESTAMP,
  UINT,
  listType,
  mapType,
  opaqueType,
} from '../checking/types.ts'
import type { CelType } from '../checking/types.ts'
import {
  CelDuration,
  CelList,
  CelMap,
  CelOptional,
  CelTimestamp,
  CelUint,
  EvaluationError,
  MAX_INT,
  MAX_UINT,
  MIN_INT,
  TypeValue,
} from '../values/values.ts'
import type { Opaque, Value } from '../values/values.ts'
import { int, uint } from './operators.ts'

const INT_RANGE = 2 ** 63

function intOfDouble(value: number): bigint {
  if (!Number.isFinite(value) || value >= INT_RANGE || value <= -INT_RANGE)
    throw new EvaluationError('integer overflow')
  return BigInt(Math.trunc(value))
}

function uintOfDouble(value: number): CelUint {
  if (!Number.isFinite(value) || value < 0) throw new EvaluationError('unsigned integer overflow')
  return uint(BigInt(Math.trunc(value)))
}

const notA = (type: string, from = 'string'): EvaluationError =>
  new EvaluationError(`type conversion error from '${from}' to '${type}'`)

/** With no more digits than 64 bits may have: to read a million of them takes long, and costs one. */
const SIGNED = /^([+-]?)0*(\d{1,19})$/
const UNSIGNED = /^0*(\d{1,20})$/

function parseInteger(text: string): bigint {
  const [, sign, digits] = SIGNED.exec(text) ?? []
  if (digits === undefined) throw notA('int')
  const value = sign === '-' ? -BigInt(digits) : BigInt(digits)
  if (value > MAX_INT || value < MIN_INT) throw notA('int')
  return value
}

function parseUnsigned(text: string): CelUint {
  const digits = UNSIGNED.exec(text)?.[1]
  if (digits === undefined || BigInt(digits) > MAX_UINT) throw notA('uint')
  return uint(BigInt(digits))
}

function doubleOf(text: string): number {
  const value = parseDouble(text)
  if (value === undefined) throw notA('double')
  return value
}

const TRUE = new Set(['1', 't', 'T', 'true', 'TRUE', 'True'])
const FALSE = new Set(['0', 'f', 'F', 'false', 'FALSE', 'False'])

function parseBool(text: string): boolean {
  if (TRUE.has(text)) return true
  if (FALSE.has(text)) return false
  throw notA('bool')
}

function textOfBytes(value: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(value)
  } catch {
    throw new EvaluationError('invalid UTF-8 in bytes, cannot convert to string')
  }
}

/** Exponents of ten that Go's shortest form writes out. */
const SMALLEST_PLAIN = -4
const LARGEST_PLAIN = 6

/** As Go prints doubles: shortest form, with an exponent for very large and small ones. */
export function doubleText(value: number): string {
  if (Number.isNaN(value)) return 'NaN'
  if (!Number.isFinite(value)) return value > 0 ? '+Inf' : '-Inf'
  if (value === 0) return Object.is(value, -0) ? '-0' : '0'
  const shortest = value.toExponential()
  const exponent = Number(shortest.slice(shortest.indexOf('e') + 1))
  const plain = exponent >= SMALLEST_PLAIN && exponent < LARGEST_PLAIN
  return plain ? String(value) : shortest.replace(/e([+-])(\d)$/, 'e$10$2')
}

function timestampOf(text: string): CelTimestamp {
  const nanos = parseTimestamp(text)
  if (nanos === undefined) throw notA('google.protobuf.Timestamp')
  return new CelTimestamp(nanos, offsetMinutesOf(text))
}

function timestampOfSeconds(seconds: bigint): CelTimestamp {
  const nanos = seconds * NANOS_PER_SECOND
  if (!isTimestamp(nanos)) throw new EvaluationError('timestamp overflow')
  return new CelTimestamp(nanos)
}

function durationOf(text: string): CelDuration {
  const nanos = parseDuration(text)
  if (nanos === undefined) throw notA('google.protobuf.Duration')
  return new CelDuration(nanos)
}

const same = (value: Value): Value => value

/** Opaque types by name, for `type()`. */
function typeOfValue(value: Value): CelType {
  switch (typeof value) {
    case 'boolean':
      return BOOL
    case 'bigint':
      return INT
    case 'number':
      return DOUBLE
    case 'string':
      return STRING
  }
  if (value === null) return NULL
  if (value instanceof Uint8Array) return BYTES
  if (value instanceof CelUint) return UINT
  if (value instanceof CelTimestamp) return TIMESTAMP
  if (value instanceof CelDuration) return DURATION
  if (value instanceof CelList) return listType(DYN)
  if (value instanceof CelMap) return mapType(DYN, DYN)
  if (value instanceof CelOptional) return opaqueType('optional_type')
  if (value instanceof TypeValue) return { kind: 'type', of: undefined }
  return opaqueType((value as Opaque).typeName)
}

const CONSTANTS: Readonly<Record<string, CelType>> = {
  bool: BOOL,
  int: INT,
  uint: UINT,
  double: DOUBLE,
  string: STRING,
  bytes: BYTES,
  list: listType(DYN),
  map: mapType(DYN, DYN),
  null_type: NULL,
  type: { kind: 'type', of: undefined },
  optional_type: opaqueType('optional_type'),
  'google.protobuf.Timestamp': TIMESTAMP,
  'google.protobuf.Duration': DURATION,
}

const MOST_BYTES_PER_CHARACTER = 4
const ENCODED: Costs = {
  ...onePass(),
  estimate: ([text]) => ({
    cost: scaled(text!.size, STRING_TRAVERSAL),
    size: { min: text!.size.min, max: text!.size.max * MOST_BYTES_PER_CHARACTER },
  }),
}
const DECODED: Costs = {
  ...onePass(),
  estimate: ([bytes]) => ({
    cost: scaled(bytes!.size, STRING_TRAVERSAL),
    size: { min: Math.floor(bytes!.size.min / MOST_BYTES_PER_CHARACTER), max: bytes!.size.max },
  }),
}

export const CONVERSIONS: Library = {
  overloads: [
    ...declareFor(
      ['bool', 'int', 'uint', 'double', 'string', 'bytes', 'timestamp', 'duration'],
      'T(T): T',
      same,
    ),
    declare('int(uint): int', ({ value }: CelUint) => int(value)),
    declare('int(double): int', intOfDouble),
    declare('int(string): int', parseInteger),
    declare('int(timestamp): int', ({ nanos }: CelTimestamp) =>
      floorDivide(nanos, NANOS_PER_SECOND),
    ),
    declare('int(duration): int', ({ nanos }: CelDuration) => nanos),
    declare('uint(int): uint', (value: bigint) => uint(value)),
    declare('uint(double): uint', uintOfDouble),
    declare('uint(string): uint', parseUnsigned),
    declare('double(int): double', (value: bigint) => Number(value)),
    declare('double(uint): double', ({ value }: CelUint) => Number(value)),
    declare('double(string): double', doubleOf),
    declare('bool(string): bool', parseBool),
    declare('bytes(string): bytes', (text: string) => Uint8Array.from(Buffer.from(text)), ENCODED),
    declare('string(bool): string', (value: boolean) => String(value)),
    declare('string(int): string', (value: bigint) => String(value)),
    declare('string(uint): string', ({ value }: CelUint) => String(value)),
    declare('string(double): string', doubleText),
    declare('string(bytes): string', textOfBytes, DECODED),
    declare('string(timestamp): string', ({ nanos, offsetMinutes }: CelTimestamp) =>
      formatTimestamp(nanos, offsetMinutes),
    ),
    declare('string(duration): string', ({ nanos }: CelDuration) => formatDuration(nanos)),
    declare('timestamp(string): timestamp', timestampOf),
    declare('timestamp(int): timestamp', timestampOfSeconds),
    declare('duration(string): duration', durationOf),
    // It is declared, and does not work.
    declare('duration(int): duration', () => {
      throw notA('google.protobuf.Duration', 'int')
    }),
    declare('dyn(A): dyn', same),
    declare('type(A): type(A)', (value: Value) => new TypeValue(typeOfValue(value))),
  ],
  constants: Object.entries(CONSTANTS).map(([name, type]) => ({ name, type })),
}
