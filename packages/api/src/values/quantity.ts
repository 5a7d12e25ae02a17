/**
 * Exact amounts as resource quantities write them: `100m`, `1.5Gi`, `2e3`. The finest unit is a billionth (`1n`); what is finer is
 * rounded away from zero, so that a wish for very little is not a wish for nothing.
 */
import type { Quantity } from '../generated/meta-v1.ts'
import { BINARY_SUFFIXES, DECIMAL_SUFFIXES, readQuantity } from './quantity-text.ts'
import type { QuantityFormat } from './quantity-text.ts'

const BILLION = 1_000_000_000n
/** Amounts with binary suffixes are capped here. */
const MAX_BINARY = ((1n << 63n) - 1n) * BILLION

/** An amount in billionths. */
export class QuantityAmount {
  static readonly zero: QuantityAmount = new QuantityAmount(0n, 'DecimalSI')

  readonly nanos: bigint
  readonly format: QuantityFormat

  constructor(nanos: bigint, format: QuantityFormat) {
    this.nanos = nanos
    this.format = format
  }

  get isZero(): boolean {
    return this.nanos === 0n
  }

  /** -1, 0 or 1. */
  get sign(): number {
    return this.nanos < 0n ? -1 : this.nanos > 0n ? 1 : 0
  }

  get isInteger(): boolean {
    return this.nanos % BILLION === 0n
  }

  compare(other: QuantityAmount): number {
    return this.nanos < other.nanos ? -1 : this.nanos > other.nanos ? 1 : 0
  }

  /** The sum prints like this amount, or like the other when this is zero. */
  add(other: QuantityAmount): QuantityAmount {
    return new QuantityAmount(this.nanos + other.nanos, this.isZero ? other.format : this.format)
  }

  subtract(other: QuantityAmount): QuantityAmount {
    return new QuantityAmount(this.nanos - other.nanos, this.isZero ? other.format : this.format)
  }

  negate(): QuantityAmount {
    return new QuantityAmount(-this.nanos, this.format)
  }

  /** Whole units, rounded away from zero. Exact up to 2^53. */
  toInteger(): number {
    return Number(divideAwayFromZero(this.nanos, BILLION))
  }

  /** Thousandths, rounded away from zero. Exact up to 2^53. */
  toMilli(): number {
    return Number(divideAwayFromZero(this.nanos, 1_000_000n))
  }

  /** Whole thousandths, rounded away from zero. */
  roundedToMilli(): QuantityAmount {
    return new QuantityAmount(divideAwayFromZero(this.nanos, 1_000_000n) * 1_000_000n, this.format)
  }

  /** The nearest double. */
  toNumber(): number {
    return Number(`${this.nanos}e-9`)
  }

  /** The canonical form: no fraction, the largest suffix that keeps the amount exact. `1000m` is `1`, `1024Mi` is `1Gi`. */
  toString(): string {
    if (this.nanos === 0n) return '0'
    const magnitude = this.nanos < 0n ? -this.nanos : this.nanos
    // Binary suffixes cannot say fractions, and below 1024 there is nothing to shorten.
    if (this.format === 'BinarySI' && this.isInteger && magnitude >= 1024n * BILLION) {
      return printBinary(this.nanos / BILLION)
    }
    return printDecimal(this.nanos, this.format)
  }
}

function divideAwayFromZero(value: bigint, divisor: bigint): bigint {
  const quotient = value / divisor
  if (quotient * divisor === value) return quotient
  return value < 0n ? quotient - 1n : quotient + 1n
}

function printBinary(value: bigint): string {
  let power = 0
  while (power < BINARY_SUFFIXES.length - 1 && value % 1024n === 0n) {
    value /= 1024n
    power++
  }
  return `${value}${BINARY_SUFFIXES[power]}`
}

function printDecimal(nanos: bigint, format: QuantityFormat): string {
  let value = nanos
  let thousands = -3
  while (value % 1000n === 0n) {
    value /= 1000n
    thousands++
  }
  // Suffixes end at E, and the API server prints none for what is larger: `1000E` becomes `1`.
  if (format !== 'DecimalExponent') return `${value}${DECIMAL_SUFFIXES[thousands + 3] ?? ''}`
  return thousands === 0 ? `${value}` : `${value}e${thousands * 3}`
}

/** The pods of a cluster ask for a few different amounts, over and over: these are read once. */
const known = new Map<string, QuantityAmount>()
const KNOWN_MOST = 1000
// Longer ones may be parts of a larger text, which they would keep.
const KNOWN_LENGTH_MOST = 12

/** Throws InvalidQuantityError. Numbers are read as they print. */
export function parseQuantity(quantity: Quantity): QuantityAmount {
  const text = String(quantity)
  let amount = known.get(text)
  if (amount !== undefined) return amount
  amount = readAmount(text)
  if (text.length > KNOWN_LENGTH_MOST) return amount
  if (known.size === KNOWN_MOST) known.clear()
  known.set(text, amount)
  return amount
}

function readAmount(text: string): QuantityAmount {
  const { negative, whole, fraction, base, exponent, format } = readQuantity(text)
  const digits = BigInt(`${whole}${fraction}`)
  let amount = digits * BILLION
  if (base === 2) amount <<= BigInt(exponent)
  const decimals = BigInt(fraction.length) - (base === 10 ? BigInt(exponent) : 0n)
  if (decimals < 0n) amount *= 10n ** -decimals
  else amount = divideAwayFromZero(amount, 10n ** decimals)
  if (base === 2 && amount > MAX_BINARY) amount = MAX_BINARY
  const small = base === 2 && amount > 0n && amount < BILLION
  return new QuantityAmount(negative ? -amount : amount, small ? 'DecimalSI' : format)
}

const SMALL_INTEGER = /^(0|[1-9]\d{0,14})$/
const SMALL_MILLI = /^([1-9]\d{0,14})m$/

/** -1, 0 or 1. */
export function quantitySign(quantity: Quantity): number {
  return parseQuantity(quantity).sign
}

/** Whole units, rounded away from zero. */
export function quantityToInteger(quantity: Quantity): number {
  const text = String(quantity)
  return SMALL_INTEGER.test(text) ? Number(text) : parseQuantity(text).toInteger()
}

/** Thousandths, rounded away from zero: the unit of CPU arithmetic. */
export function quantityToMilli(quantity: Quantity): number {
  const text = String(quantity)
  const milli = SMALL_MILLI.exec(text)
  if (milli !== null) return Number(milli[1])
  if (text.length <= 12 && SMALL_INTEGER.test(text)) return Number(text) * 1000
  return parseQuantity(text).toMilli()
}

/** Negative, zero or positive. Compares amounts, not texts: `1` and `1000m` are equal. */
export function compareQuantities(a: Quantity, b: Quantity): number {
  return a === b ? 0 : parseQuantity(a).compare(parseQuantity(b))
}

export function addQuantities(a: Quantity, b: Quantity): string {
  return parseQuantity(a).add(parseQuantity(b)).toString()
}

export function subtractQuantities(a: Quantity, b: Quantity): string {
  return parseQuantity(a).subtract(parseQuantity(b)).toString()
}
