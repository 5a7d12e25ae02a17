/** Parts of printer columns that several kinds share. */
import type { PrinterColumn, Stored } from '../registry/kind-rules.ts'
import definitions from './column-definitions.json' with { type: 'json' }

type Cell = PrinterColumn['cell']

export const NAME_DESCRIPTION =
  'Name must be unique within a namespace. Is required when creating resources, although some resources may allow a client to request the generation of an appropriate name automatically. Name is primarily intended for creation idempotence and configuration definition. Cannot be updated. More info: https://kubernetes.io/docs/concepts/overview/working-with-objects/names#names'
export const AGE_DESCRIPTION =
  'CreationTimestamp is a timestamp representing the server time when this object was created. It is not guaranteed to be set in happens-before order across separate operations. Clients may not set this value. It is represented in RFC3339 form and is in UTC.\n\nPopulated by the system. Read-only. Null for lists. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#metadata'

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

export const ageColumn: PrinterColumn = column('Age', 'string', AGE_DESCRIPTION, (object, nowMs) =>
  age(object.metadata?.creationTimestamp, nowMs),
)

export function age(timestamp: string | null | undefined, nowMs: number): string {
  if (!timestamp) return '<unknown>'
  return shortDuration(nowMs - Date.parse(timestamp))
}

/** kubectl's short form: two units while they matter, then one. */
export function shortDuration(durationMs: number): string {
  const seconds = Math.trunc(durationMs / 1000)
  if (seconds < -1) return '<invalid>'
  if (seconds < 0) return '0s'
  if (seconds < 120) return `${seconds}s`
  const minutes = Math.trunc(seconds / 60)
  if (minutes < 10) return withRest(minutes, 'm', seconds % 60, 's')
  if (minutes < 180) return `${minutes}m`
  const hours = Math.trunc(minutes / 60)
  if (hours < 8) return withRest(hours, 'h', minutes % 60, 'm')
  if (hours < 48) return `${hours}h`
  const days = Math.trunc(hours / 24)
  if (hours < 192) return withRest(days, 'd', hours % 24, 'h')
  if (hours < 24 * 365 * 2) return `${days}d`
  const years = Math.trunc(hours / 24 / 365)
  if (hours < 24 * 365 * 8) return withRest(years, 'y', days % 365, 'd')
  return `${years}y`
}

function withRest(value: number, unit: string, rest: number, restUnit: string): string {
  return rest === 0 ? `${value}${unit}` : `${value}${unit}${rest}${restUnit}`
}

/** `a=b,c in (d,e)`; `<none>` for nothing. */
export function selectorText(selector: Stored | null | undefined): string {
  if (!selector) return '<none>'
  const parts = Object.keys(selector.matchLabels ?? {}).map((key) => ({
    key,
    text: `${key}=${selector.matchLabels[key]}`,
  }))
  for (const { key, operator, values = [] } of selector.matchExpressions ?? []) {
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
export function labelsText(labels: Stored | null | undefined): string {
  const keys = Object.keys(labels ?? {}).toSorted()
  return keys.length === 0 ? '<none>' : keys.map((key) => `${key}=${labels![key]}`).join(',')
}

const containerNames = (object: Stored): string =>
  (object.spec?.template?.spec?.containers ?? []).map(({ name }: Stored) => name).join(',')
const containerImages = (object: Stored): string =>
  (object.spec?.template?.spec?.containers ?? []).map(({ image }: Stored) => image).join(',')

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
export function tableColumns(
  resource: keyof typeof definitions,
  cells: Readonly<Record<string, Cell>>,
): readonly PrinterColumn[] {
  const list = definitions[resource] as readonly ColumnDefinition[]
  return [
    nameColumn,
    ...list.map(({ name, type = 'string', description = '', priority = 0 }) =>
      name === 'Age' ? ageColumn : column(name, type, description, cells[name]!, priority),
    ),
  ]
}
