/** Keys of JSON are texts: what becomes of others, in the way of the real reader. */
import { compareStrings } from '../compare.ts'
import { isInteger } from './plain-scalar.ts'

/** `source`: how it was written; `content`: what it stands for, for the words of a refusal. */
export function keyText(
  key: unknown,
  source: string,
  content: unknown,
): string | { readonly problem: string } {
  if (typeof key === 'string') return key
  if (key === null) return unsupported('%!s(<nil>)', '<nil>', content)
  if (typeof key !== 'number') return String(key)
  if (!isInteger(source)) return floatKey(key)
  if (key < 2 ** 63) return String(key)
  const exact = BigInt(source.replace('+', '').replaceAll('_', ''))
  return unsupported('uint64', `0x${exact.toString(16)}`, content)
}

const WORDS: ReadonlyMap<number, string> = new Map([
  [Infinity, '.inf'],
  [-Infinity, '-.inf'],
  [Number.NaN, '.nan'],
])

/** The fewest digits that tell a fraction of 32 bits, which is what keys pass through; nine always do. */
function floatKey(value: number): string {
  const single = Math.fround(value)
  const word = WORDS.get(single)
  if (word !== undefined) return word
  let digits = 0
  while (digits < 8 && Math.fround(Number(single.toExponential(digits))) !== single) digits++
  const shortest = single.toExponential(digits)
  const exponent = Number(shortest.slice(shortest.indexOf('e') + 1))
  if (exponent >= -4 && exponent < 6) return String(Number(shortest))
  return shortest.replace(/e([+-])(\d)$/, 'e$10$2')
}

function unsupported(type: string, key: string, content: unknown): { readonly problem: string } {
  const shown = content === null ? '<nil>' : goSyntax(content)
  return { problem: `unsupported map key of type: ${type}, key: ${key}, value: ${shown}` }
}

/** As Go writes a value in its own language. */
export function goSyntax(value: unknown): string {
  if (value === null) return 'interface {}(nil)'
  if (Array.isArray(value)) return `[]interface {}{${value.map(goSyntax).join(', ')}}`
  if (typeof value === 'object') {
    const members = Object.entries(value).toSorted(([a], [b]) => compareStrings(a, b))
    const shown = members.map(([name, member]) => `${JSON.stringify(name)}:${goSyntax(member)}`)
    return `map[interface {}]interface {}{${shown.join(', ')}}`
  }
  return typeof value === 'string' ? JSON.stringify(value) : String(value)
}
