import assert from 'node:assert/strict'
import { test } from 'node:test'
import { schemaNamed } from '@gyropilot/api/schema'
import type { FieldType } from '@gyropilot/api'
import { declaredFields } from './pod-template-fields.ts'
import type { DeclaredField } from './pod-template-fields.ts'

/** Types that the print treats as one value. */
const VALUES: ReadonlySet<string> = new Set(['v1.Time', 'v1.ManagedFieldsEntry', 'v1.ResourceList'])

function elementType(goType: string): string {
  return goType.replace(/^(\*|\[\])+/, '')
}

function jsonFields(goType: string): readonly DeclaredField[] {
  return (declaredFields(goType) ?? []).flatMap((field) =>
    field.inline ? jsonFields(field.goType) : [field],
  )
}

/** The schema's word for a Go type. */
function schemaTypeOf(goType: string): FieldType {
  if (goType.startsWith('[]')) return 'array'
  if (goType.startsWith('map[') || goType === 'v1.ResourceList') return 'map'
  const named: Readonly<Record<string, FieldType>> = {
    bool: 'boolean',
    int32: 'int32',
    int64: 'int64',
    'resource.Quantity': 'quantity',
    'intstr.IntOrString': 'int-or-string',
    'v1.Time': 'time',
  }
  const pointedTo = elementType(goType)
  return named[pointedTo] ?? (declaredFields(pointedTo) === undefined ? 'string' : 'object')
}

test('the declared structures have exactly the fields of the published schema', () => {
  const pending = ['v1.PodTemplateSpec']
  const seen = new Set<string>()
  for (let goType = pending.pop(); goType !== undefined; goType = pending.pop()) {
    if (seen.has(goType) || VALUES.has(goType)) continue
    seen.add(goType)
    const fields = jsonFields(goType)
    if (fields.length === 0) continue
    pending.push(...fields.map((field) => elementType(field.goType)))
    const name = goType.slice('v1.'.length)
    const schema = schemaNamed(`core-v1.${name}`) ?? schemaNamed(`meta-v1.${name}`)
    assert.ok(schema !== undefined, `no schema for ${goType}`)
    const declared = fields.map(({ jsonName }) => jsonName).toSorted()
    assert.deepEqual(declared, [...schema.properties.keys()].toSorted(), goType)
    for (const field of fields) {
      const schemaType: FieldType | undefined = schema.properties.get(field.jsonName)?.type
      assert.equal(schemaTypeOf(field.goType), schemaType, `${goType} ${field.jsonName}`)
    }
  }
  assert.ok(seen.size > 100)
})
