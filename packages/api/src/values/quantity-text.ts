/** The text of a quantity taken apart, as the API server's parser takes it. */

/** How an amount prints: the suffixes it was written with, kept through arithmetic. */
export type QuantityFormat = 'DecimalSI' | 'BinarySI' | 'DecimalExponent'

/** The text is that of the API server. */
export class InvalidQuantityError extends Error {
  override readonly name = 'InvalidQuantityError'
}

const MALFORMED =
  "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
const UNKNOWN_SUFFIX = "unable to parse quantity's suffix"

export const DECIMAL_SUFFIXES: readonly string[] = ['n', 'u', 'm', '', 'k', 'M', 'G', 'T', 'P', 'E']
export const BINARY_SUFFIXES: readonly string[] = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei']
/** Exponents beyond this are refused, where the server would compute for a long time, or for ever. */
const MAX_EXPONENT = 10_000
/** What is finer than this is a billionth, however fine it is. */
const MIN_EXPONENT = -400

export interface WrittenQuantity {
  readonly negative: boolean
  /** Digits before the point; may begin with zeros or be empty. */
  readonly whole: string
  /** Digits behind the point. */
  readonly fraction: string
  /** What the number is multiplied with: `base` to the power of `exponent`. */
  readonly base: 2 | 10
  readonly exponent: number
  readonly format: QuantityFormat
}

const PATTERN = /^([+-]?)(\d*)(?:\.(\d*))?([eEinumkKMGTP]*[-+]?\d*)$/

/** Throws InvalidQuantityError. */
export function readQuantity(text: string): WrittenQuantity {
  const match = PATTERN.exec(text)
  if (match === null || text === '') throw new InvalidQuantityError(MALFORMED)
  const [, sign, whole = '', fraction = '', suffix = ''] = match
  const ofZero = !/[1-9]/.test(whole) && !/[1-9]/.test(fraction)
  return { negative: sign === '-', whole, fraction, ...readSuffix(suffix, ofZero) }
}

function readSuffix(
  suffix: string,
  ofZero: boolean,
): Pick<WrittenQuantity, 'base' | 'exponent' | 'format'> {
  const decimal = DECIMAL_SUFFIXES.indexOf(suffix)
  if (decimal !== -1) return { base: 10, exponent: (decimal - 3) * 3, format: 'DecimalSI' }
  const binary = BINARY_SUFFIXES.indexOf(suffix)
  if (binary !== -1) return { base: 2, exponent: binary * 10, format: 'BinarySI' }
  const match = /^[eE]([+-]?\d+)$/.exec(suffix)
  if (match === null) throw new InvalidQuantityError(UNKNOWN_SUFFIX)
  const exponent = ofZero ? 0 : Math.max(Number(match[1]), MIN_EXPONENT)
  if (exponent > MAX_EXPONENT) throw new InvalidQuantityError(UNKNOWN_SUFFIX)
  return { base: 10, exponent, format: 'DecimalExponent' }
}
