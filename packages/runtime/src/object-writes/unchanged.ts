/** Contract: docs/behaviour/runtime/custom-controllers.md, Helpers. Pure. */
import { deepEqual } from '@gyropilot/api'

/**
 * Fields in which `{}` says as much as nothing: maps, and structs that servers write out though nobody set them. Everywhere else an
 * empty object is a wish of its own: `namespaceSelector: {}` selects all namespaces, `subresources: {status: {}}` has a status.
 */
const EMPTY_IS_ABSENT: ReadonlySet<string> = new Set([
  'allocatable',
  'annotations',
  'binaryData',
  'capacity',
  'data',
  'labels',
  'limits',
  'loadBalancer',
  'matchLabels',
  'metadata',
  'nodeSelector',
  'overhead',
  'parameters',
  'requests',
  'resources',
  'securityContext',
  'strategy',
  'stringData',
  'updateStrategy',
  'volumeAttributes',
])

/** True when writing `after` over `before` would change nothing. Null and `[]` are the same as absent. */
export function isUnchanged(before: unknown, after: unknown): boolean {
  return isSame(withoutEmptyStatus(before), withoutEmptyStatus(after), '')
}

/** Of the object itself: what is called status within it may say something by being there. */
function withoutEmptyStatus(object: unknown): unknown {
  const { status, ...rest } = (object ?? {}) as Fields
  return deepEqual(status, {}) ? rest : object
}

type Fields = Readonly<Record<string, unknown>>

function isSame(a: unknown, b: unknown, field: string): boolean {
  if (a === b) return true
  if (isAbsent(a, field)) return isAbsent(b, field)
  if (isAbsent(b, field)) return false
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false
  if (Array.isArray(a) || Array.isArray(b))
    return (
      Array.isArray(a) &&
      Array.isArray(b) &&
      a.length === b.length &&
      a.every((item, at) => isSame(item, b[at], ''))
    )
  const [left, right] = [a as Fields, b as Fields]
  return [...new Set([...Object.keys(left), ...Object.keys(right)])].every((key) =>
    isSame(own(left, key), own(right, key), key),
  )
}

function own(fields: Fields, key: string): unknown {
  return Object.hasOwn(fields, key) ? fields[key] : undefined
}

function isAbsent(value: unknown, field: string): boolean {
  if (value === undefined || value === null) return true
  if (typeof value !== 'object') return false
  if (Array.isArray(value)) return value.length === 0
  return (
    EMPTY_IS_ABSENT.has(field) && Object.entries(value).every(([key, part]) => isAbsent(part, key))
  )
}
