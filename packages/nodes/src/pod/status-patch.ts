/**
 * What a write of a pod's status says: only what differs, in the form of a strategic merge patch.
 * Contract: docs/behaviour/simulation/kubelet.md, Pod status. Pure.
 */
import type { PodStatus } from '@gyropilot/api'

/** Lists that the server merges by a key: what is not named in a patch stays, elements and their fields alike. */
const MERGED_BY = { conditions: 'type', hostIPs: 'ip', podIPs: 'ip' } as const
/** Fields of the status that go away again. */
const PASSING = ['reason', 'message', 'podIP', 'podIPs', 'allocatedResources', 'resources'] as const

type Json = Readonly<Record<string, unknown>>

/** Undefined: nothing differs. Fields and elements that went away are taken away. */
export function statusPatch(stored: PodStatus | undefined, wanted: PodStatus): object | undefined {
  const changed: Record<string, unknown> = {}
  const before = (stored ?? {}) as Json
  for (const [field, value] of Object.entries(wanted)) {
    if (value === undefined || sameJson(before[field], value)) continue
    if (field in MERGED_BY) {
      const key = MERGED_BY[field as keyof typeof MERGED_BY]
      const list = value as readonly Json[]
      changed[`$setElementOrder/${field}`] = list.map((element) => ({ [key]: element[key] }))
      changed[field] = listPatch((before[field] ?? []) as readonly Json[], list, key)
    } else changed[field] = value
  }
  for (const field of PASSING)
    if (before[field] !== undefined && wanted[field] === undefined) changed[field] = null
  return Object.keys(changed).length === 0 ? undefined : changed
}

function listPatch(before: readonly Json[], wanted: readonly Json[], key: string): Json[] {
  const changed = wanted.flatMap((element) => {
    const known = before.find((other) => other[key] === element[key]) ?? {}
    if (sameJson(known, element)) return []
    const gone = Object.keys(known).filter((field) => !(field in element))
    return [{ ...element, ...Object.fromEntries(gone.map((field) => [field, null])) }]
  })
  const removed = before.filter((known) => wanted.every((element) => element[key] !== known[key]))
  return [...changed, ...removed.map((known) => ({ $patch: 'delete', [key]: known[key] }))]
}

/** Equal as JSON, where null and absent are one. */
function sameJson(a: unknown, b: unknown): boolean {
  if (a === b || (a ?? undefined) === (b ?? undefined)) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false
  if (Array.isArray(a) !== Array.isArray(b)) return false
  const left = a as Record<string, unknown>
  const right = b as Record<string, unknown>
  if (Array.isArray(a) && a.length !== (b as unknown[]).length) return false
  for (const key in left) if (!sameJson(left[key], right[key])) return false
  for (const key in right) if (!(key in left) && !sameJson(undefined, right[key])) return false
  return true
}
