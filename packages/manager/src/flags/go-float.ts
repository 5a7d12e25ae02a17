/** Numbers as Go's strconv.ParseFloat reads them. Contract: docs/behaviour/runtime/manager.md, Startup sequence. Pure. */

const DIGITS = String.raw`\d(?:_?\d)*`
const DECIMAL = new RegExp(
  `^[+-]?(?:${DIGITS}(?:\\.(?:${DIGITS})?)?|\\.${DIGITS})(?:[eE][+-]?${DIGITS})?$`,
)
const HEX_DIGITS = String.raw`[\da-f](?:_?[\da-f])*`
const HEXADECIMAL = new RegExp(
  `^([+-]?)0x_?(?:(${HEX_DIGITS})(?:\\.(${HEX_DIGITS})?)?|\\.(${HEX_DIGITS}))p([+-]?${DIGITS})$`,
  'i',
)
const INFINITE = /^([+-]?)inf(?:inity)?$/i

/** The number, or what is wrong with the text. Of 32 bits: the shortest decimal that is the same number there. */
export function parseGoFloat(
  text: string,
  bits: 32 | 64,
): number | 'invalid syntax' | 'value out of range' {
  if (/^nan$/i.test(text)) return NaN
  const [, sign] = INFINITE.exec(text) ?? []
  if (sign !== undefined) return sign === '-' ? -Infinity : Infinity
  const value = DECIMAL.test(text) ? Number(text.replaceAll('_', '')) : hexadecimal(text)
  if (value === undefined) return 'invalid syntax'
  const rounded = bits === 32 ? shortestOf32(value) : value
  return Number.isFinite(rounded) ? rounded : 'value out of range'
}

function hexadecimal(text: string): number | undefined {
  const matched = HEXADECIMAL.exec(text.replace(/^([+-]?0x)_/i, '$1'))
  if (matched === null) return undefined
  const [, sign, whole = '', fraction = '', bare = '', exponent = '0'] = matched
  const after = (fraction + bare).replaceAll('_', '')
  const digits = BigInt(`0x${whole.replaceAll('_', '')}${after}`)
  const magnitude = scaled(digits, Number(exponent.replaceAll('_', '')) - 4 * after.length)
  return sign === '-' ? -magnitude : magnitude
}

/** In two steps where one power of two alone would be no number any more. */
function scaled(digits: bigint, exponent: number): number {
  const half = Math.trunc(exponent / 2)
  return Number(digits) * 2 ** half * 2 ** (exponent - half)
}

function shortestOf32(value: number): number {
  const single = Math.fround(value)
  if (!Number.isFinite(single)) return single
  for (let digits = 1; digits < 9; digits++) {
    const short = Number(single.toPrecision(digits))
    if (Math.fround(short) === single) return short
  }
  return Number(single.toPrecision(9))
}
