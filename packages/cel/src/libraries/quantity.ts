/** Quantities: exact decimal numbers with a suffix. */
import { QuantityAmount, parseQuantity } from '@gyropilot/api'
import { onePass } from '../costs/cost.ts'
import { declare } from '../checking/signature.ts'
import type { Library } from '../checking/signature.ts'
import { opaqueType } from '../checking/types.ts'
import { EvaluationError, MAX_INT, MIN_INT, Opaque } from '../values/values.ts'
import type { Value } from '../values/values.ts'

/**
 * Go keeps most amounts as an int64 times a power of ten, and long ones as decimals of any length. The value is the same, but only the first,
 * and only without a power below zero, count as integers, and the double is the product of the two, each of them rounded.
 */
class QuantityValue extends Opaque {
  readonly typeName = 'kubernetes.Quantity'
  readonly amount: QuantityAmount
  /** The power of ten. */
  readonly scale: number
  readonly isLong: boolean
  readonly #isComputed: boolean

  constructor(amount: QuantityAmount, { scale, isLong }: Form, isComputed = false) {
    super()
    this.amount = amount
    this.scale = scale
    this.isLong = isLong
    this.#isComputed = isComputed
  }

  /** A sum or difference equals others, and no other equals it. */
  override get isEqualable(): boolean {
    return !this.#isComputed
  }

  override equals(other: Opaque): boolean {
    return this.amount.compare((other as QuantityValue).amount) === 0
  }
}

type Form = Pick<QuantityValue, 'scale' | 'isLong'>

function quantity(text: string): QuantityValue {
  try {
    return new QuantityValue(parseQuantity(text), formOf(text))
  } catch (error) {
    throw new EvaluationError((error as Error).message)
  }
}

/** Throws EvaluationError for a text that is none. */
export const quantityValue: (text: string) => Opaque = quantity

function isQuantity(text: string): boolean {
  try {
    parseQuantity(text)
    return true
  } catch {
    return false
  }
}

const BILLION = 1_000_000_000n

const DECIMAL_EXPONENTS: Readonly<Record<string, number>> = {
  n: -9,
  u: -6,
  m: -3,
  '': 0,
  k: 3,
  M: 6,
  G: 9,
  T: 12,
  P: 15,
  E: 18,
}
const BINARY_SUFFIXES = ['Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei']
/** Digits that are read as an int64; with a binary suffix fewer. */
const MOST_DIGITS = 18
const MOST_DIGITS_BINARY = 15
const FINEST_SCALE = -9
/** Long decimals are rounded to billionths, and keep the power of those. */
const LONG: Form = { scale: FINEST_SCALE, isLong: true }
const WHOLE: Form = { scale: 0, isLong: false }

/** Of a quantity as it is written. */
function formOf(text: string): Form {
  const [, digits = '', fraction = '', suffix = ''] = /^[+-]?0*(\d*)\.?(\d*)(.*)$/.exec(text)!
  const length = Math.max(digits.length, 1)
  const binary = BINARY_SUFFIXES.indexOf(suffix)
  if (binary >= 0) {
    const ofSuffix = Math.trunc((10 * (binary + 1) * 3) / 10) + 1
    return fraction === '' && length + ofSuffix <= MOST_DIGITS_BINARY ? WHOLE : LONG
  }
  if (length + fraction.length > MOST_DIGITS) return LONG
  const scale = (DECIMAL_EXPONENTS[suffix] ?? Number(suffix.slice(1))) - fraction.length
  return scale >= FINEST_SCALE ? { scale, isLong: false } : LONG
}

/** Of a sum or difference: the finer of the two, long where that does not fit into an int64. */
function combined(a: QuantityValue, b: QuantityValue, amount: QuantityAmount): QuantityValue {
  const finer = Math.min(a.scale, b.scale)
  if (a.isLong || b.isLong) return new QuantityValue(amount, { scale: finer, isLong: true }, true)
  const scale = b.amount.sign === 0 ? a.scale : a.amount.sign === 0 ? b.scale : finer
  const count = countOf(amount, scale)
  const isLong = count > MAX_INT || count < MIN_INT
  return new QuantityValue(amount, { scale, isLong }, true)
}

function countOf({ nanos }: QuantityAmount, scale: number): bigint {
  return nanos / 10n ** BigInt(scale - FINEST_SCALE)
}

function asDouble({ amount, scale }: QuantityValue): number {
  return Number(countOf(amount, scale)) * powerOfTen(scale)
}

/** Go makes it of two powers that it has exactly, so that 10^33 is not the double that is nearest to it. */
function powerOfTen(exponent: number): number {
  const low = exponent % 32
  return Number(`1e${exponent - low}`) * Number(`1e${low}`)
}

function integerOf({ amount, scale, isLong }: QuantityValue): bigint | undefined {
  if (isLong || scale < 0) return undefined
  const whole = amount.nanos / BILLION
  return !amount.isInteger || whole > MAX_INT || whole < MIN_INT ? undefined : whole
}

function asInteger(value: QuantityValue): bigint {
  const integer = integerOf(value)
  if (integer === undefined) throw new EvaluationError('cannot convert value to integer')
  return integer
}

const ofInt = (value: bigint): QuantityValue =>
  new QuantityValue(new QuantityAmount(value * BILLION, 'DecimalSI'), WHOLE)

const BINARY: Readonly<Record<string, (a: QuantityValue, b: QuantityValue) => Value>> = {
  isGreaterThan: (a, b) => a.amount.compare(b.amount) > 0,
  isLessThan: (a, b) => a.amount.compare(b.amount) < 0,
  compareTo: (a, b) => BigInt(a.amount.compare(b.amount)),
}

const SUMS: readonly (readonly [
  string,
  (a: QuantityAmount, b: QuantityAmount) => QuantityAmount,
])[] = [
  ['add', (a, b) => a.add(b)],
  ['sub', (a, b) => a.subtract(b)],
]

export const QUANTITIES: Library = {
  constants: [{ name: 'kubernetes.Quantity', type: opaqueType('kubernetes.Quantity') }],
  overloads: [
    declare('quantity(string): kubernetes.Quantity', quantity, onePass()),
    declare('isQuantity(string): bool', isQuantity, onePass()),
    declare('sign(kubernetes.Quantity): int', ({ amount }: QuantityValue) => BigInt(amount.sign)),
    declare(
      'kubernetes.Quantity.isInteger(): bool',
      (value: QuantityValue) => integerOf(value) !== undefined,
    ),
    declare('kubernetes.Quantity.asInteger(): int', asInteger),
    declare('kubernetes.Quantity.asApproximateFloat(): double', asDouble),
    ...Object.entries(BINARY).map(([name, evaluate]) => {
      const result = name === 'compareTo' ? 'int' : 'bool'
      return declare(`kubernetes.Quantity.${name}(kubernetes.Quantity): ${result}`, evaluate)
    }),
    ...SUMS.flatMap(([name, combine]) => {
      const signature = (other: string): string =>
        `kubernetes.Quantity.${name}(${other}): kubernetes.Quantity`
      return [
        declare(signature('kubernetes.Quantity'), (a: QuantityValue, b: QuantityValue) =>
          combined(a, b, combine(a.amount, b.amount)),
        ),
        declare(signature('int'), (a: QuantityValue, b: bigint) => {
          const other = ofInt(b)
          return combined(a, other, combine(a.amount, other.amount))
        }),
      ]
    }),
  ],
}
