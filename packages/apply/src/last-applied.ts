/**
 * The way from client-side to server-side apply: `kubectl` may overwrite what its annotation says it applied before, and
 * the annotation follows. Contract: docs/behaviour/api-server/patch-and-apply.md, From client-side to server-side apply.
 */
import { byString } from '@gyropilot/foundation'
import type { Draft, Stored } from '@gyropilot/schema/objects'
import { compare } from './compare.ts'
import { EMPTY, difference } from './field-set.ts'
import type { FieldSet } from './field-set.ts'
import { fieldsOf } from './fields-of.ts'
import type { MergeType } from './merge-type.ts'
import { parseExact, stringifyExact } from '@gyropilot/foundation/exact-json'

export const KUBECTL_MANAGER = 'kubectl'
const ANNOTATION = 'kubectl.kubernetes.io/last-applied-configuration'
const ANNOTATIONS_SIZE_MAX_BYTES = 262_144

/** Paths that `kubectl` applied from the client and that nobody has changed since. */
export function fieldsLastApplied(type: MergeType, live: Stored, apiVersion: string): FieldSet {
  const text: unknown = live.metadata?.annotations?.[ANNOTATION]
  if (typeof text !== 'string' || text === '') return EMPTY
  let applied: Record<string, unknown>
  try {
    applied = parseExact(text) as Record<string, unknown>
  } catch {
    return EMPTY
  }
  if (typeof applied !== 'object' || applied === null || applied.apiVersion !== apiVersion)
    return EMPTY
  const change = compare(type, live, applied)
  return difference(difference(fieldsOf(type, applied), change.modified), change.added)
}

/** Rewrites the annotation of an object that has one; drops it when the annotations would grow too large. */
export function recordLastApplied(object: Draft, configuration: Stored): void {
  const annotations = object.metadata?.annotations as Record<string, string> | undefined
  if (annotations?.[ANNOTATION] === undefined || annotations[ANNOTATION] === '') return
  const { annotations: applied, ...metadata } = configuration.metadata ?? {}
  if (applied !== undefined && applied !== null) {
    const { [ANNOTATION]: _, ...others } = applied as Record<string, string | null>
    metadata['annotations'] = texts(others)
  }
  const text = `${stringifyExact(withSortedKeys({ ...configuration, metadata }))}\n`
  const rewritten = { ...texts(annotations), [ANNOTATION]: text }
  if (sizeBytes(rewritten) > ANNOTATIONS_SIZE_MAX_BYTES)
    delete (rewritten as Record<string, string | undefined>)[ANNOTATION]
  object.metadata = { ...object.metadata, annotations: rewritten }
}

/** An annotation without a value has an empty one. */
function texts(annotations: Readonly<Record<string, string | null>>): Record<string, string> {
  return Object.fromEntries(Object.entries(annotations).map(([name, value]) => [name, value ?? '']))
}

function sizeBytes(annotations: Readonly<Record<string, string>>): number {
  let size = 0
  for (const [name, value] of Object.entries(annotations))
    size += Buffer.byteLength(name) + Buffer.byteLength(value)
  return size
}

function withSortedKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withSortedKeys)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).filter(([, child]) => child !== undefined)
  return Object.fromEntries(
    entries.toSorted(byString(([key]) => key)).map(([key, child]) => [key, withSortedKeys(child)]),
  )
}
