/**
 * Quantities in the print of a pod template: as Kubernetes' parser takes a canonical text apart.
 * Which texts it keeps beside the number, and which amounts it cannot hold as a small integer,
 * shows in the print and so in template hashes.
 */
import { canonicalQuantity, parseQuantity } from '@gyropilot/api'
import type { Quantity } from '@gyropilot/api'

const CANONICAL = /^(-?)(\d+)(?:(Ki|Mi|Gi|Ti|Pi|Ei)|([numkMGTPE]?)|e(-?\d+))$/
const BINARY_EXPONENTS: Readonly<Record<string, number>> = {
  Ki: 10,
  Mi: 20,
  Gi: 30,
  Ti: 40,
  Pi: 50,
  Ei: 60,
}
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
const MOST_DECIMAL_DIGITS = 18
const MOST_BINARY_DIGITS = 14
const WORD_BITS = 64n

/**
 * Any spelling of an amount prints like its canonical one. Text that is no quantity prints as it
 * is.
 */
export function dumpQuantity(quantity: Quantity): string {
  let text: string
  try {
    text = canonicalQuantity(quantity)
  } catch {
    return String(quantity)
  }
  if (text === '0') return dumpSmall(0n, 0, '0', 'DecimalSI')
  const [, sign, digits, binary, decimal, exponent] = CANONICAL.exec(text) ?? []
  if (digits === undefined) return text
  const value = BigInt(`${sign}${digits}`)
  if (binary !== undefined) return dumpBinary(text, value, digits, BINARY_EXPONENTS[binary]!)
  const format = exponent === undefined ? 'DecimalSI' : 'DecimalExponent'
  const scale = exponent === undefined ? DECIMAL_EXPONENTS[decimal ?? '']! : Number(exponent)
  if (digits.length > MOST_DECIMAL_DIGITS) return dumpLarge(value, -scale, format)
  const kept = scale % 3 === 0 && !digits.endsWith('000') && digits[0] !== '0' ? text : ''
  return dumpSmall(value, scale, kept, format)
}

function dumpBinary(text: string, value: bigint, digits: string, exponent: number): string {
  const amount = value << BigInt(exponent)
  const room = MOST_BINARY_DIGITS - digits.length - Math.trunc((exponent * 3) / 10)
  if (room < 0) return dumpLarge(amount, 0, 'BinarySI')
  const magnitude = value < 0n ? -value : value
  return dumpSmall(amount, 0, magnitude % 8n === 0n ? '' : text, 'BinarySI')
}

/** Equal amounts print alike, whatever their suffixes. */
export function dumpAmount(quantity: Quantity): string {
  try {
    return `${parseQuantity(quantity).nanos}n`
  } catch {
    return String(quantity)
  }
}

function dumpSmall(value: bigint, scale: number, text: string, format: string): string {
  const amount = `(resource.int64Amount){value:(int64)${value} scale:(resource.Scale)${scale}}`
  return `{i:${amount} d:(resource.infDecAmount){Dec:(*inf.Dec)<nil>} s:(string)${text} Format:(resource.Format)${format}}`
}

function dumpLarge(value: bigint, scale: number, format: string): string {
  const words: bigint[] = []
  for (let rest = value < 0n ? -value : value; rest > 0n; rest >>= WORD_BITS)
    words.push(BigInt.asUintN(64, rest))
  const unscaled = `(big.Int){neg:(bool)${value < 0n} abs:(big.nat)[${words.join(' ')}]}`
  const decimal = `(*inf.Dec){unscaled:${unscaled} scale:(inf.Scale)${scale}}`
  return `{i:(resource.int64Amount){value:(int64)0 scale:(resource.Scale)0} d:(resource.infDecAmount){Dec:${decimal}} s:(string) Format:(resource.Format)${format}}`
}
