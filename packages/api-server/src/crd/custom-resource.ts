/** One version of a custom resource as the registry serves it. Contract: docs/behaviour/api-server/custom-resources.md. */
import { deepEqual } from '@gyropilot/api'
import { compareStrings } from '@gyropilot/foundation'
import type { OwnershipSource } from '../field-management/field-management.ts'
import type { TypedKind } from '@gyropilot/apply'
import type { ApiError, ResourceInfo } from '../contracts.ts'
import { forbidden, unclassified } from '../http/errors.ts'
import { cloneJson } from '../registry/equality.ts'
import type { Draft, KindRules, Stored } from '../registry/kind-rules.ts'
import { compareVersions } from '../registry/resource-registry.ts'
import type { StorageConversion, StorageMapping } from '../registry/storage-mapping.ts'
import type { ServedResource } from '../registry/resource-registry.ts'
import { DecodeError, type DecodedObject } from '@gyropilot/schema/decode'
import type { FieldErrors } from '@gyropilot/schema/field-errors'
import { holdsFloat, rememberFloats, settleFloats } from './whole-floats.ts'
import { oversizedNumber, type DocumentNotes } from '@gyropilot/schema/json'
import { columnsOf } from './columns.ts'
import { convertByWebhook } from './conversion-webhook.ts'
import type { ConversionParts } from './conversion-webhook.ts'
import { validateObject, validateStatus, warningsOf } from './object-validation.ts'
import { applyDefaults } from './schemas/defaults.ts'
import { duplicateFields } from '@gyropilot/schema/duplicate-fields'
import { mergeTypeOfResource } from './schemas/merge-type.ts'
import { decodeMetadata, prune } from './schemas/prune.ts'
import { customScale } from './scale.ts'
import { isObject, simplePath, valueAt } from './schemas/structural-schema.ts'
import type { JsonObject, Schema } from './schemas/structural-schema.ts'

const VERBS = ['delete', 'deletecollection', 'get', 'list', 'patch', 'create', 'update', 'watch']
const TERMINATING_VERBS = ['delete', 'deletecollection', 'get', 'list', 'watch']
const SUBRESOURCE_VERBS = ['get', 'patch', 'update']

/** What a served custom resource remembers of its definition. */
export interface CustomDefinition extends OwnershipSource {
  readonly ownership: TypedKind
  /** The definition from which it was made. */
  readonly object: Stored
  readonly schema: Schema | undefined
}

interface VersionFacts {
  readonly definition: Stored
  readonly version: Stored
  readonly schema: Schema | undefined
  readonly info: ResourceInfo
  readonly hasStatus: boolean
  isTerminating(): boolean
  readonly conversion: ConversionParts | undefined
}

/** The served versions of an established definition. While `isTerminating` says so, nothing new is created. */
export function servedResources(
  definition: Stored,
  isTerminating: () => boolean,
  conversion?: ConversionParts,
): readonly ServedResource[] {
  const versions: readonly Stored[] = definition['spec'].versions
  return versions
    .filter(({ served }) => served === true)
    .map((version) => servedResource(definition, version, isTerminating, conversion))
}

/** The version in which the instances of an established definition are kept, whether it is served or not. */
export function storedResource(
  definition: Stored,
  isTerminating: () => boolean,
  conversion?: ConversionParts,
): ServedResource {
  const versions: readonly Stored[] = definition['spec'].versions
  const version = versions.find(({ storage }) => storage === true)!
  return servedResource(definition, version, isTerminating, conversion)
}

function servedResource(
  definition: Stored,
  version: Stored,
  isTerminating: () => boolean,
  conversion: ConversionParts | undefined,
): ServedResource {
  const { group } = definition['spec']
  const schema: Schema | undefined = version['schema']?.openAPIV3Schema
  const hasStatus = version['subresources']?.status !== undefined
  const info = infoOf(definition, version, isTerminating)
  const facts: VersionFacts = {
    definition,
    version,
    schema,
    info,
    hasStatus,
    isTerminating,
    conversion,
  }
  const scale: Stored | undefined = version['subresources']?.scale
  const remembered: CustomDefinition = {
    ownership: ownershipOf(definition, schema),
    hasStatusIn: (apiVersion) =>
      versionCalled(definition, apiVersion)?.['subresources']?.status !== undefined,
    ...(scale === undefined ? {} : { replicasPath: replicasPaths(definition) }),
    object: definition,
    schema,
  }
  return {
    info,
    rules: rulesOf(facts),
    storage: storageOf(facts),
    custom: true,
    listKind: definition['status'].acceptedNames.listKind ?? `${info.kind}List`,
    hasStatus,
    virtual: false,
    decode: (...sent) => decode(facts, ...sent),
    columns: columnsOf(version['additionalPrinterColumns']),
    deprecationWarning: deprecationWarning(definition, version),
    definition: remembered,
    ...(scale === undefined ? {} : { subresources: [customScale(group, info.resource, scale)] }),
  }
}

/** Each version has its own fields; what a webhook makes of an object there, only the call knows. */
function ownershipOf(definition: Stored, schema: Schema | undefined): TypedKind {
  const types = new Map<string, TypedKind['type']>()
  return {
    type: mergeTypeOfResource(schema),
    zeroValue: {},
    schemaChanges: true,
    inVersion(apiVersion) {
      const version = versionCalled(definition, apiVersion)
      if (version === undefined)
        throw unclassified(`request to convert CR to an invalid group/version: ${apiVersion}`)
      let type = types.get(apiVersion)
      if (type === undefined)
        types.set(apiVersion, (type = mergeTypeOfResource(version['schema']?.openAPIV3Schema)))
      return { type, convert: (object) => object, revert: (object) => object }
    },
  }
}

/** Each version may have its replicas in a place of its own. */
function replicasPaths(definition: Stored): NonNullable<OwnershipSource['replicasPath']> {
  return (apiVersion) => {
    const scale: Stored | undefined = versionCalled(definition, apiVersion)?.['subresources']?.scale
    return scale && simplePath(scale['specReplicasPath']).map((name) => `f:${name}`)
  }
}

function infoOf(definition: Stored, version: Stored, isTerminating: () => boolean): ResourceInfo {
  const { group, scope } = definition['spec']
  const names: Stored = definition['status'].acceptedNames
  const own = { kind: names['kind'], group, version: version['name'], verbs: SUBRESOURCE_VERBS }
  const subresources: ResourceInfo['subresources'][number][] = []
  if (version['subresources']?.status !== undefined) subresources.push({ ...own, name: 'status' })
  if (version['subresources']?.scale !== undefined) {
    subresources.push({
      name: 'scale',
      kind: 'Scale',
      group: 'autoscaling',
      version: 'v1',
      verbs: SUBRESOURCE_VERBS,
    })
  }
  return {
    group,
    version: version['name'],
    resource: names['plural'],
    singular: names['singular'] ?? '',
    kind: names['kind'],
    namespaced: scope === 'Namespaced',
    shortNames: names['shortNames'] ?? [],
    categories: names['categories'] ?? [],
    /** While it goes, discovery tells of no more than what helps with that; whatever was served still is, but creation. */
    get verbs() {
      return isTerminating() ? TERMINATING_VERBS : VERBS
    },
    subresources,
  }
}

function apiVersionOf({ group, version }: ResourceInfo): string {
  return `${group}/${version}`
}

/** Objects that apply has merged with fields that no schema knows: those are dropped, and count as a change every time. */
const lostFields = new WeakSet<Stored>()
const METADATA: ReadonlySet<string> = new Set(['metadata'])
const NOT_COUNTED: ReadonlySet<string> = new Set(['metadata', 'status'])
const UNLIKE_ANY_STORED = Symbol('unlike any that is stored')

/** From a request body to an object: unknown fields go, defaults come. Throws DecodeError for broken metadata. */
function decode(
  { schema, info, hasStatus }: VersionFacts,
  value: unknown,
  notes?: DocumentNotes,
  keepsNulls?: boolean,
): DecodedObject {
  const sent = isObject(value) ? value : {}
  const oversized = oversizedNumber(sent, notes ?? {})
  if (oversized !== undefined)
    throw new DecodeError(
      `json: cannot unmarshal number ${oversized} into Go value of type float64`,
    )
  const problems = [...duplicateFields(sent, notes?.occurrences)]
  const { kind: _kind, apiVersion: _apiVersion, ...rest } = cloneJson(sent)
  const object: Draft = { apiVersion: apiVersionOf(info), kind: info.kind, ...rest }
  if (notes?.spellings !== undefined) rememberFloats(object, sent, notes.spellings)
  const lost = prune(object, schema).toSorted(compareStrings)
  const pruned = lost.map((path) => `unknown field "${path}"`)
  // Of what was applied nulls are kept.
  if (keepsNulls === true && lost.some((path) => !hasStatus || !/^status\b/.test(path)))
    lostFields.add(object)
  const { own, embedded } = decodeMetadata(object, schema)
  problems.push(...own, ...pruned, ...embedded)
  applyDefaults(object, schema, keepsNulls)
  return { object, problems }
}

function storageOf(facts: VersionFacts): StorageMapping {
  const { definition, info } = facts
  const { group } = definition['spec']
  const versions: readonly Stored[] = definition['spec'].versions
  const storageVersion = versions.find(({ storage }) => storage === true)!
  const apiVersion = `${group}/${storageVersion['name']}`
  const served = apiVersionOf(info)
  const collection = `${info.resource}.${group}`
  if (definition['spec'].conversion?.strategy === 'Webhook')
    return { collection, apiVersion, ...webhookConversion(facts, apiVersion) }
  const views = new WeakMap<Stored, Stored>()
  const mapping: StorageMapping = {
    collection,
    apiVersion,
    fromStored(stored) {
      let view = views.get(stored)
      if (view === undefined) {
        view = servedView(facts, stored)
        views.set(stored, view)
      }
      return view
    },
  }
  return apiVersion === served
    ? mapping
    : { ...mapping, conversion: renaming(apiVersion, storageVersion['schema']?.openAPIV3Schema) }
}

/** Strategy None: another apiVersion, and what the schema of the storage version does not know is lost. Rules see the version that was sent. */
function renaming(apiVersion: string, schema: Schema | undefined): StorageConversion {
  return {
    prepare: () => Promise.resolve(),
    encode(draft) {
      const object = cloneJson(draft) as Draft
      object['apiVersion'] = apiVersion
      prune(object, schema)
      return Promise.resolve(object)
    },
    checkStorable: () => Promise.resolve(),
  }
}

function webhookConversion(
  facts: VersionFacts,
  storageVersion: string,
): Pick<StorageMapping, 'fromStored' | 'conversion'> {
  const { definition, schema, info, conversion } = facts
  const webhook: Stored = definition['spec'].conversion.webhook ?? {}
  const served = apiVersionOf(info)
  const views = new WeakMap<Stored, Stored>()
  const convert = async (objects: readonly Stored[], to: string): Promise<readonly Draft[]> => {
    if (conversion === undefined) throw notConverted(objects[0]!)
    const ended = conversion.metrics?.converting(
      definition['metadata'].name,
      versionOf(objects[0]!['apiVersion']),
      versionOf(to),
    )
    let succeeded = false
    try {
      const converted = await convertByWebhook(webhook, conversion, objects, to)
      succeeded = true
      return converted
    } finally {
      ended?.(succeeded)
    }
  }
  return {
    fromStored(stored) {
      if (stored['apiVersion'] !== served && !views.has(stored)) throw notConverted(stored)
      let view = views.get(stored)
      if (view === undefined) {
        view = viewOf(stored, served, schema)
        views.set(stored, view)
      }
      return view
    },
    conversion: {
      async prepare(objects, anew = false) {
        const foreign = objects.filter(
          (object) => object['apiVersion'] !== served && (anew || !views.has(object)),
        )
        if (foreign.length === 0) return
        const decoded = foreign.map((object) => decodedAsStored(facts, object))
        const converted = await convert(decoded, served)
        for (const [index, object] of foreign.entries())
          views.set(object, prunedView(converted[index]!, served, schema))
      },
      async encode(draft) {
        const object = cloneJson(draft) as Draft
        if (storageVersion === served) return object
        return (await convert([object], storageVersion))[0]!
      },
      async checkStorable(stored) {
        if (stored['apiVersion'] !== storageVersion) await convert([stored], storageVersion)
      },
      async convert(object, to) {
        return object['apiVersion'] === to
          ? (cloneJson(object) as Draft)
          : (await convert([object], to))[0]!
      },
    },
  }
}

function versionOf(apiVersion: string): string {
  return apiVersion.slice(apiVersion.indexOf('/') + 1)
}

/** Only reached by the server's own look at an object that nobody has prepared. */
function notConverted(object: Stored): ApiError {
  return unclassified(
    `conversion webhook for ${object['apiVersion']}, Kind=${object['kind']} failed: no connection to webhooks`,
  )
}

/** Defaults are those of the version that is stored; the version asked for takes what it does not know. */
function servedView(facts: VersionFacts, stored: Stored): Stored {
  const served = apiVersionOf(facts.info)
  const decoded = decodedAsStored(facts, stored)
  return stored['apiVersion'] === served ? decoded : prunedView(decoded, served, facts.schema)
}

/** Throws ApiError for what was stored in a version that the definition has no more. */
function decodedAsStored({ definition }: VersionFacts, stored: Stored): Stored {
  const { apiVersion } = stored
  const own = versionCalled(definition, apiVersion)
  if (own === undefined)
    throw unclassified(`request to convert CR from an invalid group/version: ${apiVersion}`)
  return viewOf(stored, apiVersion, own['schema']?.openAPIV3Schema)
}

function versionCalled(definition: Stored, apiVersion: unknown): Stored | undefined {
  const { group, versions } = definition['spec'] as { group: string; versions: readonly Stored[] }
  return versions.find(({ name }) => `${group}/${name}` === apiVersion)
}

function prunedView(object: Stored, apiVersion: string, schema: Schema | undefined): Stored {
  const view = cloneJson(object) as JsonObject
  view['apiVersion'] = apiVersion
  prune(view, schema)
  return Object.freeze(view)
}

/** A stored object in its version: with the defaults and without the fields that the schema has gained and lost since. */
function viewOf(stored: Stored, apiVersion: string, schema: Schema | undefined): Stored {
  const view = cloneJson(stored) as JsonObject
  view['apiVersion'] = apiVersion
  prune(view, schema)
  applyDefaults(view, schema)
  return deepEqual(view, stored) ? stored : Object.freeze(view)
}

function rulesOf(facts: VersionFacts): KindRules {
  const { version, info, hasStatus } = facts
  // Where it is converted, the stored object comes in the served version already.
  const isConverted = storageOf(facts).conversion !== undefined
  const before = (stored: Stored): Stored => (isConverted ? stored : servedView(facts, stored))
  const validateUpdate = (object: Stored, stored: Stored, errors: FieldErrors): void => {
    validateObject(facts, object, before(stored), errors)
  }
  const validateStatusUpdate = (object: Stored, stored: Stored, errors: FieldErrors): void => {
    validateStatus(facts, object, before(stored), errors)
  }
  return {
    group: info.group,
    kind: info.kind,
    unconditionalUpdate: false,
    generationOf: (object) => {
      if (lostFields.has(object)) return UNLIKE_ANY_STORED
      const { metadata: _metadata, apiVersion: _apiVersion, status, ...rest } = object
      // What has come from the store holds none.
      if (holdsFloat(object, hasStatus ? NOT_COUNTED : METADATA)) return UNLIKE_ANY_STORED
      return hasStatus ? rest : { ...rest, status }
    },
    prepareForCreate(object) {
      if (facts.isTerminating()) throw refusedWhileTerminating(object, info)
      if (hasStatus) delete object['status']
    },
    // Every check tolerates what did not change, so one pass sees both states.
    updateOrder: 'update-only',
    validate: (object, errors) => validateObject(facts, object, undefined, errors),
    canonicalize: settleFloats,
    validateUpdate,
    status: { validateUpdate: validateStatusUpdate },
    subresources: { scale: { validateUpdate } },
    warnings: warningsOf,
    selectableFields: selectableFields(version),
  }
}

function refusedWhileTerminating(object: Draft, info: ResourceInfo): ApiError {
  const why = 'create not allowed while custom resource definition is terminating'
  return forbidden(info, object['metadata']?.name ?? '', why)
}

function selectableFields(version: Stored): KindRules['selectableFields'] {
  const fields: readonly { readonly jsonPath: string }[] = version['selectableFields'] ?? []
  return Object.fromEntries(
    fields.map(({ jsonPath }) => [
      jsonPath.replace(/^\./, ''),
      (object: Stored) => String(valueAt(object, jsonPath) ?? ''),
    ]),
  )
}

function deprecationWarning(definition: Stored, version: Stored): string | undefined {
  if (version['deprecated'] !== true) return undefined
  if (version['deprecationWarning'] !== undefined) return version['deprecationWarning']
  const { group, versions } = definition['spec'] as { group: string; versions: readonly Stored[] }
  const { kind } = definition['status'].acceptedNames
  const newer = versions
    .filter(({ served, deprecated }) => served === true && deprecated !== true)
    .map(({ name }) => name as string)
    .filter((name) => compareVersions(name, version['name']) < 0)
    .toSorted(compareVersions)[0]
  const text = `${group}/${version['name']} ${kind} is deprecated`
  return newer === undefined ? text : `${text}; use ${group}/${newer} ${kind}`
}
