/**
 * One amount can be stored in several spellings (`1024`, `1Ki`, `+4`), and rules compare amounts. Only the schema tells a quantity
 * from other text, so what is compared is given the same spellings before rules see it.
 */
import { compareQuantities } from '@gyropilot/api'
import type { FieldSchema, ObjectSchema } from '@gyropilot/api'
import { schemaOf } from '@gyropilot/api/schema'
import type { Stored } from './objects.ts'

/** `before` with the spellings of `now` where the amounts at the same place are equal; what `before` says, otherwise. */
type Respell = (before: unknown, now: unknown) => unknown

const ofStructs = new Map<string, Respell | undefined>()

/**
 * `stored` with the spellings of `draft` wherever the same place has the same amount; `stored` itself when none differs. Items of
 * lists are matched by position. Kinds that are not built in have no quantities.
 */
export function spelledAs(stored: Stored, draft: Stored, apiVersion: string, kind: string): Stored {
  const [version, group = ''] = apiVersion.split('/').toReversed()
  const schema = schemaOf(group, version!, kind)
  const respell = schema === undefined ? undefined : ofStruct(schema)
  return respell === undefined ? stored : (respell(stored, draft) as Stored)
}

function ofStruct(schema: ObjectSchema): Respell | undefined {
  if (ofStructs.has(schema.name)) return ofStructs.get(schema.name)
  // Types that contain themselves, which are schemas, have no quantities.
  ofStructs.set(schema.name, undefined)
  const places = [...schema.properties].flatMap(([name, field]) => {
    const respell = ofField(field)
    return respell === undefined ? [] : [[name, respell] as const]
  })
  const respell = places.length === 0 ? undefined : membersOf(() => places)
  ofStructs.set(schema.name, respell)
  return respell
}

function ofField({ type, schema, items, values }: FieldSchema): Respell | undefined {
  switch (type) {
    case 'quantity':
      return respellQuantity
    case 'object':
      return ofStruct(schema!)
    case 'array': {
      const ofItem = ofField(items!)
      return ofItem && ((before, now) => respellItems(before, now, ofItem))
    }
    case 'map': {
      const ofValue = ofField(values!)
      return ofValue && membersOf((before) => Object.keys(before).map((key) => [key, ofValue]))
    }
    default:
      return undefined
  }
}

function membersOf(placesOf: (before: Stored) => readonly (readonly [string, Respell])[]): Respell {
  return (before, now) => {
    if (before === now || !isObject(before) || !isObject(now)) return before
    let changed: Record<string, unknown> | undefined
    for (const [name, respell] of placesOf(before)) {
      if (!Object.hasOwn(before, name) || !Object.hasOwn(now, name)) continue
      const member = respell(before[name], now[name])
      // Copied by key: `__proto__` stays a key.
      if (member !== before[name]) changed = { ...(changed ?? before), [name]: member }
    }
    return changed ?? before
  }
}

function respellItems(before: unknown, now: unknown, ofItem: Respell): unknown {
  if (before === now || !Array.isArray(before) || !Array.isArray(now)) return before
  const items = before.map((item: unknown, index) => ofItem(item, now[index]))
  return items.some((item, index) => item !== before[index]) ? items : before
}

function respellQuantity(before: unknown, now: unknown): unknown {
  if (before === now || typeof before !== 'string' || typeof now !== 'string') return before
  return compareQuantities(before, now) === 0 ? now : before
}

const isObject = (value: unknown): value is Stored => typeof value === 'object' && value !== null
