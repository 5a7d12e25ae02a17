/** Versions of a definition: what they share, and how the reference server prints them. */
import { deepEqual } from '@gyropilot/api'
import { internalForm } from '@gyropilot/schema/internal-form'
import type { Draft, Stored } from '../../registry/kind-rules.ts'
import { internalSchema } from '../schemas/internal-schema.ts'
import type { Schema } from '../schemas/structural-schema.ts'

export type Version = Draft
export type Per<T> = { readonly shared: T | undefined; readonly perVersion: boolean }

/** What all versions have in common is reported, and checked, once. */
export function partOf(spec: Stored, field: string): Per<unknown> {
  const versions: readonly Version[] = spec['versions'] ?? []
  const shared: unknown = versions[0]?.[field]
  return { shared, perVersion: versions.some((version) => !deepEqual(version[field], shared)) }
}

/** The versions as the reference server prints them: its internal type, where what all versions share stands elsewhere. */
export function internalVersions(spec: Stored): unknown {
  const schema = partOf(spec, 'schema')
  const subresources = partOf(spec, 'subresources')
  const columns = partOf(spec, 'additionalPrinterColumns')
  const selectable = partOf(spec, 'selectableFields')
  return (
    (spec['versions'] as readonly Version[] | undefined)?.map((version) => ({
      Name: version['name'] ?? '',
      Served: version['served'] ?? false,
      Storage: version['storage'] ?? false,
      Deprecated: version['deprecated'] ?? false,
      DeprecationWarning: version['deprecationWarning'] ?? null,
      Schema: schema.perVersion ? internalValidation(version['schema']) : null,
      Subresources: subresources.perVersion ? internalSubresources(version['subresources']) : null,
      AdditionalPrinterColumns: columns.perVersion
        ? internalList(version['additionalPrinterColumns'], 'CustomResourceColumnDefinition')
        : null,
      SelectableFields: selectable.perVersion
        ? internalList(version['selectableFields'], 'SelectableField')
        : null,
    })) ?? null
  )
}

function internalValidation(validation: Stored | undefined): unknown {
  if (validation === undefined) return null
  const schema: Schema | undefined = validation['openAPIV3Schema']
  return { OpenAPIV3Schema: schema === undefined ? null : internalSchema(schema) }
}

function internalSubresources(subresources: Stored | undefined): unknown {
  if (subresources === undefined) return null
  const { status, scale } = subresources
  return {
    Status: status ?? null,
    Scale: scale === undefined ? null : internalForm(scale, 'CustomResourceSubresourceScale'),
  }
}

function internalList(list: readonly Stored[] | undefined, type: string): unknown {
  return list?.map((item) => internalForm(item, type)) ?? null
}
