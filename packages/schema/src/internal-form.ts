/**
 * Values as kube-apiserver holds them inside: Go field names in Go order, absent fields as null, "" or false. Some messages
 * print them, and differences between them. Contract: docs/behaviour/api-server/requests.md, "Field errors".
 */
import type { Draft, Stored } from './objects.ts'
import { escapeHtml, stringifyExact } from '@gyropilot/foundation/exact-json'
import { emptyGiven } from './given-value.ts'
import { internalTypes } from './internal-types.ts'
import { unifiedDiff } from './line-diff.ts'
import { sortedMap } from './json/sorted-json.ts'

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
    else
      form[field.name] = fieldValue(
        value?.[field.json] ?? emptyGiven(value ?? undefined, field.json),
        field,
        value ?? undefined,
        context,
      )
  return form
}

/** Of what is stored, which holds nothing empty, whatever the request that wrote it gave. */
export function storedForm(value: Stored | undefined | null, type: string): Draft {
  return internalForm(structuredClone(value), type)
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
      return field.type === 'LabelSelector' ? selectorForm(value) : sortedMap(value ?? null)
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

/** A selector of labels, which has one form inside and outside. */
export function selectorForm(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return null
  const { matchLabels, matchExpressions } = value as Stored
  return {
    ...(matchLabels && { matchLabels: sortedMap(matchLabels) }),
    ...(matchExpressions && {
      matchExpressions: matchExpressions.map(({ key, operator, values }: Stored) => ({
        key,
        operator,
        ...(values && { values }),
      })),
    }),
  }
}

/** An owner, likewise. */
export function ownerForm({ controller, blockOwnerDeletion, ...named }: Stored): Draft {
  const { apiVersion, kind, name, uid } = named
  return { apiVersion, kind, name, uid, controller, blockOwnerDeletion }
}

/** Fields of metadata in Go's order: one type serves inside and outside, and what is empty is left out. */
export function metadataForm(metadata: Stored | undefined): Draft {
  const form: Draft = {}
  for (const field of METADATA_FIELDS) {
    const value = metadata?.[field]
    if (value !== undefined && value !== null)
      form[field] = field === 'ownerReferences' ? value.map(ownerForm) : sortedMap(value)
  }
  return form
}

/** As Go declares them. */
export const METADATA_FIELDS = [
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
] as const

/** Lines with one space for each level, as Go prints indented JSON. */
function linesOf(form: unknown): string[] {
  return escapeHtml(stringifyExact(form, 1)).split('\n')
}

/** A unified diff with three lines of context, headed by its `@@` lines, ended by a line break. */
export function internalDiff(before: unknown, after: unknown): string {
  return unifiedDiff(linesOf(before), linesOf(after))
}
