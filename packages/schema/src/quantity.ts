/** Quantities: exact decimal numbers with a suffix. `1000m` is printed `1`, `1024Mi` is printed `1Gi`. */

export interface Quantity {
  /** value = mantissa * 10^exponent */
  readonly mantissa: bigint
  readonly exponent: number
  readonly format: 'decimal' | 'binary' | 'exponent'
}

export const QUANTITY_MESSAGE =
  "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
const SUFFIX_MESSAGE = "unable to parse quantity's suffix"

const DECIMAL: Readonly<Record<string, number>> = {
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
const BINARY: Readonly<Record<string, bigint>> = {
  Ki: 1n << 10n,
  Mi: 1n << 20n,
  Gi: 1n << 30n,
  Ti: 1n << 40n,
  Pi: 1n << 50n,
  Ei: 1n << 60n,
}
const DECIMAL_SUFFIX: Readonly<Record<number, string>> = Object.fromEntries(
  Object.entries(DECIMAL).map(([suffix, exponent]) => [exponent, suffix]),
)
const BINARY_SUFFIXES = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei']
const PATTERN = /^([+-]?)([0-9]*)(?:\.([0-9]*))?([eEinumkKMGTP]*)([-+]?[0-9]*)$/

/** Throws an Error with kube-apiserver's text. */
export function parseQuantity(text: string): Quantity {
  const match = PATTERN.exec(text)
  if (match === null || text === '') throw new Error(QUANTITY_MESSAGE)
  const [, sign, whole = '', fraction = '', suffix = '', digits = ''] = match
  if (whole === '' && fraction === '') throw new Error(QUANTITY_MESSAGE)
  let mantissa = BigInt(`${whole}${fraction}` || '0')
  if (sign === '-') mantissa = -mantissa
  let exponent = -fraction.length
  let format: Quantity['format'] = 'decimal'
  if (digits !== '') {
    if (suffix !== 'e' && suffix !== 'E') throw new Error(SUFFIX_MESSAGE)
    format = 'exponent'
    exponent += Number(digits)
  } else if (BINARY[suffix] !== undefined) {
    format = 'binary'
    mantissa *= BINARY[suffix]
  } else if (DECIMAL[suffix] !== undefined) exponent += DECIMAL[suffix]
  else throw new Error(SUFFIX_MESSAGE)
  return roundUpToNano({ mantissa, exponent, format })
}

/** The smallest unit is 1n: what is finer is rounded away from zero. */
function roundUpToNano(quantity: Quantity): Quantity {
  if (quantity.exponent >= -9) return quantity
  const divisor = 10n ** BigInt(-9 - quantity.exponent)
  let mantissa = quantity.mantissa / divisor
  if (mantissa * divisor !== quantity.mantissa) mantissa += quantity.mantissa > 0n ? 1n : -1n
  return { ...quantity, mantissa, exponent: -9 }
}

export function formatQuantity(quantity: Quantity): string {
  let { mantissa, exponent } = quantity
  if (mantissa === 0n) return '0'
  if (quantity.format === 'binary') {
    const integer = integerOf(quantity)
    if (integer !== undefined && (integer >= 1024n || integer <= -1024n)) return binaryText(integer)
  }
  while (mantissa % 10n === 0n) {
    mantissa /= 10n
    exponent++
  }
  while (((exponent % 3) + 3) % 3 !== 0) {
    mantissa *= 10n
    exponent--
  }
  if (quantity.format === 'exponent')
    return exponent === 0 ? `${mantissa}` : `${mantissa}e${exponent}`
  while (exponent > 18) {
    mantissa *= 1000n
    exponent -= 3
  }
  return `${mantissa}${DECIMAL_SUFFIX[exponent] ?? ''}`
}

function binaryText(integer: bigint): string {
  let power = 0
  while (power < 6 && integer % 1024n === 0n) {
    integer /= 1024n
    power++
  }
  return `${integer}${BINARY_SUFFIXES[power]}`
}

function integerOf({ mantissa, exponent }: Quantity): bigint | undefined {
  if (exponent >= 0) return mantissa * 10n ** BigInt(exponent)
  const divisor = 10n ** BigInt(-exponent)
  return mantissa % divisor === 0n ? mantissa / divisor : undefined
}

/** Of checked text. */
export function quantitySign(text: string): -1 | 0 | 1 {
  const { mantissa } = parseQuantity(text)
  return mantissa < 0n ? -1 : mantissa > 0n ? 1 : 0
}

/** Fractions are rounded away from zero. */
export function wholeNumber(text: string): number {
  const { mantissa, exponent } = parseQuantity(text)
  const scale = 10n ** BigInt(Math.abs(exponent))
  if (exponent >= 0) return Number(mantissa * scale)
  const rest = mantissa % scale
  const whole = mantissa / scale
  return Number(rest === 0n ? whole : rest > 0n ? whole + 1n : whole - 1n)
}

export function isIntegerQuantity(text: string): boolean {
  return integerOf(parseQuantity(text)) !== undefined
}

export function compareQuantities(left: string, right: string): number {
  const a = parseQuantity(left)
  const b = parseQuantity(right)
  const exponent = Math.min(a.exponent, b.exponent)
  const x = a.mantissa * 10n ** BigInt(a.exponent - exponent)
  const y = b.mantissa * 10n ** BigInt(b.exponent - exponent)
  return x < y ? -1 : x > y ? 1 : 0
}

/** Keeps the format of the left one, unless that is zero. */
export function addQuantities(left: string, right: string): string {
  const a = parseQuantity(left)
  const b = parseQuantity(right)
  const exponent = Math.min(a.exponent, b.exponent)
  const mantissa =
    a.mantissa * 10n ** BigInt(a.exponent - exponent) +
    b.mantissa * 10n ** BigInt(b.exponent - exponent)
  return formatQuantity({ mantissa, exponent, format: a.mantissa === 0n ? b.format : a.format })
}

const canonicalTexts = new Map<string, string>()

/** The canonical form; throws as `parseQuantity`. Small texts are remembered: the same few appear in every pod. */
export function canonicalQuantity(text: string): string {
  const known = canonicalTexts.get(text)
  if (known !== undefined) return known
  const canonical = formatQuantity(parseQuantity(text))
  if (text.length <= 16 && canonicalTexts.size < 4096) canonicalTexts.set(text, canonical)
  return canonical
}
