/** Columns of custom resources. Contract: docs/behaviour/api-server/custom-resources.md, Tables. */
import { nameColumn } from '../kinds/columns.ts'
import { CREATED_AT_DESCRIPTION } from '../printing/descriptions.ts'
import { formatShortDuration } from '../printing/ages.ts'
import type { PrinterColumn, Stored } from '../registry/kind-rules.ts'
import { isObject } from './schemas/structural-schema.ts'
import { stringifyExact } from '@gyropilot/schema/exact-json'

/** Name, and what the definition says; with nothing said, Name and Age. */
export function columnsOf(definitions: readonly Stored[] | undefined): readonly PrinterColumn[] {
  const age = {
    name: 'Age',
    type: 'date',
    description: CREATED_AT_DESCRIPTION,
    jsonPath: '.metadata.creationTimestamp',
  }
  const list = definitions === undefined || definitions.length === 0 ? [age] : definitions
  return [nameColumn, ...list.map(columnOf)]
}

function columnOf({ name, type, format, description, priority, jsonPath }: Stored): PrinterColumn {
  return {
    name,
    type,
    format: format ?? '',
    description:
      description || `Custom resource definition column (in JSONPath format): ${jsonPath}`,
    priority: priority ?? 0,
    // A cell without a value is null on the wire.
    cell: (object, nowMs) => cellOf(type, firstAt(object, jsonPath), nowMs) as string,
  }
}

function cellOf(type: string, value: unknown, nowMs: number): unknown {
  if (value === undefined || value === null) return null
  switch (type) {
    case 'integer':
      return typeof value === 'number'
        ? Math.trunc(value)
        : typeof value === 'bigint'
          ? value
          : null
    case 'number':
      return typeof value === 'number' || typeof value === 'bigint' ? value : null
    case 'boolean':
      return typeof value === 'boolean' ? value : null
    case 'date': {
      if (typeof value !== 'string') return null
      const timeMs = Date.parse(value)
      return Number.isNaN(timeMs) ? '<invalid>' : formatShortDuration(nowMs - timeMs)
    }
    default:
      return typeof value === 'string' ? value : stringifyExact(value)
  }
}

const STEP =
  /\.((?:[^.[\\]|\\.)+)|\['((?:[^'\\]|\\.)*)'\]|\["((?:[^"\\]|\\.)*)"\]|\[(\*|-?\d+)\]|\[\?\(([^)]*)\)\]/gy

/** The first result of a path as printer columns use them: fields, indexes, `*`, filters such as `[?(@.type=="Ready")]`. */
export function firstAt(object: unknown, path: string): unknown {
  let values: unknown[] = [object]
  let end = 0
  // Copies the expression, whose state a filter's own path would disturb.
  for (const match of path.matchAll(STEP)) {
    const [, plain, single, double, index, filter] = match
    const name = (plain ?? single ?? double)?.replaceAll(/\\(.)/g, '$1')
    end = match.index + match[0].length
    if (filter !== undefined)
      values = values.flatMap(children).filter((item) => matches(item, filter))
    else if (index === '*' || name === '*') values = values.flatMap(children)
    else if (index !== undefined)
      values = values.map((value) => (Array.isArray(value) ? value.at(Number(index)) : undefined))
    else
      values = values.map((value) =>
        isObject(value) && Object.hasOwn(value, name!) ? value[name!] : undefined,
      )
    values = values.filter((value) => value !== undefined)
  }
  return end === path.length ? values[0] : undefined
}

function children(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value
  return isObject(value) ? Object.values(value) : []
}

function matches(item: unknown, filter: string): boolean {
  const match = /^\s*@((?:\.[A-Za-z0-9_-]+)+)\s*(?:(==|!=|<=|>=|<|>)\s*(.+?)\s*)?$/.exec(filter)
  if (match === null) return false
  const [, path, operator, literal] = match
  const value = firstAt(item, path!)
  if (operator === undefined) return value !== undefined
  const expected = /^(['"]).*\1$/.test(literal!) ? literal!.slice(1, -1) : JSON.parse(literal!)
  switch (operator) {
    case '==':
      return value === expected
    case '!=':
      return value !== expected
    case '<':
      return (value as number) < expected
    case '>':
      return (value as number) > expected
    case '<=':
      return (value as number) <= expected
    default:
      return (value as number) >= expected
  }
}
