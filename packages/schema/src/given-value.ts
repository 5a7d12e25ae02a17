import { sortedMap } from './internal-form.ts'
import type { Draft } from './objects.ts'

/** Empty lists, maps and bytes that were left out: messages print them as `[]`, `{}` and `""`, not as `null`. */
const emptyGiven = new WeakMap<object, Draft>()

export function rememberEmpty(holder: Draft, field: string, value: unknown): void {
  const known = emptyGiven.get(holder)
  if (known === undefined) emptyGiven.set(holder, { [field]: value })
  else known[field] = value
}

/** The value of a field as the client gave it, for messages: null when it gave none. */
export function givenValue(
  holder: Readonly<Record<string, unknown>> | undefined,
  field: string,
): unknown {
  if (holder === undefined) return null
  return sortedMap(holder[field] ?? emptyGiven.get(holder)?.[field] ?? null)
}
