/** The answer to an apply that would overwrite what others own. Contract: docs/behaviour/api-server/patch-and-apply.md, Conflict answer. */
import { compareStrings } from '@gyropilot/foundation'
import { ApiError } from '@gyropilot/schema/api-error'
import { formatPath, isEmpty, pathsIn } from './field-set.ts'
import type { FieldSet } from './field-set.ts'
import type { Owner } from './managers.ts'

/** Paths in conflict, by their owner. */
export type Conflicts = readonly { readonly owner: Owner; readonly fields: FieldSet }[]

export function conflictError(conflicts: Conflicts): ApiError {
  const blocks = conflicts
    .filter(({ fields }) => !isEmpty(fields))
    .map(({ owner, fields }) => ({
      owner,
      name: describe(owner),
      paths: [...pathsIn(fields)].map(formatPath),
    }))
    .toSorted((a, b) => compareStrings(sortKey(a.owner), sortKey(b.owner)))
  const causes = blocks.flatMap(({ name, paths }) =>
    paths.map((field) => ({
      reason: 'FieldManagerConflict',
      message: `conflict with ${name}`,
      field,
    })),
  )
  const message =
    causes.length === 1
      ? `Apply failed with 1 conflict: ${causes[0]!.message}: ${causes[0]!.field}`
      : `Apply failed with ${causes.length} conflicts: ${blocks
          .flatMap(({ name, paths }) => [
            `conflicts with ${name}:`,
            ...paths.map((path) => `- ${path}`),
          ])
          .join('\n')}`
  return new ApiError(409, 'Conflict', message, { details: { causes } })
}

/** `"m"` for an applier, `"m" with subresource "status" using v1` for an updater. */
function describe(owner: Owner): string {
  const subresource =
    owner.subresource === '' ? '' : ` with subresource ${JSON.stringify(owner.subresource)}`
  const version = owner.operation === 'Update' ? ` using ${owner.apiVersion}` : ''
  return `${JSON.stringify(owner.manager)}${subresource}${version}`
}

/** The entry as text, without its fields: of two updates of one manager the older comes first, of two of one age that of a subresource. */
function sortKey({ manager, operation, apiVersion, time, subresource }: Owner): string {
  const updated = operation === 'Update' ? { apiVersion, time } : {}
  const of = subresource === '' ? {} : { subresource }
  return JSON.stringify({ manager, operation, ...updated, ...of })
}
