/** Parts of printer columns that several kinds share. */
import type { LabelSelector, PodTemplateSpec } from '@gyropilot/api'
import type { PrinterColumn, Stored, StoredOf } from '../registry/kind-rules.ts'
import { formatAge } from '../printing/ages.ts'
import { CREATED_AT_DESCRIPTION, NAME_DESCRIPTION } from '../printing/descriptions.ts'
import definitions from './column-definitions.json' with { type: 'json' }

type Cell = PrinterColumn['cell']

export function column(
  name: string,
  type: PrinterColumn['type'],
  description: string,
  cell: Cell,
  priority = 0,
): PrinterColumn {
  return { name, type, format: '', description, priority, cell }
}

export const nameColumn: PrinterColumn = {
  name: 'Name',
  type: 'string',
  format: 'name',
  description: NAME_DESCRIPTION,
  priority: 0,
  cell: (object) => object.metadata?.name ?? '',
}

export const ageColumn: PrinterColumn = column(
  'Age',
  'string',
  CREATED_AT_DESCRIPTION,
  (object, nowMs) => formatAge(object.metadata?.creationTimestamp, nowMs),
)

/** Tables mark the classes that objects get when they name none. */
export function withDefaultMark(
  annotations: readonly string[],
  [name, ...rest]: readonly PrinterColumn[],
): readonly PrinterColumn[] {
  const cell = (object: Stored): string => {
    const isDefault = annotations.some((key) => object.metadata?.annotations?.[key] === 'true')
    return `${object.metadata?.name ?? ''}${isDefault ? ' (default)' : ''}`
  }
  return [{ ...name!, cell }, ...rest]
}

/** `a=b,c in (d,e)`; `<none>` for nothing. */
export function selectorText(selector: StoredOf<LabelSelector> | undefined): string {
  if (!selector) return '<none>'
  const parts = Object.entries(selector.matchLabels ?? {}).map(([key, value]) => ({
    key,
    text: `${key}=${value}`,
  }))
  for (const { key = '', operator, values = [] } of selector.matchExpressions ?? []) {
    const list = `(${[...values].toSorted().join(',')})`
    const text =
      operator === 'In'
        ? `${key} in ${list}`
        : operator === 'NotIn'
          ? `${key} notin ${list}`
          : operator === 'Exists'
            ? key
            : `!${key}`
    parts.push({ key, text })
  }
  if (parts.length === 0) return '<none>'
  return parts
    .toSorted((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0))
    .map(({ text }) => text)
    .join(',')
}

/** A label map in print: sorted pairs. */
export function labelsText(labels: Readonly<Record<string, string>> | null | undefined): string {
  const keys = Object.keys(labels ?? {}).toSorted()
  return keys.length === 0 ? '<none>' : keys.map((key) => `${key}=${labels![key]}`).join(',')
}

/** Of a load balancer, each once and sorted: its names only where it has no IP. */
export function balancerAddresses(
  ingress: readonly { readonly ip?: string; readonly hostname?: string }[] | null | undefined,
): readonly string[] {
  const addresses = (ingress ?? []).map(({ ip, hostname }) => ip || hostname || '')
  return [...new Set(addresses.filter((address) => address !== ''))].toSorted()
}

/** The pods of a workload, in this place. */
interface Templated {
  readonly template?: PodTemplateSpec
}

const containerNames = (object: { readonly spec?: StoredOf<Templated> | undefined }): string =>
  (object.spec?.template?.spec?.containers ?? []).map(({ name }) => name).join(',')
const containerImages = (object: { readonly spec?: StoredOf<Templated> | undefined }): string =>
  (object.spec?.template?.spec?.containers ?? []).map(({ image }) => image).join(',')

/** The wide columns of workloads. */
export const containerCells = { Containers: containerNames, Images: containerImages }

interface ColumnDefinition {
  readonly name: string
  readonly type?: PrinterColumn['type']
  readonly description?: string
  readonly priority?: number
}

/**
 * The columns of a resource as kube-apiserver declares them, with a cell for each name. The texts are part of the answers
 * that clients compare, so they are data.
 */
export function tableColumns<T>(
  resource: keyof typeof definitions,
  cells: Readonly<Record<string, PrinterColumn<NoInfer<T>>['cell']>>,
): readonly PrinterColumn<T>[] {
  const list = definitions[resource] as readonly ColumnDefinition[]
  return [
    nameColumn,
    ...list.map(({ name, type = 'string', description = '', priority = 0 }) =>
      name === 'Age' ? ageColumn : column(name, type, description, cells[name]!, priority),
    ),
  ]
}
