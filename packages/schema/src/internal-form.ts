/**
 * Values as kube-apiserver holds them inside: Go field names in Go order, absent fields as null, "" or false. Some messages
 * print them, and differences between them. Contract: docs/behaviour/api-server/requests.md, "Field errors".
 */
import { byString } from '@gyropilot/foundation'
import type { Draft, Stored } from './objects.ts'
import { escapeHtml, stringifyExact } from './exact-json.ts'
import { internalTypes } from './internal-types.ts'

interface InternalField {
  readonly name: string
  readonly json: string
  readonly kind:
    | 'text'
    | 'number'
    | 'flag'
    | 'nullable'
    | 'pointer'
    | 'struct'
    | 'list'
    | 'map'
    | 'metadata'
    | 'inline'
  readonly type: string
}

const KINDS: Readonly<Record<string, InternalField['kind']>> = {
  '': 'text',
  '#': 'number',
  '!': 'flag',
  '?': 'nullable',
  '*': 'pointer',
  '=': 'struct',
  '[]': 'list',
  '{}': 'map',
  '@': 'metadata',
  '+': 'inline',
}
const parsed = new Map<string, readonly InternalField[]>()

/** `Name`, `Name?`, `Name*Type`, `Name[]Type`, `Name{}Type`, each with `~json` when the JSON name is no lower-case copy. */
function fieldsOf(type: string): readonly InternalField[] {
  let fields = parsed.get(type)
  if (fields === undefined) {
    fields = internalTypes[type]!.split(' ').map((text) => {
      const [, name = '', kind = '', target = '', json] =
        /^(\w+)(\[\]|\{\}|[#!?*=+@]?)(\w*)(?:~(.*))?$/.exec(text)!
      return { name, json: json ?? jsonName(name), kind: KINDS[kind]!, type: target }
    })
    parsed.set(type, fields)
  }
  return fields
}

/** `HostPID` -> `hostPID`, `TTY` -> `tty`, `DNSPolicy` -> `dnsPolicy`. */
function jsonName(name: string): string {
  const head = /^[A-Z]+(?![a-z])/.exec(name)?.[0] ?? name[0]!
  return head.toLowerCase() + name.slice(head.length)
}

export function internalForm(
  value: Stored | undefined | null,
  type: string,
  context?: Stored,
): Draft {
  const form: Draft = {}
  for (const field of fieldsOf(type))
    if (field.kind === 'metadata') Object.assign(form, metadataForm(value?.[field.json]))
    else form[field.name] = fieldValue(value?.[field.json], field, value ?? undefined, context)
  return form
}

function fieldValue(
  value: unknown,
  field: InternalField,
  holder: Stored | undefined,
  context: Stored | undefined,
): unknown {
  switch (field.kind) {
    case 'text':
      return value ?? ''
    case 'number':
      return value ?? 0
    case 'flag':
      return value ?? false
    case 'nullable':
      return sortedMap(value ?? null)
    case 'pointer':
      return value === undefined || value === null
        ? null
        : internalForm(value as Stored, field.type, holder ?? context)
    case 'struct':
      return internalForm(value as Stored | undefined, field.type, holder ?? context)
    case 'list':
      return Array.isArray(value)
        ? value.map((item: Stored) => internalForm(item, field.type))
        : null
    case 'map':
      return value === undefined || value === null
        ? null
        : Object.fromEntries(
            Object.entries(sortedMap(value) as Stored).map(([key, item]) => [
              key,
              internalForm(item as Stored, field.type),
            ]),
          )
    case 'metadata':
    case 'inline':
      // A field that the external form keeps one level up: hostNetwork and its like.
      return context?.[field.json] ?? (field.type === 'Flag' ? false : null)
  }
}

/** Fields of metadata in Go's order: one type serves inside and outside, and what is empty is left out. */
function metadataForm(metadata: Stored | undefined): Draft {
  const form: Draft = {}
  for (const field of METADATA_FIELDS) {
    const value = metadata?.[field]
    if (value !== undefined && value !== null) form[field] = sortedMap(value)
  }
  return form
}

const METADATA_FIELDS = [
  'name',
  'generateName',
  'namespace',
  'selfLink',
  'uid',
  'resourceVersion',
  'generation',
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
  'labels',
  'annotations',
  'ownerReferences',
  'finalizers',
  'managedFields',
]

/** Go prints maps by key. Values of this kind hold no structs. */
export function sortedMap(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  return Object.fromEntries(Object.entries(value).toSorted(byString(([key]) => key)))
}

/** JSON without a type, as Go prints it: by key at every depth. */
export function sortedJson(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortedJson)
  if (typeof value !== 'object' || value === null) return value
  const members = Object.entries(sortedMap(value) as object)
  return Object.fromEntries(members.map(([key, member]) => [key, sortedJson(member)]))
}

/** Lines with one space for each level, as Go prints indented JSON. */
function linesOf(form: unknown): string[] {
  return escapeHtml(stringifyExact(form, 1)).split('\n')
}

/** A unified diff with three lines of context, headed by its `@@` lines, ended by a line break. */
export function internalDiff(before: unknown, after: unknown): string {
  const a = linesOf(before)
  const b = linesOf(after)
  const edits = editScript(a, b)
  let text = ''
  for (let start = 0; start < edits.length;) {
    if (edits[start]!.sign === ' ') {
      start++
      continue
    }
    let end = start
    for (let index = start; index < edits.length && index <= end + 6; index++)
      if (edits[index]!.sign !== ' ') end = index
    const from = Math.max(0, start - 3)
    const to = Math.min(edits.length, end + 4)
    text += hunk(edits.slice(from, to), edits.slice(0, from))
    start = to
  }
  return text
}

interface Edit {
  readonly sign: ' ' | '-' | '+'
  readonly line: string
}

function hunk(edits: readonly Edit[], before: readonly Edit[]): string {
  const count = (list: readonly Edit[], sign: '-' | '+'): number =>
    list.filter((edit) => edit.sign === ' ' || edit.sign === sign).length
  const range = (sign: '-' | '+'): string => {
    const start = count(before, sign) + 1
    const length = count(edits, sign)
    return length === 1 ? `${start}` : `${start},${length}`
  }
  return `@@ -${range('-')} +${range('+')} @@\n${edits.map(({ sign, line }) => `${sign}${line}\n`).join('')}`
}

/** Common lines are matched longest first; removals come before additions. */
function editScript(a: readonly string[], b: readonly string[]): Edit[] {
  let head = 0
  while (head < a.length && head < b.length && a[head] === b[head]) head++
  let tail = 0
  while (
    tail < a.length - head &&
    tail < b.length - head &&
    a[a.length - 1 - tail] === b[b.length - 1 - tail]
  )
    tail++
  const same = (lines: readonly string[]): Edit[] => lines.map((line) => ({ sign: ' ', line }))
  return [
    ...same(a.slice(0, head)),
    ...middleScript(a.slice(head, a.length - tail), b.slice(head, b.length - tail)),
    ...same(a.slice(a.length - tail)),
  ]
}

function middleScript(a: readonly string[], b: readonly string[]): Edit[] {
  const match = longestMatch(a, b)
  if (match.length === 0) {
    return [
      ...a.map((line): Edit => ({ sign: '-', line })),
      ...b.map((line): Edit => ({ sign: '+', line })),
    ]
  }
  const { i, j, length } = match
  return [
    ...middleScript(a.slice(0, i), b.slice(0, j)),
    ...a.slice(i, i + length).map((line): Edit => ({ sign: ' ', line })),
    ...middleScript(a.slice(i + length), b.slice(j + length)),
  ]
}

function longestMatch(
  a: readonly string[],
  b: readonly string[],
): { i: number; j: number; length: number } {
  const positions = new Map<string, number[]>()
  for (const [index, line] of b.entries()) {
    const list = positions.get(line)
    if (list === undefined) positions.set(line, [index])
    else list.push(index)
  }
  let best = { i: 0, j: 0, length: 0 }
  let lengths = new Map<number, number>()
  for (const [i, line] of a.entries()) {
    const next = new Map<number, number>()
    for (const j of positions.get(line) ?? []) {
      const length = (lengths.get(j - 1) ?? 0) + 1
      next.set(j, length)
      if (length > best.length) best = { i: i - length + 1, j: j - length + 1, length }
    }
    lengths = next
  }
  return best
}
