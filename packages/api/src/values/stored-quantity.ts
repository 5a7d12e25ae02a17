/**
 * What the API server keeps of a quantity. It holds an amount that fits in 64 bits as a small integer with a power of ten, and of
 * some of these the text as it was sent; anything larger or finer as a decimal of any length. Which of the two it is shows in
 * answers, in the hashes of templates, and in sums that overflow.
 */
import type { Quantity } from '../generated/meta-v1.ts'
import { readQuantity } from './quantity-text.ts'
import type { QuantityFormat, WrittenQuantity } from './quantity-text.ts'
import { parseQuantity } from './quantity.ts'

/** `value` times ten to the power of `scale`. */
export interface QuantityForm {
  readonly small: boolean
  readonly value: bigint
  readonly scale: number
  /** The text that is kept; empty when the canonical one is answered. */
  readonly text: string
  readonly format: QuantityFormat
}

const MOST_DIGITS = 18
const MOST_BINARY_DIGITS = 14
const MOST_SMALL = (1n << 63n) - 1n
/** A billionth: what is finer was rounded. */
const FINEST_SCALE = -9

/** Throws InvalidQuantityError. */
export function quantityForm(text: string): QuantityForm {
  const written = readQuantity(text)
  const { negative, fraction, base, exponent, format } = written
  const digits = significantDigits(written)
  const small = isSmall(written, digits)
  const kept = text === '0' || (small && keepsText(written, digits)) ? text : ''
  const factor = base === 2 ? 1n << BigInt(exponent) : 1n
  const magnitude = BigInt(digits) * factor
  const value = negative ? -magnitude : magnitude
  const scale = (base === 2 ? 0 : exponent) - fraction.length
  return { small, value, scale, text: kept, format }
}

/** Without leading zeros, but never without a digit before the point. */
const significantDigits = ({ whole, fraction }: WrittenQuantity): string =>
  `${whole.replace(/^0+/, '') || '0'}${fraction}`

function isSmall({ fraction, base, exponent }: WrittenQuantity, digits: string): boolean {
  if (base === 10) return digits.length <= MOST_DIGITS && exponent - fraction.length >= FINEST_SCALE
  if (fraction !== '') return false
  const room = MOST_BINARY_DIGITS - digits.length - Math.trunc((exponent * 3) / 10)
  return room >= 0 && BigInt(digits) << BigInt(exponent) <= MOST_SMALL
}

/** A guess at whether the text is canonical; it lets leading zeros, signs and some fractions through. */
function keepsText({ fraction, base, exponent }: WrittenQuantity, digits: string): boolean {
  if (base === 2) return BigInt(digits) % 8n !== 0n
  return (exponent - fraction.length) % 3 === 0 && !digits.endsWith('000') && digits[0] !== '0'
}

const USUAL_TEXT = /^(0|[1-9]\d{0,14})$/

/**
 * The text that the API server stores and answers: the canonical one, or one that it keeps (`+4`, `04`, `1E3`, `1.500`).
 * Throws InvalidQuantityError.
 */
export function storedQuantity(quantity: Quantity): string {
  const text = String(quantity)
  if (USUAL_TEXT.test(text) && !text.endsWith('000')) return text
  return quantityForm(text).text || parseQuantity(text).toString()
}

const MAYBE_FINER_THAN_MILLI = /[nu.]|[eE]-/

/** Of a stored text: amounts of resources are kept in whole thousandths, rounded away from zero. */
export function roundQuantityToMilli(stored: string): string {
  if (!MAYBE_FINER_THAN_MILLI.test(stored) || quantityForm(stored).scale >= -3) return stored
  return parseQuantity(stored).roundedToMilli().toString()
}

/**
 * Of a stored text: whether the API server takes it for a whole number. It counts thousandths in 64 bits, so that most whole
 * numbers of more than nine thousand million millions are none.
 */
export function isIntegerQuantity(quantity: Quantity): boolean {
  const text = String(quantity)
  return USUAL_TEXT.test(text) || thousandthsIn64Bits(quantityForm(text)) % 1000n === 0n
}

function thousandthsIn64Bits({ small, value, scale }: QuantityForm): bigint {
  const power = scale + 3
  if (power < 0) return roundedUp(value, 10n ** BigInt(-power))
  const factor = 10n ** BigInt(Math.min(power, 64))
  if (!small) return BigInt.asIntN(64, BigInt.asIntN(64, value) * factor)
  const thousandths = value * factor
  if (BigInt.asIntN(64, thousandths) === thousandths) return thousandths
  // The usual powers are multiplied at once and overflow, the others step by step, which is noticed.
  return USUAL_POWERS.has(power) ? BigInt.asIntN(64, thousandths) : 0n
}

const USUAL_POWERS: ReadonlySet<number> = new Set([1, 2, 3, 6, 9])

function roundedUp(value: bigint, divisor: bigint): bigint {
  const quotient = value / divisor
  if (quotient * divisor === value) return quotient
  return value < 0n ? quotient - 1n : quotient + 1n
}
