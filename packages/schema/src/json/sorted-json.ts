import { byString } from '@gyropilot/foundation'

/** Go prints maps by key. Values of this kind hold no structs. */
export function sortedMap(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  return Object.fromEntries(Object.entries(value).toSorted(byString(([key]) => key)))
}

/** JSON without a type, as Go prints it: by key at every depth. */
export function sortedJson(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortedJson)
  if (typeof value !== 'object' || value === null) return value
  const members = Object.entries(sortedMap(value) as object)
  return Object.fromEntries(members.map(([key, member]) => [key, sortedJson(member)]))
}
