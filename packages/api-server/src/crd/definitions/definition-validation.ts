/** Checks definitions themselves. Contract: docs/behaviour/api-server/custom-resources.md, Validation of the definition. */
import { deepEqual } from '@gyropilot/api'
import type { Stored } from '../../registry/kind-rules.ts'
import type { FieldErrors } from '@gyropilot/schema/field-errors'
import { dns1035Label, dnsSubdomain } from '@gyropilot/schema/validation/names'
import { nameCheckOf, type NameCheck } from '@gyropilot/schema/validation/metadata'
import { validateConversion } from '../conversion-validation.ts'
import { hasDefaults, validateSchema } from '../schemas/schema-validation.ts'
import { internalVersions, partOf, type Per, type Version } from './versions.ts'
import { validateSelectableFields } from './selectable-fields.ts'
import { simplePath } from '../schemas/structural-schema.ts'
import type { Schema } from '../schemas/structural-schema.ts'

const OTHER_NAME = 'must be spec.names.plural+"."+spec.group'

function requiredName(spec: Stored): string {
  return `${spec['names']?.plural ?? ''}.${spec['group'] ?? ''}`
}

/** What is wrong with the name of a new definition. */
export const definitionName: NameCheck = (name, generated, object) => {
  const problems = nameCheckOf({ name: 'subdomain' })(name, generated, object)
  return name === requiredName(object['spec'] ?? {}) ? problems : [...problems, OTHER_NAME]
}

/** `stored`: the definition before an update. */
export function validateDefinition(object: Stored, errors: FieldErrors, stored?: Stored): void {
  const spec: Stored = object['spec'] ?? {}
  validateGroup(spec['group'] ?? '', errors)
  validateScope(spec, errors)
  requireSchemas(spec, errors)
  refuseDefaultsOfUnknown(spec, errors)
  validateVersionParts(spec, 'perVersion', errors, stored?.['spec'])
  validateVersions(spec, errors)
  validateFirstVersion(spec, errors)
  requireNames(spec['names'] ?? {}, errors)
  validateNames(spec['names'] ?? {}, 'spec.names', errors)
  validateVersionParts(spec, 'shared', errors, stored?.['spec'])
  validateConversion(
    spec['conversion'] ?? {},
    errors,
    stored && (stored['spec'].conversion ?? {}),
    spec['preserveUnknownFields'] === true,
  )
  validateApproval(object, stored, errors)
  validatePreserveUnknown(spec, errors)
}

function validateGroup(group: string, errors: FieldErrors): void {
  if (group === '') {
    errors.required('spec.group')
    return
  }
  const messages = dnsSubdomain(group)
  if (messages.length > 0) errors.invalid('spec.group', group, messages.join(','))
  else if (!group.includes('.'))
    errors.invalid('spec.group', group, 'should be a domain with at least one dot')
}

/** What was so before an update may stay so. */
function validateApproval(object: Stored, stored: Stored | undefined, errors: FieldErrors): void {
  if (!isProtected(object['spec']?.group ?? '')) return
  const approvalOf = (definition: Stored | undefined): string =>
    definition?.['metadata']?.annotations?.[APPROVAL_ANNOTATION] ?? ''
  const approval = approvalOf(object)
  if (stored !== undefined && approval === approvalOf(stored)) return
  const field = `metadata.annotations[${APPROVAL_ANNOTATION}]`
  const wanted = `protected groups must have approval annotation "${APPROVAL_ANNOTATION}"`
  const seeAlso = 'see https://github.com/kubernetes/enhancements/pull/1111'
  if (approval === '') errors.required(field, `${wanted}, ${seeAlso}`)
  else if (!approval.startsWith('unapproved') && !/^[a-z][a-z0-9+.-]*:\/\/[^/]/i.test(approval)) {
    errors.invalid(
      field,
      approval,
      `${wanted} with either a URL or a reason starting with "unapproved", ${seeAlso}`,
    )
  }
}

export const APPROVAL_ANNOTATION = 'api-approved.kubernetes.io'

/** Groups of the Kubernetes project. */
export function isProtected(group: string): boolean {
  return (
    group === 'k8s.io' ||
    group.endsWith('.k8s.io') ||
    group === 'kubernetes.io' ||
    group.endsWith('.kubernetes.io')
  )
}

function validateScope(spec: Stored, errors: FieldErrors): void {
  if (!spec['scope']) errors.required('spec.scope')
  else if (spec['scope'] !== 'Cluster' && spec['scope'] !== 'Namespaced') {
    errors.notSupported('spec.scope', spec['scope'], ['Cluster', 'Namespaced'])
  }
}

function requireSchemas(spec: Stored, errors: FieldErrors): void {
  for (const [index, version] of ((spec['versions'] ?? []) as readonly Version[]).entries()) {
    if (version['schema']?.openAPIV3Schema === undefined)
      errors.required(`spec.versions[${index}].schema.openAPIV3Schema`)
  }
}

/** What keeps unknown fields cannot fill in known ones. */
function refuseDefaultsOfUnknown(spec: Stored, errors: FieldErrors): void {
  if (spec['preserveUnknownFields'] !== true) return
  const versions: readonly Version[] = spec['versions'] ?? []
  if (versions.some((version) => hasDefaults(version['schema']?.openAPIV3Schema)))
    errors.invalid(
      'spec.preserveUnknownFields',
      true,
      'must be false in order to use defaults in the schema',
    )
}

/** Inside, the name of the first version is a field of its own, too. */
function validateFirstVersion(spec: Stored, errors: FieldErrors): void {
  const name: string = spec['versions']?.[0]?.name ?? ''
  if (name !== '') refuseLabel('spec.version', name, errors)
}

function refuseLabel(field: string, name: string, errors: FieldErrors): void {
  const message = dns1035Label(name).join(',')
  if (message !== '') errors.invalid(field, name, message)
}

function validateVersions(spec: Stored, errors: FieldErrors): void {
  const versions: readonly Version[] = spec['versions'] ?? []
  const names = versions.map(({ name }) => name)
  const storing = versions.filter(({ storage }) => storage === true)
  const refuse = (why: string): void => errors.invalid('spec.versions', internalVersions(spec), why)
  if (new Set(names).size !== names.length) refuse('must contain unique version names')
  if (storing.length !== 1) refuse('must have exactly one version marked as storage version')
}

function validateDeprecation(version: Version, path: string, errors: FieldErrors): void {
  const warning: unknown = version['deprecationWarning']
  if (typeof warning !== 'string') return
  const at = `${path}.deprecationWarning`
  // Where there should be none, nothing else is said about it.
  if (version['deprecated'] !== true) {
    errors.invalid(at, warning, 'can only be set for deprecated versions')
    return
  }
  if (Buffer.byteLength(warning) > 256)
    errors.invalid(at, warning, 'must be <= 256 characters long')
  if (warning === '') errors.invalid(at, warning, 'must not be an empty string')
  const unprintable = [...warning].findIndex(
    (character) => !/[\p{L}\p{M}\p{N}\p{P}\p{S} ]/u.test(character),
  )
  if (unprintable >= 0) {
    errors.invalid(
      at,
      warning,
      `must only contain printable UTF-8 characters; non-printable character found at index ${unprintable}`,
    )
  }
}

function validatePreserveUnknown(spec: Stored, errors: FieldErrors): void {
  if (spec['preserveUnknownFields'] !== true) return
  errors.invalid(
    'spec.preserveUnknownFields',
    true,
    'cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead',
  )
}

function requireNames(names: Stored, errors: FieldErrors): void {
  for (const name of ['plural', 'singular', 'kind', 'listKind'])
    if (!names[name]) errors.required(`spec.names.${name}`)
}

export function validateNames(names: Stored, path: string, errors: FieldErrors): void {
  const label = (field: string, value: string, mixedCase: boolean): void => {
    const message = dns1035Label(mixedCase ? value.toLowerCase() : value).join(',')
    if (message === '') return
    errors.invalid(
      field,
      value,
      mixedCase ? `may have mixed case, but should otherwise match: ${message}` : message,
    )
  }
  const {
    plural = '',
    singular = '',
    kind = '',
    listKind = '',
    shortNames = [],
    categories = [],
  } = names
  if (plural !== '') label(`${path}.plural`, plural, false)
  if (singular !== '') label(`${path}.singular`, singular, false)
  if (kind !== '') label(`${path}.kind`, kind, true)
  if (listKind !== '') label(`${path}.listKind`, listKind, true)
  for (const [index, name] of shortNames.entries())
    label(`${path}.shortNames[${index}]`, name, false)
  if (kind !== '' && kind === listKind)
    errors.invalid(`${path}.listKind`, listKind, 'kind and listKind may not be the same')
  for (const [index, name] of categories.entries())
    label(`${path}.categories[${index}]`, name, false)
}

/** What each version has for itself comes first, what they share after the names. */
function validateVersionParts(
  spec: Stored,
  which: 'perVersion' | 'shared',
  errors: FieldErrors,
  stored: Stored | undefined,
): void {
  const versions: readonly Version[] = spec['versions'] ?? []
  const [schema, subresources, columns, selectable] = (
    ['schema', 'subresources', 'additionalPrinterColumns', 'selectableFields'] as const
  ).map((field) => partOf(spec, field)) as [Per<unknown>, Per<unknown>, Per<unknown>, Per<unknown>]
  const isShared = which === 'shared'
  for (const [index, version] of versions.entries()) {
    if (isShared && index > 0) return
    const own = isShared ? 'spec' : `spec.versions[${index}]`
    const isMine = (part: Per<unknown>): boolean => part.perVersion !== isShared
    if (!isShared) validateVersion(version, own, errors)
    const openApi: Schema | undefined = version['schema']?.openAPIV3Schema
    if (isMine(schema) && openApi !== undefined) {
      const path = `${isShared ? 'spec.validation' : `${own}.schema`}.openAPIV3Schema`
      const hasStatus = version['subresources']?.status !== undefined
      const before = schemaOfVersion(stored, version['name'])
      validateSchema(openApi, path, hasStatus, errors, before)
    }
    if (isMine(subresources))
      validateSubresources(version['subresources'], `${own}.subresources`, errors)
    if (isMine(columns))
      validateColumns(
        version['additionalPrinterColumns'] ?? [],
        `${own}.additionalPrinterColumns`,
        errors,
      )
    if (!isMine(selectable) || version['selectableFields'] === undefined) continue
    const path = `${own}.selectableFields`
    if (selectable.perVersion && (!schema.perVersion || openApi === undefined))
      errors.invalid(
        path,
        '',
        'may only be set when `version.schema.openAPIV3Schema` is not included',
      )
    else if (!selectable.perVersion && (schema.perVersion || openApi === undefined))
      errors.invalid(path, '', 'may only be set when validations.schema is included')
    else validateSelectableFields(version['selectableFields'], openApi, own, errors)
  }
}

function validateVersion(version: Version, path: string, errors: FieldErrors): void {
  refuseLabel(`${path}.name`, version['name'] ?? '', errors)
  validateDeprecation(version, path, errors)
}

function schemaOfVersion(spec: Stored | undefined, name: string): Schema | undefined {
  const versions: readonly Version[] = spec?.['versions'] ?? []
  return versions.find((version) => version['name'] === name)?.['schema']?.openAPIV3Schema
}

function validateSubresources(
  subresources: Stored | undefined,
  path: string,
  errors: FieldErrors,
): void {
  const scale: Stored | undefined = subresources?.['scale']
  if (scale === undefined) return
  const check = (field: string, roots: readonly string[], where: string): void => {
    const value: string = scale[field] ?? ''
    const at = `${path}.scale.${field}`
    if (value === '') {
      if (field !== 'labelSelectorPath') errors.required(at)
      return
    }
    if (!value.startsWith('.'))
      errors.invalid(at, value, 'must be a simple json path starting with .')
    else if (!roots.some((root) => value.startsWith(`${root}.`)))
      errors.invalid(at, value, `should be a json path under ${where}`)
  }
  check('specReplicasPath', ['.spec'], '.spec')
  check('statusReplicasPath', ['.status'], '.status')
  check('labelSelectorPath', ['.spec', '.status'], 'either .spec or .status')
}

const COLUMN_TYPES = ['boolean', 'date', 'integer', 'number', 'string']
const COLUMN_FORMATS = [
  'byte',
  'date',
  'date-time',
  'double',
  'float',
  'int32',
  'int64',
  'password',
]

function validateColumns(columns: readonly Stored[], path: string, errors: FieldErrors): void {
  for (const [index, { name = '', type = '', format = '', jsonPath = '' }] of columns.entries()) {
    const at = `${path}[${index}]`
    if (name === '') errors.required(`${at}.name`)
    if (type === '') errors.required(`${at}.type`, `must be one of ${COLUMN_TYPES.join(',')}`)
    else if (!COLUMN_TYPES.includes(type))
      errors.invalid(`${at}.type`, type, `must be one of ${COLUMN_TYPES.join(',')}`)
    if (format !== '' && !COLUMN_FORMATS.includes(format)) {
      errors.invalid(`${at}.format`, format, `must be one of ${COLUMN_FORMATS.join(',')}`)
    }
    // The path is that of the server's own form.
    if (jsonPath === '') errors.required(`${at}.JSONPath`)
    else if (!jsonPath.startsWith('.'))
      errors.invalid(`${at}.JSONPath`, jsonPath, 'must be a simple json path starting with .')
  }
}

export function validateStoredVersions(object: Stored, errors: FieldErrors): void {
  const stored: readonly string[] | undefined = object['status']?.storedVersions
  const versions: readonly Version[] = object['spec']?.versions ?? []
  if (stored === undefined || stored === null || stored.length === 0) {
    errors.invalid('status.storedVersions', stored ?? null, 'must have at least one stored version')
    return
  }
  // Each version takes the entry of its name with it: a second one of the name, which is refused too, finds none.
  const left = new Map(stored.map((name, index) => [name, index]))
  for (const version of versions) {
    const name: string = version['name']
    if (!left.delete(name) && version['storage'] === true)
      errors.invalid('status.storedVersions', stored, `must have the storage version ${name}`)
  }
  for (const [name, index] of left) {
    errors.invalid(
      `status.storedVersions[${index}]`,
      name,
      `missing from spec.versions; ${name} was previously a storage version, and must remain in spec.versions until a storage migration ensures no data remains persisted in ${name} and removes ${name} from status.storedVersions`,
    )
  }
}

/** What never changes, and what does not change once the names are served. */
export function validateDefinitionUpdate(
  object: Stored,
  stored: Stored,
  errors: FieldErrors,
): void {
  const immutable = (field: string): void => {
    const value = simplePath(`.${field}`).reduce<unknown>(
      (at, name) => (at as Stored | undefined)?.[name],
      object,
    )
    const before = simplePath(`.${field}`).reduce<unknown>(
      (at, name) => (at as Stored | undefined)?.[name],
      stored,
    )
    if (!deepEqual(value, before)) errors.invalid(field, value ?? '', 'field is immutable')
  }
  const conditions: readonly Stored[] = stored['status']?.conditions ?? []
  if (conditions.some(({ type, status }) => type === 'Established' && status === 'True')) {
    immutable('spec.scope')
    immutable('spec.names.kind')
  }
  immutable('spec.group')
  immutable('spec.names.plural')
}
