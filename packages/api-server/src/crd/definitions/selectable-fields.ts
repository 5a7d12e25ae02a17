/** By which fields custom resources may be selected. Contract: docs/behaviour/api-server/custom-resources.md. */
import type { Stored } from '../../registry/kind-rules.ts'
import type { FieldErrors } from '@gyropilot/schema/field-errors'
import { followPath } from '../schemas/field-path.ts'
import { foreignKeyword, foreignProblem } from '../schemas/foreign-keyword.ts'
import type { Schema } from '../schemas/structural-schema.ts'

const SELECTABLE_FIELDS_MAX = 8

/** `version`: where the version stands. */
export function validateSelectableFields(
  fields: readonly Stored[],
  schema: Schema | undefined,
  version: string,
  errors: FieldErrors,
): void {
  const path = `${version}.selectableFields`
  const keyword = schema && foreignKeyword(schema)
  if (keyword !== undefined)
    errors.invalid(`${version}.schema.openAPIV3Schema`, '', foreignProblem(keyword))
  const good = new Set<string>()
  const seen = new Set<string>()
  for (const [index, { jsonPath = '' }] of fields.entries()) {
    const at = `${path}[${index}].jsonPath`
    if (jsonPath === '') {
      errors.required(at)
      continue
    }
    const { names, problem, node } = followPath(jsonPath, schema, { from: '', brackets: false })
    if (problem !== undefined) {
      errors.invalid(at, jsonPath, `is an invalid path: ${problem}`)
      continue
    }
    if (names[0] === 'metadata')
      errors.invalid(at, jsonPath, 'must not point to fields in metadata')
    else if (!['string', 'boolean', 'integer'].includes(node?.type ?? ''))
      errors.invalid(
        at,
        jsonPath,
        'must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed.',
      )
    else good.add(jsonPath)
    if (seen.has(jsonPath)) errors.duplicate(at, jsonPath)
    seen.add(jsonPath)
  }
  if (good.size > SELECTABLE_FIELDS_MAX) errors.tooMany(path, good.size, SELECTABLE_FIELDS_MAX)
}
