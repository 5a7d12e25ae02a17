import type { DecodeError } from '@gyropilot/schema'

const PLAIN = new Set(['string', 'bool', 'int32', 'int64', 'float64'])

/** Strategic merge and apply fill the Go type from a tree of values, without the JSON decoder: its errors have other words. */
export function unconverted({ message, mismatch }: DecodeError): string {
  if (mismatch === undefined)
    return message.startsWith('illegal base64') ? `error decoding from json: ${message}` : message
  const { goType, isStruct, readsItself } = mismatch
  if (readsItself === true)
    return message.replace(/ into Go struct field .* of type /, ' into Go value of type ')
  const given = goKind(mismatch.given)
  if (goType.startsWith('[]')) return `cannot restore slice from ${given}`
  if (goType.startsWith('map[') || goType === 'v1.ResourceList')
    return `cannot restore map from ${given}`
  if (isStruct) return `cannot restore struct from: ${given}`
  // Go would make a character of an integer, and cut a fraction: it says that it will not.
  const isText = goType === 'string' || !PLAIN.has(goType)
  const mayConvert = given === 'int64' ? goType !== 'bool' : given === 'float64' && !isText
  if (mayConvert && goType !== 'bool') return `cannot convert ${given} to ${goType}`
  return `unrecognized type: ${PLAIN.has(goType) ? goType : 'string'}`
}

function goKind(value: unknown): string {
  if (Array.isArray(value)) return 'slice'
  if (typeof value === 'bigint' || Number.isInteger(value)) return 'int64'
  if (typeof value === 'number') return 'float64'
  if (typeof value === 'boolean') return 'bool'
  return typeof value === 'string' ? 'string' : 'map'
}
