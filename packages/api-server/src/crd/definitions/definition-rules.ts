/** CustomResourceDefinition as a kind: its defaults and checks. Contract: docs/behaviour/api-server/custom-resources.md. */
import { formatTime } from '@gyropilot/foundation'
import type { Draft, KindRules, Stored } from '../../registry/kind-rules.ts'
import { TERMINATION_PENDING, setCondition } from './conditions.ts'
import {
  definitionName,
  validateDefinition,
  validateDefinitionUpdate,
  validateNames,
  validateStoredVersions,
} from './definition-validation.ts'
import { isKnownFormat } from '@gyropilot/schema/formats'
import { additionalOf, itemsOf, propertiesOf } from '../schemas/structural-schema.ts'
import type { Schema } from '../schemas/structural-schema.ts'

/** Keeps a definition until its instances are gone. */
export const CLEANUP_FINALIZER = 'customresourcecleanup.apiextensions.k8s.io'

export const definitionRules: KindRules = {
  group: 'apiextensions.k8s.io',
  kind: 'CustomResourceDefinition',
  name: definitionName,
  defaults: defaultDefinition,
  generationOf: (object) => object['spec'],
  prepareForCreate(object) {
    const versions: readonly Draft[] = object['spec']?.versions ?? []
    const storageVersion = versions.find(({ storage }) => storage === true)
    object['status'] = {
      conditions: null,
      acceptedNames: { plural: '', kind: '' },
      storedVersions: storageVersion === undefined ? null : [storageVersion['name']],
    }
  },
  prepareForUpdate(object, stored) {
    object['status'] = structuredClone(stored['status'] ?? {})
    const versions: readonly Draft[] = object['spec']?.versions ?? []
    const storage: string | undefined = versions.find((version) => version['storage'] === true)?.[
      'name'
    ]
    const known: readonly string[] = object['status'].storedVersions ?? []
    if (storage !== undefined && !known.includes(storage))
      object['status'].storedVersions = [...known, storage]
  },
  validate(object, errors) {
    validateDefinition(object, errors)
    validateStoredVersions(object, errors)
  },
  updateOrder: 'update-only',
  unconditionalUpdate: false,
  validateUpdate(object, stored, errors) {
    validateDefinition(object, errors, stored)
    validateDefinitionUpdate(object, stored, errors)
    validateStoredVersions(object, errors)
  },
  status: {
    validateUpdate: (object, _stored, errors) =>
      validateNames(object['status']?.acceptedNames ?? {}, 'status.acceptedNames', errors),
  },
  warnings: formatWarnings,
  terminate(object, nowMs) {
    const metadata = object['metadata'] as Draft
    if (metadata['deletionTimestamp'] !== undefined) return true
    metadata['deletionTimestamp'] = formatTime(nowMs)
    metadata['finalizers'] = [
      ...(metadata['finalizers'] ?? []).filter((name: string) => name !== CLEANUP_FINALIZER),
      CLEANUP_FINALIZER,
    ]
    setCondition((object['status'] ??= {}), TERMINATION_PENDING, nowMs)
    return true
  },
}

function defaultDefinition(object: Draft): void {
  const spec = (object['spec'] ??= {}) as Draft
  const names = (spec['names'] ??= {}) as Draft
  if (!names['singular'] && names['kind']) names['singular'] = String(names['kind']).toLowerCase()
  if (!names['listKind'] && names['kind']) names['listKind'] = `${names['kind']}List`
  const conversion = (spec['conversion'] ??= { strategy: 'None' }) as Draft
  defaultStoredVersions(object)
  const { clientConfig, conversionReviewVersions } = (conversion['webhook'] ?? {}) as Draft
  // A webhook that says nothing is none.
  if (clientConfig === undefined && (conversionReviewVersions ?? []).length === 0)
    delete conversion['webhook']
  const service = conversion['webhook']?.clientConfig?.service
  if (service !== undefined && service.port === undefined) service.port = 443
}

/** A status that names no stored version is taken to mean the one that is stored now. */
function defaultStoredVersions(object: Draft): void {
  if ((object['status']?.storedVersions ?? []).length > 0) return
  const versions: readonly Draft[] = object['spec']?.versions ?? []
  const storage = versions.find((version) => version['storage'] === true)
  if (storage !== undefined) (object['status'] ??= {}).storedVersions = [storage['name'] ?? '']
}

/** Unknown formats mean nothing: said once, when they come in. */
function formatWarnings(object: Stored, stored: Stored | undefined): readonly string[] {
  const before = new Set(stored === undefined ? [] : unknownFormatsOf(stored))
  return unknownFormatsOf(object)
    .filter((format) => !before.has(format))
    .map((format) => `unrecognized format ${JSON.stringify(format)}`)
}

/** Each once, in the order in which they stand: a place before what is in it. */
function unknownFormatsOf(definition: Stored): string[] {
  const formats = new Set<string>()
  for (const version of definition['spec']?.versions ?? [])
    collectUnknown(version.schema?.openAPIV3Schema, formats)
  return [...formats]
}

function collectUnknown(schema: Schema | undefined, formats: Set<string>): void {
  if (schema === undefined) return
  if (schema.format && !isKnownFormat(schema.format, schema.type)) formats.add(schema.format)
  for (const keyword of ['allOf', 'anyOf', 'oneOf'] as const)
    for (const branch of schema[keyword] ?? []) collectUnknown(branch, formats)
  collectUnknown(schema.not, formats)
  const additional = additionalOf(schema)
  if (additional !== true) collectUnknown(additional, formats)
  for (const property of Object.values(propertiesOf(schema))) collectUnknown(property, formats)
  collectUnknown(itemsOf(schema), formats)
}
