import type { Occurrences } from '@gyropilot/schema/json'
import { childPath, isObject } from './structural-schema.ts'

/** `duplicate field "spec.a"` for members that a body repeats, in document order. */
export function* duplicateFields(
  value: unknown,
  occurrences: Occurrences | undefined,
  path = '',
): Generator<string> {
  if (occurrences === undefined) return
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries())
      yield* duplicateFields(item, occurrences, `${path}[${index}]`)
    return
  }
  if (!isObject(value)) return
  const seen = new Set<string>()
  for (const [name] of occurrences.get(value) ?? []) {
    if (seen.has(name)) yield `duplicate field ${JSON.stringify(childPath(path, name))}`
    seen.add(name)
  }
  for (const [name, member] of Object.entries(value))
    yield* duplicateFields(member, occurrences, childPath(path, name))
}
