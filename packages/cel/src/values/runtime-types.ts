/** Whether a value is of a type, as far as the value itself tells: the elements of lists and maps are not looked at. */
import type { CelType } from '../checking/types.ts'
import {
  CelDuration,
  CelList,
  CelMap,
  CelOptional,
  CelTimestamp,
  CelUint,
  Opaque,
  TypeValue,
} from './values.ts'
import type { Value } from './values.ts'

export function matchesType(value: Value, type: CelType): boolean {
  switch (type.kind) {
    case 'dyn':
    case 'error':
    case 'parameter':
      return true
    case 'null':
      return value === null
    case 'bool':
      return typeof value === 'boolean'
    case 'int':
      return typeof value === 'bigint'
    case 'double':
      return typeof value === 'number'
    case 'string':
      return typeof value === 'string'
    case 'uint':
      return value instanceof CelUint
    case 'bytes':
      return value instanceof Uint8Array
    case 'timestamp':
      return value instanceof CelTimestamp
    case 'duration':
      return value instanceof CelDuration
    case 'list':
      return value instanceof CelList
    case 'map':
    case 'object':
      return value instanceof CelMap
    case 'type':
      return value instanceof TypeValue
    case 'opaque':
      return type.name === 'optional_type'
        ? value instanceof CelOptional
        : value instanceof Opaque && value.typeName === type.name
  }
}
