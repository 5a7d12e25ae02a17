/**
 * JSON numbers as Go sees those that have no type of their own: an int64 where the digits fit one, a float64 otherwise. What is
 * written with a point or an exponent is a float64, too, but looks like the integer here when it is one that is safe.
 */
const INT64_LEAST = -(2n ** 63n)
const INT64_LIMIT = 2 ** 63
/** Go calls two numbers equal that are so near. */
const EPSILON = 1e-9
/** Powers of ten outside of these are written with an exponent. */
const POWER_LEAST = -4
const POWER_LIMIT = 6

export function isInt64(value: number | bigint): boolean {
  return typeof value === 'bigint' || Number.isSafeInteger(value)
}

/** As Go converts: without the fraction, and the least of all where it does not fit. */
export function toInt64(value: number | bigint): bigint {
  if (typeof value === 'bigint') return value
  return Math.abs(value) < INT64_LIMIT ? BigInt(Math.trunc(value)) : INT64_LEAST
}

/** Whether the shortest digits that mean the number are those of an int64: `9223372036854776000` are not, though the float itself may fit. */
export function fitsInt64(value: number | bigint): boolean {
  if (isInt64(value)) return true
  const text = String(value)
  return /^-?\d+$/.test(text) && BigInt(text) >= INT64_LEAST && BigInt(text) < -INT64_LEAST
}

/** Whether a float64 passes for an integer: safe, and one, or positive and so near to one that the difference is taken for rounding. */
export function isNearInteger(value: number): boolean {
  if (Math.abs(value) > Number.MAX_SAFE_INTEGER) return false
  const whole = Math.trunc(value)
  if (whole === value) return true
  if (value < 1) return false
  return Math.abs(value - whole) / (Math.abs(value) + Math.abs(whole)) < EPSILON
}

/** Integers in digits, however many; floats as `goFloat` writes them. */
export function goNumber(value: number | bigint): string {
  return isInt64(value) ? String(value) : goFloat(Number(value))
}

/** The fewest digits that mean this float64, with an exponent from a million on: `1.5`, `100000`, `1e+06`, `1.5e-07`. */
export function goFloat(value: number): string {
  const [mantissa, exponent] = value.toExponential().split('e')
  const power = Number(exponent)
  if (power >= POWER_LEAST && power < POWER_LIMIT) return String(value)
  return `${mantissa}e${power < 0 ? '-' : '+'}${String(Math.abs(power)).padStart(2, '0')}`
}
