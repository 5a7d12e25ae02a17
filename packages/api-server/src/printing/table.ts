/** Tables and metadata-only forms. Contract: docs/behaviour/api-server/requests.md, "Table". */
import { badRequest } from '../http/errors.ts'
import type { PrinterColumn } from '../registry/kind-rules.ts'
import type { Stored } from '@gyropilot/schema/objects'
import type { ServedResource } from '../registry/resource-registry.ts'
import { formatAge } from './ages.ts'
import { CREATED_AT_DESCRIPTION, NAME_DESCRIPTION } from './descriptions.ts'

type IncludeObject = 'Metadata' | 'Object' | 'None'

interface TableOptions {
  readonly version: 'v1' | 'v1beta1'
  readonly includeObject: IncludeObject
  readonly nowMs: number
}

/** Of a bookmark, which was not created. */
const NO_TIME = '0001-01-01T00:00:00Z'

const DEFAULT_COLUMNS: readonly PrinterColumn[] = [
  {
    name: 'Name',
    type: 'string',
    format: 'name',
    description: NAME_DESCRIPTION,
    cell: (object) => object['metadata']?.name ?? '',
  },
  {
    name: 'Created At',
    type: 'date',
    description: CREATED_AT_DESCRIPTION,
    cell: (object) => object['metadata']?.creationTimestamp ?? NO_TIME,
  },
]

const CUSTOM_COLUMNS: readonly PrinterColumn[] = [
  DEFAULT_COLUMNS[0]!,
  {
    name: 'Age',
    type: 'date',
    description: CREATED_AT_DESCRIPTION,
    cell: (object, nowMs) => formatAge(object['metadata']?.creationTimestamp, nowMs),
  },
]

/** 400 for a parameter that is none of the known ones. */
export function includeObjectOf(query: URLSearchParams): IncludeObject {
  const value = query.get('includeObject')
  if (value === null || value === '') return 'Metadata'
  if (value === 'Metadata' || value === 'Object' || value === 'None') return value
  throw badRequest(
    `Unable to convert to Table as requested: includeObject: Invalid value: ${JSON.stringify(value)}: must be 'Metadata', 'Object', 'None', or empty`,
  )
}

function columnsOf({ columns, rules, custom }: ServedResource): readonly PrinterColumn[] {
  return columns ?? rules.columns ?? (custom ? CUSTOM_COLUMNS : DEFAULT_COLUMNS)
}

function columnDefinitions(resource: ServedResource): readonly object[] {
  return columnsOf(resource)
    .filter(({ undeclared }) => undeclared !== true)
    .map(({ name, type, format = '', description, priority = 0 }) => ({
      name,
      type,
      format,
      description,
      priority,
    }))
}

/** A Table of these objects; `withColumns` is false for all but the first event of a watch. */
export function tableOf(
  resource: ServedResource,
  objects: readonly Stored[],
  metadata: object,
  options: TableOptions,
  withColumns = true,
): Record<string, unknown> {
  const columns = columnsOf(resource)
  const { rowOrder } = resource.rules
  const ordered = rowOrder === undefined ? objects : objects.toSorted(rowOrder)
  const rows = ordered.map((object) => rowOf(resource, columns, object, options))
  return {
    kind: 'Table',
    apiVersion: `meta.k8s.io/${options.version}`,
    metadata,
    columnDefinitions: withColumns ? columnDefinitions(resource) : null,
    // Where a kind has no columns of its own, an empty Go slice that nobody made.
    rows: rows.length === 0 && columnsOf(resource) === DEFAULT_COLUMNS ? null : rows,
  }
}

function rowOf(
  resource: ServedResource,
  columns: readonly PrinterColumn[],
  object: Stored,
  { includeObject, version, nowMs }: TableOptions,
): object {
  const conditions = resource.rules.rowConditions?.(object)
  // Cells are made of what is stored, whichever version is asked for.
  const stored = resource.storage.toStored?.(object) ?? object
  return {
    cells: columns.map(({ cell }) => cell(stored, nowMs)),
    ...(conditions === undefined || conditions.length === 0 ? {} : { conditions }),
    object:
      includeObject === 'None'
        ? null
        : includeObject === 'Object'
          ? object
          : metadataOnly(object, version, resource),
  }
}

export function metadataOnly(
  object: Stored,
  version: 'v1' | 'v1beta1',
  { rules, storage }: ServedResource,
): Record<string, unknown> {
  const { computedAnnotations } = rules
  // Annotations that carry fields of another version are no part of what is stored.
  const { metadata } = storage.toStored?.(object) ?? object
  const shown =
    computedAnnotations === undefined ? metadata : withoutAnnotations(metadata, computedAnnotations)
  return { kind: 'PartialObjectMetadata', apiVersion: `meta.k8s.io/${version}`, metadata: shown }
}

function withoutAnnotations(metadata: Stored, hidden: readonly string[]): Stored {
  const { annotations, ...rest } = metadata
  if (annotations === undefined) return metadata
  const kept = Object.entries(annotations).filter(([key]) => !hidden.includes(key))
  return kept.length === 0 ? rest : { ...rest, annotations: Object.fromEntries(kept) }
}
