/** Rules of metadata, the same for all kinds. Contract: docs/behaviour/api-server/defaulting-and-validation.md, Metadata. */
import { schemaOf } from '@gyropilot/api/schema'
import type { Stored } from '../objects.ts'
import type { FieldErrors } from '../field-errors.ts'
import { isPrintable } from '../go/go-quote.ts'
import { ownerForm } from '../internal-form.ts'
import { invalidAll, sortedKeys, validateAnnotations, validateLabels } from './labels.ts'
import { dnsLabel, dnsSubdomain, pathCharacters, pathSegment, qualifiedName } from './names.ts'
import { isNumber } from './numbers.ts'

export type NameCheck = (name: string, generated: boolean, object: Stored) => readonly string[]

/** How the names of a kind are checked. */
export type NameRule = 'subdomain' | 'label' | 'path-segment' | NameCheck

/** A generated name is checked without the hyphen that its random part follows, and with a letter for what stands before that. */
export function withPrefix(check: (name: string) => readonly string[]): NameCheck {
  return (name, generated) =>
    check(generated && name.endsWith('-') && name.length > 1 ? `${name.slice(0, -2)}a` : name)
}

const checks: Readonly<Record<Extract<NameRule, string>, NameCheck>> = {
  subdomain: withPrefix(dnsSubdomain),
  label: withPrefix(dnsLabel),
  'path-segment': (name, generated) => (generated ? pathCharacters(name) : pathSegment(name)),
}

export function nameCheckOf(rules: { readonly name?: NameRule } | undefined): NameCheck {
  const name = rules?.name ?? 'subdomain'
  return typeof name === 'string' ? checks[name] : name
}

const STANDARD_FINALIZERS = new Set(['kubernetes', 'orphan', 'foregroundDeletion'])

/** All of it, as a kind's own rules look at it. */
export function validateMetadata(
  object: Stored,
  namespaced: boolean,
  check: NameCheck,
  errors: FieldErrors,
  field = 'metadata',
): void {
  validateCommonMetadata(object, namespaced, check, errors, field)
  refuseUnknownFinalizers(object, errors, field)
}

/** What every object is checked for, whatever its kind. */
export function validateCommonMetadata(
  object: Stored,
  namespaced: boolean,
  check: NameCheck,
  errors: FieldErrors,
  field = 'metadata',
): void {
  const metadata: Stored = object.metadata ?? {}
  if (metadata.generateName) {
    invalidAll(
      errors,
      `${field}.generateName`,
      metadata.generateName,
      check(metadata.generateName, true, object),
    )
  }
  if (!metadata.name) errors.required(`${field}.name`, 'name or generateName is required')
  else invalidAll(errors, `${field}.name`, metadata.name, check(metadata.name, false, object))
  if (namespaced) {
    if (!metadata.namespace) errors.required(`${field}.namespace`)
    else invalidAll(errors, `${field}.namespace`, metadata.namespace, dnsLabel(metadata.namespace))
  } else if (metadata.namespace) errors.forbidden(`${field}.namespace`, 'not allowed on this type')
  if (metadata.generation < 0) {
    errors.invalid(`${field}.generation`, metadata.generation, 'must be greater than or equal to 0')
  }
  validateLabels(metadata.labels, errors, `${field}.labels`)
  validateAnnotations(metadata.annotations, errors, `${field}.annotations`)
  validateOwners(metadata.ownerReferences, errors, `${field}.ownerReferences`)
  validateFinalizers(metadata.finalizers, errors, `${field}.finalizers`)
  validateManagedFields(metadata.managedFields, errors, `${field}.managedFields`)
}

function validateOwners(
  owners: readonly Stored[] | undefined,
  errors: FieldErrors,
  field: string,
): void {
  let first: Stored | undefined
  const known = owners ?? []
  for (const owner of known) {
    const parts = (owner.apiVersion ?? '').split('/')
    if (parts.length > 2 || parts.at(-1) === '')
      errors.invalid(`${field}.apiVersion`, owner.apiVersion ?? '', 'version must not be empty')
    for (const part of ['kind', 'name', 'uid']) {
      if (!owner[part]) errors.invalid(`${field}.${part}`, owner[part] ?? '', 'must not be empty')
    }
    if (owner.kind === 'Event' && owner.apiVersion === 'v1') {
      errors.invalid(field, ownerForm(owner), `/v1, Kind=Event is disallowed from being an owner`)
    }
    if (owner.controller !== true) continue
    if (first === undefined) first = owner
    else {
      errors.invalid(
        field,
        known.map(ownerForm),
        `Only one reference can have Controller set to true. Found "true" in references for ${first.kind}/${first.name} and ${owner.kind}/${owner.name}`,
      )
    }
  }
}

/** Objects of these groups and custom resources may have finalizers without a slash. */
function isStrict(object: Stored): boolean {
  const apiVersion: string = object.apiVersion ?? 'v1'
  const slash = apiVersion.indexOf('/')
  const group = slash < 0 ? '' : apiVersion.slice(0, slash)
  if (LENIENT_GROUPS.has(group)) return false
  return schemaOf(group, apiVersion.slice(slash + 1), object.kind ?? '') !== undefined
}

const LENIENT_GROUPS: ReadonlySet<string> = new Set([
  'admissionregistration.k8s.io',
  'apiextensions.k8s.io',
  'apiregistration.k8s.io',
  'coordination.k8s.io',
  'node.k8s.io',
  'policy',
])

/** All qualified names, then the conflict of the two deletion policies. */
function validateFinalizers(
  finalizers: readonly string[] | undefined,
  errors: FieldErrors,
  field: string,
): void {
  const list = finalizers ?? []
  for (const finalizer of list) invalidAll(errors, field, finalizer, qualifiedName(finalizer))
  if (list.includes('orphan') && list.includes('foregroundDeletion')) {
    errors.invalid(field, list, 'finalizer orphan and foregroundDeletion cannot be both set')
  }
}

/** The stricter rule of most kinds. */
export function refuseUnknownFinalizers(
  object: Stored,
  errors: FieldErrors,
  field = 'metadata',
): void {
  if (!isStrict(object)) return
  const finalizers: readonly string[] = object.metadata?.finalizers ?? []
  for (const [index, finalizer] of finalizers.entries())
    refuseUnknownFinalizer(finalizer, errors, `${field}.finalizers[${index}]`)
}

/** Whether it is the server's, or names in whose domain it is. */
export function isKnownFinalizer(finalizer: string): boolean {
  return finalizer.includes('/') || STANDARD_FINALIZERS.has(finalizer)
}

function refuseUnknownFinalizer(finalizer: string, errors: FieldErrors, field: string): void {
  if (isKnownFinalizer(finalizer)) return
  errors.invalid(
    field,
    finalizer,
    'name is neither a standard finalizer name nor is it fully qualified',
  )
}

/** One of a namespace's own finalizers. */
export function validateFinalizer(finalizer: string, errors: FieldErrors, field: string): void {
  invalidAll(errors, field, finalizer, qualifiedName(finalizer))
  refuseUnknownFinalizer(finalizer, errors, field)
}

function validateManagedFields(
  entries: readonly Stored[] | undefined,
  errors: FieldErrors,
  field: string,
): void {
  for (const [index, entry] of (entries ?? []).entries()) {
    const at = `${field}[${index}]`
    if (entry.operation !== 'Apply' && entry.operation !== 'Update') {
      errors.invalid(`${at}.operation`, entry.operation ?? '', 'must be `Apply` or `Update`')
    }
    if ((entry.fieldsType ?? '') !== '' && entry.fieldsType !== 'FieldsV1') {
      errors.invalid(`${at}.fieldsType`, entry.fieldsType, 'must be `FieldsV1`')
    }
    validateFieldManager(entry.manager ?? '', errors, `${at}.manager`)
    if (Buffer.byteLength(entry.subresource ?? '') > 256) errors.tooLong(`${at}.subresource`, 256)
  }
}

/** As managers call themselves; every update looks at all of its managers. */
const PLAIN_MANAGER = /^[\x20-\x7e]{0,128}$/

/** The name that a writer gives itself, in a request's query or in an entry of managedFields. */
export function validateFieldManager(manager: string, errors: FieldErrors, field: string): void {
  if (PLAIN_MANAGER.test(manager)) return
  if (Buffer.byteLength(manager) > 128) errors.tooLong(field, 128)
  let position = 0
  for (const char of manager) {
    if (!isPrintable(char)) {
      const code = char.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')
      errors.invalid(field, manager, `invalid character U+${code} (at position ${position})`)
    }
    position += Buffer.byteLength(char)
  }
}

/** Names, uids and times stay what they were; finalizers may not be added to an object that is being deleted. */
export function validateMetadataUpdate(object: Stored, stored: Stored, errors: FieldErrors): void {
  const metadata: Stored = object.metadata ?? {}
  const before: Stored = stored.metadata ?? {}
  // Once more than the object's own rules do, as upstream: each mistake is told twice.
  validateManagedFields(metadata.managedFields, errors, 'metadata.managedFields')
  const same = (field: string): void => {
    const now = metadata[field]
    if ((now ?? '') !== (before[field] ?? '')) {
      errors.invalid(
        `metadata.${field}`,
        now ?? (isNumber(before[field]) ? null : ''),
        'field is immutable',
      )
    }
  }
  if (before.deletionTimestamp) {
    const kept = new Set(before.finalizers ?? [])
    const added: string[] = (metadata.finalizers ?? [])
      .filter((name: string) => !kept.has(name))
      .toSorted()
    if (added.length > 0) {
      errors.forbidden(
        'metadata.finalizers',
        `no new finalizers can be added if the object is being deleted, found new finalizers []string{${added.map((name) => JSON.stringify(name)).join(', ')}}`,
      )
    }
  }
  if ((metadata.generation ?? 0) < (before.generation ?? 0)) {
    errors.invalid('metadata.generation', metadata.generation ?? 0, 'must not be decremented')
  }
  for (const field of [
    'name',
    'namespace',
    'uid',
    'creationTimestamp',
    'deletionTimestamp',
    'deletionGracePeriodSeconds',
  ])
    same(field)
  validateLabels(metadata.labels, errors, 'metadata.labels')
  validateAnnotations(metadata.annotations, errors, 'metadata.annotations')
  validateOwners(metadata.ownerReferences, errors, 'metadata.ownerReferences')
}

/** ObjectMeta in a template: labels and annotations only. */
export function validateTemplateMetadata(
  metadata: Stored | undefined,
  errors: FieldErrors,
  field: string,
): void {
  validateLabels(metadata?.labels, errors, `${field}.labels`)
  validateAnnotations(metadata?.annotations, errors, `${field}.annotations`)
}

export { sortedKeys }
