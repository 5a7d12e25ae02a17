/** Selectors of lists and watches. Contract: docs/behaviour/api-server/requests.md, "Field selectors" and "Label selectors". */
import type { FieldTerm } from '@gyropilot/api'
import { badRequest } from '../../http/errors.ts'
import type { Stored } from '@gyropilot/schema/objects'
import type { ServedResource } from '../../registry/resource-registry.ts'
import type { WatchPin } from '../../storage/store.ts'
import type { ListOptions } from '../options.ts'

/** The name that a selector pins, when it is one path segment. */
export function pinnedName(terms: readonly FieldTerm[]): string | undefined {
  const value = terms.find(
    ({ field, operator }) => field === 'metadata.name' && operator === '=',
  )?.value
  return value === undefined ||
    value === '' ||
    value.includes('/') ||
    value.includes('%') ||
    value === '.' ||
    value === '..'
    ? undefined
    : value
}

type FieldMatcher = (object: Stored) => boolean
type LabelMatcher = (labels: Readonly<Record<string, string>> | undefined) => boolean

export interface Selection {
  readonly labels: LabelMatcher | undefined
  readonly fields: FieldMatcher | undefined
  /** What every selected object has: a watch hears of nothing else. */
  readonly pin: WatchPin | undefined
}

/** What a list or watch selects; 400 for fields that the kind does not know. */
export function selectionOf(
  resource: ServedResource,
  { labels, fields }: ListOptions,
  pinned: string,
): Selection {
  const pin: FieldTerm[] =
    pinned === '' ? [] : [{ field: 'metadata.name', operator: '=', value: pinned }]
  const terms = [...pin, ...fields.terms]
  const matcher = fieldMatcher(resource, terms)
  if (pinned !== '' && !fields.matchesEverything && fields.pinned('metadata.name') !== pinned)
    throw badRequest("fieldSelector metadata.name doesn't match requested name")
  return {
    labels: labels.matchesEverything ? undefined : (set) => labels.matches(set),
    fields: matcher,
    pin: pinOf(resource, terms),
  }
}

/** A matcher for the terms, or 400 for a field that the kind does not know. */
function fieldMatcher(
  resource: ServedResource,
  terms: readonly FieldTerm[],
): FieldMatcher | undefined {
  if (terms.length === 0) return undefined
  const readers = terms.map(({ field, operator, value }) => {
    const read = reader(resource, field)
    if (read === undefined) throw badRequest(unknownField(resource, field))
    return operator === '='
      ? (object: Stored) => read(object) === value
      : (object: Stored) => read(object) !== value
  })
  return readers.length === 1 ? readers[0] : (object) => readers.every((matches) => matches(object))
}

/** A term that the stored object itself can be asked about: its name, or any field when all versions are stored as they are. */
function pinOf(resource: ServedResource, terms: readonly FieldTerm[]): WatchPin | undefined {
  const equal = terms.filter(({ operator }) => operator === '=')
  const named = equal.find(({ field }) => field === 'metadata.name')
  const term = named ?? (resource.storage.fromStored === undefined ? equal[0] : undefined)
  if (term === undefined) return undefined
  const { field, value } = term
  return { field, value, of: reader(resource, field)! }
}

function reader(resource: ServedResource, field: string): ((object: Stored) => string) | undefined {
  const own = resource.rules.selectableFields
  if (field === 'metadata.name') return (object) => object['metadata'].name ?? ''
  if (field === 'metadata.namespace' && (resource.info.namespaced || own === undefined)) {
    return (object) => object['metadata'].namespace ?? ''
  }
  if (own === undefined || !Object.hasOwn(own, field)) return undefined
  return own[field]
}

/** Kinds with selectors of their own word the refusal in their own ways. */
function unknownField({ info, rules }: ServedResource, field: string): string {
  if (rules.selectableFields === undefined) {
    return `${JSON.stringify(field)} is not a known field selector: only "metadata.name", "metadata.namespace"`
  }
  if (info.group === 'batch')
    return `field label ${JSON.stringify(field)} not supported for ${info.kind}`
  if (info.group === 'resource.k8s.io') {
    return `field label not supported for ${info.group}/${info.version}, Kind=${info.kind}: ${field}`
  }
  return `field label not supported: ${field}`
}
