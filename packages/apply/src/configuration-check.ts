/**
 * Checks an applied configuration against the type: unknown fields, wrong types, duplicate items. The texts are those of
 * the reference server, Go value syntax included. Contract: docs/behaviour/api-server/patch-and-apply.md, Apply.
 */
import { byString } from '@gyropilot/foundation'
import { goNumber } from '@gyropilot/schema/go-number'
import { formatElement } from './field-set.ts'
import { elementOfItem } from './list-items.ts'
import { shapeFor } from './merge-type.ts'
import type { ListShape, MapShape, MergeType } from './merge-type.ts'

/** Empty when the configuration fits. Each text starts with the path: `.spec.foo: field not declared in schema`. */
export function checkConfiguration(type: MergeType, configuration: unknown): readonly string[] {
  const findings: Findings = { problems: [], refusesDuplicates: true }
  check(type, configuration, '', findings)
  return findings.problems
}

/** Of objects that are stored or will be: their lists may have items twice. */
export function checkObject(type: MergeType, object: unknown): readonly string[] {
  const findings: Findings = { problems: [], refusesDuplicates: false }
  check(type, object, '', findings)
  return findings.problems
}

interface Findings {
  readonly problems: string[]
  readonly refusesDuplicates: boolean
}

/** One problem as it is, several below each other. */
export function problemText(problems: readonly string[]): string {
  return problems.length === 1
    ? problems[0]!
    : `errors:\n${problems.map((problem) => `  ${problem}`).join('\n')}`
}

function check(type: MergeType, value: unknown, path: string, findings: Findings): void {
  if (value === null || value === undefined) return
  const shape = shapeFor(type, value)
  if (shape.map !== undefined) checkMap(shape.map, value, path, findings)
  else if (shape.list !== undefined && shape.scalar === undefined)
    checkList(shape.list, value, path, findings)
  else checkScalar(shape.scalar ?? 'untyped', value, path, findings)
}

function report(findings: Findings, path: string, text: string): void {
  findings.problems.push(path === '' ? text : `${path}: ${text}`)
}

function checkScalar(
  scalar: NonNullable<MergeType['scalar']>,
  value: unknown,
  path: string,
  findings: Findings,
): void {
  if (scalar === 'numeric' && typeof value !== 'number' && typeof value !== 'bigint') {
    report(findings, path, `expected numeric (int or float), got ${goTypeName(value)}`)
  } else if (scalar === 'string' && typeof value !== 'string') {
    report(
      findings,
      path,
      `expected string, got &value.valueUnstructured{Value:${goSyntax(value)}}`,
    )
  } else if (scalar === 'boolean' && typeof value !== 'boolean') {
    report(findings, path, `expected boolean, got &{${goText(value)}}`)
  } else if (scalar === 'untyped' && typeof value === 'object') {
    report(findings, path, `expected any scalar, got &{${goText(value)}}`)
  }
}

function checkMap(map: MapShape, value: unknown, path: string, findings: Findings): void {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    report(findings, path, `expected map, got &{${goText(value)}}`)
    return
  }
  // Nothing of the map is looked at behind the first field that nobody declared.
  for (const [name, child] of Object.entries(value).toSorted(byString(([key]) => key))) {
    const type = map.fields.get(name)?.type ?? map.values
    const childPath = `${path}.${name}`
    if (type === undefined) {
      report(findings, childPath, 'field not declared in schema')
      return
    }
    check(type, child, childPath, findings)
  }
}

function checkList(list: ListShape, value: unknown, path: string, findings: Findings): void {
  if (!Array.isArray(value)) {
    report(findings, path, `expected list, got &{${goText(value)}}`)
    return
  }
  const seen = new Set<string>()
  for (const [index, item] of value.entries()) {
    if (list.ownership === 'atomic') {
      check(list.items, item, `${path}[${index}]`, findings)
      continue
    }
    const element = elementOfItem(list, item)
    if (typeof element !== 'string') {
      // Nothing of the list is looked at behind the first item that cannot be told from others.
      report(findings, path, `element ${index}: ${element.reason}`)
      return
    }
    if (findings.refusesDuplicates && seen.has(element))
      report(findings, path, `duplicate entries for key ${formatElement(element)}`)
    seen.add(element)
    check(list.items, item, `${path}${formatElement(element)}`, findings)
  }
}

function goTypeName(value: unknown): string {
  if (Array.isArray(value)) return '[]interface {}'
  if (typeof value === 'object') return 'map[string]interface {}'
  return typeof value === 'boolean' ? 'bool' : 'string'
}

/** As Go's `%v` prints a decoded value. */
function goText(value: unknown): string {
  if (value === null || value === undefined) return '<nil>'
  if (Array.isArray(value)) return `[${value.map(goText).join(' ')}]`
  if (typeof value === 'number') return goNumber(value)
  if (typeof value !== 'object') return String(value)
  const entries = Object.entries(value).toSorted(byString(([key]) => key))
  return `map[${entries.map(([key, child]) => `${key}:${goText(child)}`).join(' ')}]`
}

/** As Go's `%#v` prints it. */
function goSyntax(value: unknown): string {
  if (value === null || value === undefined) return 'interface {}(nil)'
  if (Array.isArray(value)) return `[]interface {}{${value.map(goSyntax).join(', ')}}`
  if (typeof value === 'string') return JSON.stringify(value)
  if (typeof value === 'number') return goNumber(value)
  if (typeof value !== 'object') return String(value)
  const entries = Object.entries(value).toSorted(byString(([key]) => key))
  return `map[string]interface {}{${entries.map(([key, child]) => `${JSON.stringify(key)}:${goSyntax(child)}`).join(', ')}}`
}
