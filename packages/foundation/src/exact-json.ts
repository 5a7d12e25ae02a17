/**
 * JSON whose integers are exact over the range of int64, as Go's are: those that no number can hold are bigints.
 * Documents without such integers, that is almost all, cost one native call. Decision: docs/decisions/0012-exact-integers.md.
 */
const LEAST = -(2n ** 63n)
const GREATEST = 2n ** 63n - 1n
/**
 * A number that may be too long, where a value stands: shorter ones are safe. The digests of images, of which one in forty has so many
 * digits in a row, would send lists of pods the slower way. Should a text look like this inside, that way finds nothing.
 */
const LONG_NUMBER = /(?:^|"\s*:|[[,])\s*-?\d{16}/
const INTEGER = /^-?\d{1,19}$/

/** The third argument is younger than the types. */
type Reviver = (key: string, value: unknown) => unknown
type RawJson = { rawJSON(text: string): unknown }

export function mayHoldLongNumbers(text: string): boolean {
  return LONG_NUMBER.test(text)
}

/** Throws SyntaxError. */
export function parseExact(text: string): unknown {
  return mayHoldLongNumbers(text)
    ? JSON.parse(text, exactly as unknown as Reviver)
    : JSON.parse(text)
}

function exactly(_key: string, value: unknown, { source }: { readonly source?: string }): unknown {
  return typeof value === 'number' ? exactNumber(value, source ?? '') : value
}

/** A bigint for an int64 that the number has lost digits of. Larger ones are what they are in Go: floating point. */
function exactNumber(value: number, source: string): number | bigint {
  if (Number.isSafeInteger(value) || !INTEGER.test(source)) return value
  return exactInteger(BigInt(source))
}

/** The number itself when it is safe, or beyond int64. */
export function exactInteger(value: bigint): number | bigint {
  const number = Number(value)
  return Number.isSafeInteger(number) || value < LEAST || value > GREATEST ? number : value
}

export function isInteger(value: unknown): value is number | bigint {
  return typeof value === 'bigint' || Number.isInteger(value)
}

/** JSON.stringify for values that may hold bigints. */
export function stringifyExact(value: unknown, space?: number): string {
  try {
    return JSON.stringify(value, undefined, space)
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
    return JSON.stringify(value, written, space)
  }
}

function written(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? rawNumber(String(value)) : value
}

/** What JSON.stringify writes as it is. */
export function rawNumber(text: string): unknown {
  return (JSON as unknown as RawJson).rawJSON(text)
}

/** Go's encoder writes what HTML or JavaScript could read otherwise as `\u003c` and the like. */
export function escapeHtml(json: string): string {
  return json.replace(
    /[<>&\u2028\u2029]/g,
    (char) => `\\u${char.codePointAt(0)!.toString(16).padStart(4, '0')}`,
  )
}
