import { goQuote } from '../go/go-quote.ts'
import type { Occurrences } from './json.ts'

/** `duplicate field "spec.a"` for members that a document repeats, each once, in document order: also of values that a later one replaces. */
export function duplicateFields(
  value: unknown,
  occurrences: Occurrences | undefined,
  path = '',
): ReadonlySet<string> {
  const found = new Set<string>()
  if (occurrences !== undefined) collect(value, occurrences, path, found)
  return found
}

function collect(value: unknown, occurrences: Occurrences, path: string, found: Set<string>): void {
  if (typeof value !== 'object' || value === null) return
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries())
      collect(item, occurrences, `${path}[${index}]`, found)
    return
  }
  const seen = new Set<string>()
  for (const [name, member] of occurrences.get(value) ?? Object.entries(value)) {
    const at = path === '' ? name : `${path}.${name}`
    if (seen.has(name)) found.add(`duplicate field ${goQuote(at)}`)
    seen.add(name)
    collect(member, occurrences, at, found)
  }
}
