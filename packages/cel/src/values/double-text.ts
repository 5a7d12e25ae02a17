/** Doubles as Go reads them: underscores between digits, and hexadecimal fractions with a power of two. */

const DIGITS = String.raw`\d+(?:_\d+)*`
const HEX_DIGITS = String.raw`[\da-f]+(?:_[\da-f]+)*`
const DECIMAL = new RegExp(
  String.raw`^[+-]?(?:${DIGITS}(?:\.(?:${DIGITS})?)?|\.${DIGITS})(?:e[+-]?${DIGITS})?$`,
  'i',
)
const HEXADECIMAL = new RegExp(
  String.raw`^([+-]?)0x(?:_?(${HEX_DIGITS})(?:\.(${HEX_DIGITS})?)?|\.(${HEX_DIGITS}))p([+-]?${DIGITS})$`,
  'i',
)

const SPECIAL: ReadonlyMap<string, number> = new Map([
  ['nan', Number.NaN],
  ['inf', Infinity],
  ['+inf', Infinity],
  ['-inf', -Infinity],
  ['infinity', Infinity],
  ['+infinity', Infinity],
  ['-infinity', -Infinity],
])

/** Undefined for what is no number, and for one that is too large. */
export function parseDouble(text: string): number | undefined {
  const special = SPECIAL.get(text.toLowerCase())
  if (special !== undefined) return special
  const value = DECIMAL.test(text) ? Number(text.replaceAll('_', '')) : hexadecimal(text)
  return value === undefined || Number.isFinite(value) ? value : undefined
}

function hexadecimal(text: string): number | undefined {
  const [, sign, whole = '', fraction, point, power] = HEXADECIMAL.exec(text) ?? []
  if (power === undefined) return undefined
  const digits = (fraction ?? point ?? '').replaceAll('_', '')
  const mantissa = BigInt(`0x${whole.replaceAll('_', '')}${digits}`)
  const value = scaledDouble(mantissa, Number(power.replaceAll('_', '')) - 4 * digits.length)
  return sign === '-' ? -value : value
}

const PRECISION = 53
const LEAST_EXPONENT = -1074

/** The mantissa times a power of two. Rounded once, to even: what is lost of very small numbers is more than their precision. */
function scaledDouble(mantissa: bigint, exponent: number): number {
  const bits = mantissa.toString(2).length
  if (mantissa === 0n || bits + exponent < LEAST_EXPONENT) return 0
  const lost = Math.max(bits - PRECISION, LEAST_EXPONENT - exponent, 0)
  return Number(roundedShift(mantissa, BigInt(lost))) * 2 ** (exponent + lost)
}

function roundedShift(value: bigint, bits: bigint): bigint {
  if (bits === 0n) return value
  const kept = value >> bits
  const half = 1n << (bits - 1n)
  const rest = value - (kept << bits)
  return rest > half || (rest === half && kept % 2n === 1n) ? kept + 1n : kept
}
