/** Objects that mutating policies write: `Object{metadata: Object.metadata{...}}`. */
import { CelList, StructMap } from './values.ts'
import type { Value } from './values.ts'

/** What is wrong with the name of an object, which is the path to where it stands; undefined: nothing. */
export function misnamedObject(value: Value, path = 'Object'): string | undefined {
  if (value instanceof CelList) {
    for (const item of value) {
      const problem = misnamedObject(item, path)
      if (problem !== undefined) return problem
    }
    return undefined
  }
  if (!(value instanceof StructMap)) return undefined
  if (value.structName !== path)
    return `unexpected type name ${JSON.stringify(value.structName)}, expected ${JSON.stringify(path)}, which matches field name path from root Object type`
  for (const key of value.keys()) {
    const problem = misnamedObject(value.get(key)!, `${path}.${String(key)}`)
    if (problem !== undefined) return problem
  }
  return undefined
}
