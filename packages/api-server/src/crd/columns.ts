/** Columns of custom resources. Contract: docs/behaviour/api-server/custom-resources.md, Tables. */
import { nameColumn } from '../kinds/columns.ts'
import { CREATED_AT_DESCRIPTION } from '../printing/descriptions.ts'
import { formatShortDuration } from '../printing/ages.ts'
import type { PrinterColumn, Stored } from '../registry/kind-rules.ts'
import { parseTime } from '@gyropilot/api'
import { escapeHtml, stringifyExact } from '@gyropilot/foundation/exact-json'
import { goNumber, toInt64 } from '@gyropilot/schema/go-number'
import { sortedJson } from '@gyropilot/schema/sorted-json'
import { firstAt } from './json-path/evaluate.ts'
import { parseJsonPath } from './json-path/parse.ts'

/** Go's zero time. */
const ZERO_TIME_MS = Date.parse('0001-01-01T00:00:00Z')

/** Name, and what the definition says; with nothing said, Name and Age. Name alone where a path cannot be read. */
export function columnsOf(definitions: readonly Stored[] | undefined): readonly PrinterColumn[] {
  const age = {
    name: 'Age',
    type: 'date',
    description: CREATED_AT_DESCRIPTION,
    jsonPath: '.metadata.creationTimestamp',
  }
  const list = definitions === undefined || definitions.length === 0 ? [age] : definitions
  const columns = list.map(columnOf)
  return [nameColumn, ...(columns.every((column) => column !== undefined) ? columns : [])]
}

function columnOf(definition: Stored): PrinterColumn | undefined {
  const { name, type, format, description, priority, jsonPath } = definition
  const path = parseJsonPath(jsonPath)
  if (path === undefined) return undefined
  return {
    name,
    type,
    format: format ?? '',
    description:
      description || `Custom resource definition column (in JSONPath format): ${jsonPath}`,
    priority: priority ?? 0,
    // A cell without a value is null on the wire.
    cell: (object, nowMs) => cellOf(type, firstAt(object, path), nowMs) as string,
  }
}

type Cell = string | number | bigint | boolean | null

function cellOf(type: string, value: unknown, nowMs: number): Cell {
  switch (type) {
    case 'integer':
      return isNumber(value) ? toInt64(value) : null
    case 'number':
      return isNumber(value) ? value : null
    case 'boolean':
      return typeof value === 'boolean' ? value : null
    case 'date':
      return typeof value === 'string' ? ageText(value, nowMs) : null
    default:
      return textOf(value)
  }
}

function isNumber(value: unknown): value is number | bigint {
  return typeof value === 'number' || typeof value === 'bigint'
}

/** Of a text that stands for no time at all as of a time that is zero: unknown. */
function ageText(text: string, nowMs: number): string {
  if (text === '' || text === 'null') return '<unknown>'
  const timeMs = parseTime(text)
  if (timeMs === undefined) return '<invalid>'
  return timeMs === ZERO_TIME_MS ? '<unknown>' : formatShortDuration(nowMs - timeMs)
}

function textOf(value: unknown): string | null {
  if (value === undefined) return null
  if (value === null) return '<no value>'
  if (isNumber(value)) return goNumber(value)
  return typeof value === 'object' ? escapeHtml(stringifyExact(sortedJson(value))) : String(value)
}
