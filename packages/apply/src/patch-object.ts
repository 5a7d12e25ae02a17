/**
 * Lays a configuration over an object without owners, as mutating policies do. Texts are those of the reference server.
 * Contract: docs/behaviour/api-server/subresources-and-admission.md, Validating and mutating policies.
 */
import { byString } from '@gyropilot/foundation'
import { checkConfiguration, problemText } from './configuration-check.ts'
import { merge } from './merge.ts'
import { shapeFor } from './merge-type.ts'
import type { MergeType } from './merge-type.ts'

/** The configuration is none for the object. */
export class PatchObjectError extends Error {}

/** Throws PatchObjectError for what is not of the type, and for what has one owner as a whole. */
export function patchObject(type: MergeType, current: unknown, configuration: unknown): unknown {
  const problems = checkConfiguration(type, configuration)
  if (problems.length > 0)
    throw new PatchObjectError(
      `failed to convert patch object to typed object: ${problemText(problems)}`,
    )
  const atomic = [...atomicParts(type, configuration, '')]
  if (atomic.length > 0)
    throw new PatchObjectError(
      `invalid ApplyConfiguration: may not mutate atomic arrays, maps or structs: ${atomic.join(', ')}`,
    )
  return merge(type, current, configuration)
}

function* atomicParts(type: MergeType, value: unknown, path: string): Generator<string> {
  if (typeof value !== 'object' || value === null) return
  const { list, map } = shapeFor(type, value)
  if (Array.isArray(value)) {
    if (list === undefined) return
    if (list.ownership === 'atomic') yield path
    for (const [index, item] of value.entries())
      yield* atomicParts(list.items, item, `${path}[${index}]`)
    return
  }
  if (map === undefined) return
  if (map.atomic) yield path
  const members = Object.entries(value).toSorted(byString(([name]) => name))
  for (const [name, member] of members) {
    const field = map.fields.get(name)
    if (field !== undefined) yield* atomicParts(field.type, member, `${path}.${name}`)
  }
}
