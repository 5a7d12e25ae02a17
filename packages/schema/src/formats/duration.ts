/** The format `duration`: what Go's time.ParseDuration reads, or a text in which a number stands before a unit of time. */
import { parseGoDuration } from '@gyropilot/foundation'

/** From the first digit of a number: a text of nothing but digits is not looked through from each of them. */
const NUMBER_AND_WORD = /(?<!\d)(\d+)\s*([A-Za-z\u00b5]+)/g
const MOST = 2n ** 63n - 1n

/** Of each unit the whole names, and how its longer names begin. */
const UNITS: readonly { readonly names: readonly string[]; readonly beginning: string }[] = [
  { names: ['ns'], beginning: 'nano' },
  { names: ['us', '\u00b5s'], beginning: 'micro' },
  { names: ['ms'], beginning: 'milli' },
  { names: ['s'], beginning: 'sec' },
  { names: ['m'], beginning: 'min' },
  { names: ['h', 'hr'], beginning: 'hour' },
  { names: ['d'], beginning: 'day' },
  { names: ['w', 'wk'], beginning: 'week' },
]

function isUnit(word: string): boolean {
  const lower = word.toLowerCase()
  return UNITS.some(({ names, beginning }) => names.includes(lower) || lower.startsWith(beginning))
}

/** Upstream looks for numbers with units anywhere: `foo 5 s bar` is a duration. A number beyond 64 bits spoils all of it. */
export function isDuration(text: string): boolean {
  if (typeof parseGoDuration(text) === 'number') return true
  const found = [...text.matchAll(NUMBER_AND_WORD)]
  if (found.some(([, digits]) => BigInt(digits!) > MOST)) return false
  return found.some(([, , word]) => isUnit(word!))
}
