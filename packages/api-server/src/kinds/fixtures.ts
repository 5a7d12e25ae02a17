/** For tests: objects on their way through a kind's rules, without a server. */
import type { Draft, RuleContext, Stored } from '../registry/kind-rules.ts'
import { decodeObject, emptyStatus } from '@gyropilot/schema/decode'
import { FieldErrors } from '@gyropilot/schema/field-errors'
import { nameCheckOf, validateMetadata } from '@gyropilot/schema/validation/metadata'
import { rulesFor } from './index.ts'

export interface KindName {
  readonly group: string
  readonly version: string
  readonly kind: string
  readonly namespaced?: boolean
}

export const context: RuleContext = {
  nowMs: Date.parse('2024-01-01T00:00:00Z'),
  userName: 'jane',
  featureEnabled: () => true,
}

/** Decoded and defaulted, as after every request's body. */
export function decoded(type: KindName, object: Draft): Draft {
  const draft = decodeObject(type, object)!.object
  rulesFor(type.group, type.kind)?.defaults?.(draft)
  return draft
}

/** What a create would store, before uid and the like are known to a client. */
export function created(type: KindName, object: Draft): Draft {
  const draft = decoded(type, object)
  draft.metadata = { name: 'x', ...draft.metadata, uid: 'u-1' }
  if (type.namespaced !== false) draft.metadata.namespace ??= 'ns'
  const rules = rulesFor(type.group, type.kind)
  if (rules?.prepareForCreate) rules.prepareForCreate(draft, context)
  else {
    const status = emptyStatus(type)
    if (status !== undefined) draft.status = status
  }
  return draft
}

const text = (errors: FieldErrors): string[] =>
  errors.list.map(({ field, message }) => `${field}: ${message}`)

/** `field: message` of each error of a create. */
export function createErrors(type: KindName, object: Draft): string[] {
  const draft = created(type, object)
  const rules = rulesFor(type.group, type.kind)
  const errors = new FieldErrors()
  rules?.validateFirst?.(draft, errors, context)
  validateMetadata(draft, type.namespaced !== false, nameCheckOf(rules), errors)
  rules?.validate?.(draft, errors, context)
  return text(errors)
}

/** Errors of changing one object into another, metadata's own aside. */
export function updateErrors(type: KindName, before: Draft, after: Draft): string[] {
  const stored: Stored = created(type, before)
  const draft = decoded(type, after)
  draft.metadata = { ...stored.metadata, ...draft.metadata }
  const rules = rulesFor(type.group, type.kind)
  rules?.prepareForUpdate?.(draft, stored, context)
  const errors = new FieldErrors()
  const order = rules?.updateOrder ?? 'validate-first'
  if (order === 'validate-first') rules?.validate?.(draft, errors, context)
  rules?.validateUpdate?.(draft, stored, errors, context)
  if (order === 'update-first') rules?.validate?.(draft, errors, context)
  return text(errors)
}

/** Errors of writing the status of `after` to an object that has that of `before`, metadata's own aside. */
export function statusErrors(type: KindName, before: Draft, after: Draft): string[] {
  const stored: Stored = { ...created(type, before), status: decoded(type, before).status }
  const draft = { ...stored, status: decoded(type, after).status }
  const status = rulesFor(type.group, type.kind)?.status
  status?.prepareForUpdate?.(draft, stored, context)
  const errors = new FieldErrors()
  status?.validateUpdate?.(draft, stored, errors, context)
  return text(errors)
}

export function podSpec(container: Draft = {}, rest: Draft = {}): Draft {
  return { containers: [{ name: 'c', image: 'nginx:1.27', ...container }], ...rest }
}

export function template(labels: Draft = { app: 'a' }, spec: Draft = podSpec()): Draft {
  return { metadata: { labels }, spec }
}
