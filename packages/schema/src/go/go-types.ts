/** Names of Go types as decode errors print them. */
import type { FieldSchema } from '@gyropilot/api'
import { schemaNamed } from '@gyropilot/api/schema'
import named from './named-go-types.json' with { type: 'json' }

/** Fields whose type has a name of its own, by struct: read from what kube-apiserver 1.36.2 says of each field's wrong values. */
const NAMED: Readonly<Record<string, Readonly<Record<string, string>>>> = named

/** `core-v1.PodSpec` -> `v1.PodSpec` */
function goStructName(schemaName: string): string {
  return schemaName.slice(schemaName.indexOf('-') + 1)
}

/** `PodSpec` */
export function bareStructName(schemaName: string): string {
  return schemaName.slice(schemaName.indexOf('.') + 1)
}

export function goTypeOf(struct: string, name: string, field: FieldSchema): string {
  const ofStruct = Object.hasOwn(NAMED, struct) ? NAMED[struct]! : {}
  return Object.hasOwn(ofStruct, name) ? ofStruct[name]! : plainType(field)
}

/** Types of other groups, or that the versions of a group share: they are called `v1` by all. They are no structs. */
const ALWAYS_V1: ReadonlySet<string> = new Set(
  'ConditionStatus OperationType ResourceName ScopeType StatusReason'.split(' '),
)

/** A definition that stands for several versions of a group names the types of one: here those of `version`. `struct`: whose field it is. */
export function goTypeInVersion(goType: string, struct: string, version: string): string {
  const [group, own] = struct.slice(0, struct.indexOf('.')).split('-')
  return goType.replaceAll(/\b(v\d\w*)\.(\w+)/g, (named, its: string, name: string) => {
    const isOfGroup =
      schemaNamed(`${group}-${named}`) !== undefined || (its === own && !isForeign(name))
    return isOfGroup ? `${version}.${name}` : named
  })
}

function isForeign(name: string): boolean {
  if (ALWAYS_V1.has(name)) return true
  return ['core-v1', 'meta-v1'].some((module) => schemaNamed(`${module}.${name}`) !== undefined)
}

/** Of what is in a list or map: `[]v1.Capability` holds `v1.Capability`; what is in a named list or map has its plain type. */
export function elementTypeOf(goType: string, element: FieldSchema): string {
  return /^(?:\[\]|map\[[^\]]*\])(.*)$/.exec(goType)?.[1] ?? plainType(element)
}

function plainType(field: FieldSchema): string {
  switch (field.type) {
    case 'array':
      return `[]${plainType(field.items!)}`
    case 'map':
      return `map[string]${plainType(field.values!)}`
    case 'object':
      return goStructName(field.schema!.name)
    case 'boolean':
      return 'bool'
    case 'double':
      return 'float64'
    case 'bytes':
      return '[]uint8'
    case 'quantity':
      return 'resource.Quantity'
    case 'int-or-string':
      return 'int32'
    case 'time':
    case 'microtime':
      return 'string'
    default:
      return field.type
  }
}
