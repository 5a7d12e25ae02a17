import { decodeObject } from '@gyropilot/schema/decode'
import { mergeTypeOfKind } from './merge-type.ts'
import type { TypedKind } from './update.ts'

const known = new Map<string, TypedKind | undefined>()

/** A built-in kind as ownership sees it, or undefined when there is no such kind. Its versions are taken to agree. */
export function builtInKind(apiVersion: string, kind: string): TypedKind | undefined {
  const key = `${apiVersion}/${kind}`
  if (!known.has(key)) known.set(key, typedKind(apiVersion, kind))
  return known.get(key)
}

function typedKind(apiVersion: string, kind: string): TypedKind | undefined {
  const type = mergeTypeOfKind(apiVersion, kind)
  if (type === undefined) return undefined
  const slash = apiVersion.indexOf('/')
  const group = slash < 0 ? '' : apiVersion.slice(0, slash)
  // Fields that are always written are there before anybody fills them in: `f:spec` of a Pod has no `.`, `f:volumes` has.
  const empty = decodeObject({ group, version: apiVersion.slice(slash + 1), kind }, {})
  const zeroValue = empty?.object ?? {}
  // Required, and yet not written when it is empty.
  if (kind === 'ValidatingAdmissionPolicyBinding') delete zeroValue['spec'].validationActions
  return { type, zeroValue }
}
