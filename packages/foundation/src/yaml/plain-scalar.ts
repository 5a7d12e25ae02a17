/**
 * What a plain scalar means to kubectl and kube-apiserver: their YAML reader is between 1.1 and 1.2 (`yes` and `n` are booleans, `010` is
 * eight, `1:30` and dates are strings). The rows of the test are recorded from kubectl 1.32.
 */
const WORDS: ReadonlyMap<string, boolean | null> = new Map<string, boolean | null>([
  ...['y', 'Y', 'yes', 'Yes', 'YES', 'on', 'On', 'ON', 'true', 'True', 'TRUE'].map(
    (word) => [word, true] as const,
  ),
  ...['n', 'N', 'no', 'No', 'NO', 'off', 'Off', 'OFF', 'false', 'False', 'FALSE'].map(
    (word) => [word, false] as const,
  ),
  ...['', '~', 'null', 'Null', 'NULL'].map((word) => [word, null] as const),
])
const NUMBERS: ReadonlyMap<string, number> = new Map<string, number>([
  ...['.nan', '.NaN', '.NAN'].map((word) => [word, Number.NaN] as const),
  ...['.inf', '.Inf', '.INF', '+.inf', '+.Inf', '+.INF'].map((word) => [word, Infinity] as const),
  ...['-.inf', '-.Inf', '-.INF'].map((word) => [word, -Infinity] as const),
])
const MAY_BE_NUMBER = /^[-+.0-9]/
const FLOAT = /^[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?$/
const INTEGER =
  /^([-+]?)(?:0[xX]([0-9a-fA-F]+)|0[bB]([01]+)|0[oO]([0-7]+)|0([0-7]+)|(0|[1-9][0-9]*))$/
const LEAST = -(2n ** 63n)
const GREATEST_SIGNED = 2n ** 63n - 1n
const GREATEST = 2n ** 64n - 1n

/** A string, boolean, null, number, or a bigint where a number would lose digits of an int64. */
export function plainScalar(text: string): unknown {
  const word = WORDS.get(text)
  if (word !== undefined) return word
  if (!MAY_BE_NUMBER.test(text)) return text
  return NUMBERS.get(text) ?? numberOf(text) ?? text
}

/** An integer of 64 bits; all other numbers are fractions, whatever they are worth: 1.0, 1e3. */
export function isInteger(text: string): boolean {
  return !text.startsWith('.') && integerOf(text.replaceAll('_', '')) !== undefined
}

function numberOf(text: string): number | bigint | undefined {
  // A dot in front is read before underscores are taken out.
  if (text.startsWith('.')) return floatOf(text)
  const plain = text.replaceAll('_', '')
  return integerOf(plain) ?? floatOf(plain)
}

function integerOf(text: string): number | bigint | undefined {
  const [found, sign, hexadecimal, binary, octal, leadingZero, decimal] = INTEGER.exec(text) ?? []
  if (found === undefined) return undefined
  const magnitude =
    hexadecimal !== undefined
      ? BigInt(`0x${hexadecimal}`)
      : binary !== undefined
        ? BigInt(`0b${binary}`)
        : octal !== undefined || leadingZero !== undefined
          ? BigInt(`0o${octal ?? leadingZero}`)
          : BigInt(decimal!)
  const value = sign === '-' ? -magnitude : magnitude
  if (value < LEAST || value > GREATEST) return undefined
  return int64Of(value)
}

function floatOf(text: string): number | bigint | undefined {
  if (!FLOAT.test(text)) return undefined
  const value = Number(text)
  if (!Number.isFinite(value)) return undefined
  if (value === 0) return 0
  if (!Number.isInteger(value) || Number.isSafeInteger(value)) return value
  // What is made of YAML is JSON at first, where a whole number stands in digits, and is read as any integer.
  const digits = String(value)
  return /^-?\d+$/.test(digits) ? int64Of(BigInt(digits)) : value
}

/** The number where it says all, or is beyond int64. */
function int64Of(value: bigint): number | bigint {
  const number = Number(value)
  const isInt64 = value >= LEAST && value <= GREATEST_SIGNED
  return Number.isSafeInteger(number) || !isInt64 ? number : value
}
