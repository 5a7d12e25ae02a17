/**
 * A pod template as one line of text that differs whenever the template does: the print of typed
 * structures over which Kubernetes computes its template hash. Empty lists and maps print as absent
 * ones, since they do not survive the way to upstream's controllers either. Fields that 1.36 does
 * not know follow their structure as JSON.
 * Contract: docs/behaviour/controllers/shared-controller-utils.md, Pod template hash.
 */
import { canonicalJson, parseTime } from '@gyropilot/api'
import type { PodTemplateSpec, Quantity } from '@gyropilot/api'
import { declaredFields } from './pod-template-fields.ts'
import { dumpQuantity } from './quantity-dump.ts'

type Json = { readonly [name: string]: unknown }

/** Of year 1 and of the Unix epoch, in seconds: what lies between. */
const SECONDS_BEFORE_EPOCH = 62_135_596_800

/** How a quantity prints. */
type DumpQuantity = (quantity: Quantity) => string

/**
 * With `dumpAmount` for quantities two templates print alike exactly when Kubernetes would call
 * them semantically equal.
 */
export function podTemplateDump(
  template: PodTemplateSpec,
  quantities: DumpQuantity = dumpQuantity,
): string {
  return new Dump(quantities).typed('v1.PodTemplateSpec', template)
}

class Dump {
  readonly #quantities: DumpQuantity

  constructor(quantities: DumpQuantity) {
    this.#quantities = quantities
  }

  /** `(type)value`; the type of a pointer has its star whether it points to something or not. */
  typed(goType: string, value: unknown): string {
    return `(${goType})${this.#value(goType, value)}`
  }

  #value(goType: string, value: unknown): string {
    if (goType.startsWith('*')) {
      return value === undefined || value === null ? '<nil>' : this.#value(goType.slice(1), value)
    }
    if (goType.startsWith('[]')) {
      const items = (value ?? []) as readonly unknown[]
      return items.length === 0
        ? '<nil>'
        : `[${items.map((item) => this.#value(goType.slice(2), item)).join(' ')}]`
    }
    switch (goType) {
      case 'map[string]string':
        return dumpMap(value, String)
      case 'v1.ResourceList':
        return dumpMap(value, (quantity) => this.#quantities(quantity as Quantity))
      case 'resource.Quantity':
        return this.#quantities((value ?? '0') as Quantity)
      case 'intstr.IntOrString':
        return dumpIntOrString((value ?? 0) as string | number)
      case 'v1.Time':
        return dumpTime(value)
      case 'bool':
        return String(value ?? false)
      case 'int32':
      case 'int64':
        return String(value ?? 0)
      default:
        return this.#structOrText(goType, value)
    }
  }

  /** Types that are not declared as structures are names for text. */
  #structOrText(goType: string, value: unknown): string {
    if (declaredFields(goType) === undefined) return String(value ?? '')
    const object = (value ?? {}) as Json
    return `{${this.#fields(goType, object)}}${dumpUnknown(object, jsonNamesOf(goType))}`
  }

  #fields(goType: string, object: Json): string {
    return declaredFields(goType)!
      .map((field) =>
        field.inline
          ? `${field.goName}:(${field.goType}){${this.#fields(field.goType, object)}}`
          : `${field.goName}:${this.typed(field.goType, object[field.jsonName])}`,
      )
      .join(' ')
  }
}

function dumpMap(value: unknown, dump: (entry: unknown) => string): string {
  const entries = Object.entries((value ?? {}) as Json).filter(([, entry]) => entry !== undefined)
  if (entries.length === 0) return '<nil>'
  entries.sort(([left], [right]) => (left < right ? -1 : 1))
  return `map[${entries.map(([name, entry]) => `${name}:${dump(entry)}`).join(' ')}]`
}

const namesByType = new Map<string, ReadonlySet<string>>()

function jsonNamesOf(goType: string): ReadonlySet<string> {
  let names = namesByType.get(goType)
  if (names === undefined) {
    const fields = declaredFields(goType) ?? []
    names = new Set(
      fields.flatMap(({ inline, jsonName, goType: type }) =>
        inline ? [...jsonNamesOf(type)] : [jsonName],
      ),
    )
    namesByType.set(goType, names)
  }
  return names
}

function dumpUnknown(object: Json, known: ReadonlySet<string>): string {
  const unknown = Object.entries(object).filter(
    ([name, value]) => value !== undefined && value !== null && !known.has(name),
  )
  return unknown.length === 0 ? '' : canonicalJson(Object.fromEntries(unknown))
}

function dumpIntOrString(value: string | number): string {
  return typeof value === 'number'
    ? `{Type:(intstr.Type)0 IntVal:(int32)${value} StrVal:(string)}`
    : `{Type:(intstr.Type)1 IntVal:(int32)0 StrVal:(string)${value}}`
}

/** Seconds since year 1; the absent time is that moment itself. */
function dumpTime(value: unknown): string {
  const timeMs = parseTime(value as string | undefined)
  const seconds = timeMs === undefined ? 0 : Math.floor(timeMs / 1000) + SECONDS_BEFORE_EPOCH
  return `{Time:(time.Time){wall:(uint64)0 ext:(int64)${seconds} loc:(*time.Location)<nil>}}`
}
