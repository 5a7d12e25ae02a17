/** Field ownership as the request pipeline calls it: finds the type of the object and the reset fields of the endpoint. */
import type { ApplyCall, FieldManagement, FieldManagementCall } from './field-management-call.ts'
import { convertingAtNeed } from './conversions.ts'
import { unclassified } from '../http/errors.ts'
import { conversionFor } from '../registry/conversion.ts'
import type { Draft, Stored } from '@gyropilot/schema/objects'
import type { ServedResource } from '../registry/resource-registry.ts'
import {
  SCALE_API_VERSION,
  applyPatch,
  builtInKind,
  mergeTypeOfKind,
  parentEntries,
  resetFields,
  resetFieldsOfCustomResource,
  scaleEntries,
  updateManagedFields,
} from '@gyropilot/apply'
import type {
  FieldFilter,
  ManagedFieldsEntry,
  OtherVersion,
  ReplicasPath,
  TypedKind,
} from '@gyropilot/apply'

/** What the definition of a custom resource must offer. */
export interface OwnershipSource {
  readonly ownership: TypedKind
  /** Whether a version has a status subresource. */
  hasStatusIn(apiVersion: string): boolean
  /** Where the replicas stand in a version, as path elements, when it has a scale subresource. Absent: no version has one. */
  replicasPath?(apiVersion: string): readonly string[] | undefined
}

const REPLICAS_PATH = ['f:spec', 'f:replicas']

/** Stateless: what it knows of kinds is shared by all servers of the process. */
export const fieldManagement: FieldManagement = {
  update(call) {
    // A write through scale comes as the parent with its replicas changed.
    const own = call.draft['kind'] === call.resource.info.kind
    if (own && call.subresource === 'scale' && call.before !== undefined) {
      updateThroughScale(call, call.before)
      return undefined
    }
    const view = own ? '' : call.subresource
    const kind = typedKindOf(call.resource, view, call.subresource)
    if (kind === undefined) return undefined
    const convert = own ? call.resource.storage.conversion?.convert : undefined
    if (convert === undefined) {
      update(call, kind, view)
      return undefined
    }
    const { draft } = call
    const attempt = (typed: TypedKind): readonly Draft[] | undefined => {
      const tried: Draft = { ...draft, metadata: { ...draft['metadata'] } }
      update({ ...call, draft: tried }, typed, view)
      return tried['metadata'].managedFields
    }
    const { apiVersion } = bodyTypeOf(call.resource, view)
    return convertingAtNeed(kind, apiVersion, convert, attempt).then((entries) => {
      draft['metadata'] ??= {}
      if (entries === undefined) delete draft['metadata'].managedFields
      else draft['metadata'].managedFields = entries
    })
  },
  apply(call) {
    const body = bodyTypeOf(call.resource, call.subresource)
    const kind = typedKindOf(call.resource, call.subresource, call.subresource)
    if (kind === undefined) throw new Error(`no schema for ${body.apiVersion} ${body.kind}`)
    const own = body.kind === call.resource.info.kind
    const convert = own ? call.resource.storage.conversion?.convert : undefined
    if (convert === undefined) return apply(call, kind, body)
    return convertingAtNeed(kind, body.apiVersion, convert, (typed) => apply(call, typed, body))
  },
  ofScale(resource, managedFields) {
    const owners = managedFields as readonly ManagedFieldsEntry[] | undefined
    return scaleEntries(owners, replicasPathsOf(resource))
  },
}

function update(call: FieldManagementCall, kind: TypedKind, view: string): void {
  updateManagedFields({
    kind,
    live: call.before,
    updated: call.draft,
    manager: call.manager,
    apiVersion: bodyTypeOf(call.resource, view).apiVersion,
    subresource: call.subresource,
    filter: filterOf(call),
    nowMs: call.nowMs,
  })
}

function apply(call: ApplyCall, kind: TypedKind, body: BodyType): Draft {
  const live = call.parent === undefined ? call.current : withParentsOwners(call, call.parent)
  checkOwners(call, live, body)
  const { object } = applyPatch({
    kind,
    live,
    configuration: (call.configuration ?? {}) as Stored,
    manager: call.manager,
    force: call.force,
    apiVersion: body.apiVersion,
    kindName: body.kind,
    subresource: call.subresource,
    filter: filterOf(call),
    nowMs: call.nowMs,
  })
  return object
}

/**
 * Where nobody owns the replicas of a custom resource, the reference would have to find out what its Scale holds, and cannot.
 * Another kind than a Scale is refused for that. Throws 500.
 */
function checkOwners(
  { parent, resource, configuration }: ApplyCall,
  live: Stored | undefined,
  body: BodyType,
): void {
  if (parent === undefined || !resource.custom || live?.['metadata'].managedFields.length !== 0)
    return
  const { apiVersion, kind } = (configuration ?? {}) as Partial<BodyType>
  if (apiVersion !== body.apiVersion || kind !== body.kind) return
  throw unclassified(
    'failed to create manager for existing fields: failed to convert live object (/; autoscaling/v1, Kind=Scale) to proper version: request to convert CR to an invalid group/version: autoscaling/v1',
  )
}

/** Ownership is decided on the Scale: there zero replicas are an absent field, which nobody owns. */
function updateThroughScale(call: FieldManagementCall, before: Stored): void {
  const { resource, draft } = call
  const pathIn = replicasPathsOf(resource)
  const stored: readonly ManagedFieldsEntry[] | undefined = before['metadata'].managedFields
  const { apiVersion } = bodyTypeOf(resource, '')
  const onScale =
    (call.appliedFields as readonly ManagedFieldsEntry[] | undefined) ??
    entriesAfterUpdate(call, before, apiVersion, pathIn)
  const entries = parentEntries(stored, onScale, apiVersion, pathIn)
  if (entries.length === 0) delete draft['metadata'].managedFields
  else draft['metadata'].managedFields = entries
}

/** Who owns what of the Scale after a write that is no apply. */
function entriesAfterUpdate(
  { draft, manager, nowMs }: FieldManagementCall,
  before: Stored,
  apiVersion: string,
  pathIn: ReplicasPath,
): readonly ManagedFieldsEntry[] | undefined {
  const path = pathIn(apiVersion) ?? []
  const stored: readonly ManagedFieldsEntry[] | undefined = before['metadata'].managedFields
  const scaleOf = (object: Stored): Draft => {
    const replicas: unknown = path.reduce<unknown>(
      (at, element) => (at as Draft | undefined)?.[element.slice(2)],
      object,
    )
    return {
      apiVersion: SCALE_API_VERSION,
      kind: 'Scale',
      metadata: {},
      spec: replicas ? { replicas } : {},
      status: { replicas: 0 },
    }
  }
  const live = scaleOf(before)
  const updated = scaleOf(draft)
  live['metadata'].managedFields = scaleEntries(stored, pathIn)
  const kind = builtInKind(SCALE_API_VERSION, 'Scale')!
  updateManagedFields({
    kind,
    live,
    updated,
    manager,
    apiVersion: SCALE_API_VERSION,
    subresource: 'scale',
    filter: {},
    nowMs,
  })
  return updated['metadata'].managedFields
}

/** The Scale that apply merges into, with the owners of the parent's replicas. */
function withParentsOwners({ resource, current }: ApplyCall, parent: Stored): Stored {
  const managedFields = scaleEntries(parent['metadata'].managedFields, replicasPathsOf(resource))
  return { ...current, metadata: { ...current!['metadata'], managedFields } }
}

function replicasPathsOf({ definition }: ServedResource): ReplicasPath {
  const source = definition as OwnershipSource | undefined
  return (apiVersion) =>
    source?.replicasPath === undefined ? REPLICAS_PATH : source.replicasPath(apiVersion)
}

interface BodyType {
  readonly apiVersion: string
  readonly kind: string
}

/** The type of the bodies of an endpoint: of the resource itself, or of a subresource such as scale or token. */
function bodyTypeOf({ info }: ServedResource, subresource: string): BodyType {
  const own =
    subresource === '' ? undefined : info.subresources.find(({ name }) => name === subresource)
  const { group, version, kind } = own ?? info
  return { apiVersion: group === '' ? version : `${group}/${version}`, kind }
}

/**
 * Who owns something in another version loses what is sent for the fields that the endpoint resets, as if it were not reset;
 * only what comes through status is looked at in no version that has it but for its status.
 */
function customKind({ definition }: ServedResource, subresource: string): TypedKind | undefined {
  const source = definition as OwnershipSource | undefined
  if (source === undefined) return undefined
  const { ownership } = source
  return {
    ...ownership,
    inVersion(apiVersion) {
      const other = ownership.inVersion?.(apiVersion)
      const isStatus = subresource === 'status' && source.hasStatusIn(apiVersion)
      const filter = isStatus ? resetFieldsOfCustomResource('status', true) : {}
      return other && { ...other, filter }
    },
  }
}

/** `subresource`: whose body it is; `endpoint`: where it is written. */
function typedKindOf(
  resource: ServedResource,
  subresource: string,
  endpoint: string,
): TypedKind | undefined {
  const { apiVersion, kind } = bodyTypeOf(resource, subresource)
  const own = kind === resource.info.kind
  if (own && resource.custom) return customKind(resource, endpoint)
  const typed = builtInKind(apiVersion, kind)
  return typed === undefined || !own ? typed : withVersions(typed, resource)
}

const versioned = new Map<TypedKind, TypedKind>()

/** The few built-in kinds whose versions have different fields convert; all others have one form in every version. */
function withVersions(typed: TypedKind, resource: ServedResource): TypedKind {
  let kind = versioned.get(typed)
  if (kind === undefined) {
    const same = { type: typed.type, convert: unchanged, revert: unchanged }
    kind = {
      ...typed,
      inVersion: VERSIONED.has(resource.storage.collection)
        ? (other) => otherVersion(resource, other)
        : (other) => (isVersionOf(resource, other) ? same : undefined),
    }
    versioned.set(typed, kind)
  }
  return kind
}

const unchanged = (object: Stored): Stored => object

/** Versions that are served no more are known all the same, and so is the group that workloads began in. */
function isVersionOf({ info, storage }: ServedResource, apiVersion: string): boolean {
  const [version = '', group = ''] = apiVersion.split('/').toReversed()
  const isOwnGroup = group === info.group
  if (isOwnGroup && (version === info.version || apiVersion === storage.apiVersion)) return true
  return /^v[12](alpha|beta)\d$/.test(version) && [info.group, 'extensions'].includes(group)
}

/**
 * Collection -> the versions that its objects are served in. Events have two forms in two groups, and nothing leads from one group to
 * another: who writes an Event through one forgets who owned what through the other, as upstream does.
 */
const VERSIONED: ReadonlyMap<string, readonly string[]> = new Map([
  ['horizontalpodautoscalers.autoscaling', ['autoscaling/v1', 'autoscaling/v2']],
  ...['resourceclaims', 'resourceclaimtemplates', 'resourceslices'].map(
    (resource) =>
      [
        `${resource}.resource.k8s.io`,
        ['v1', 'v1beta2', 'v1beta1'].map((version) => `resource.k8s.io/${version}`),
      ] as const,
  ),
])

function otherVersion(
  { info, storage }: ServedResource,
  apiVersion: string,
): OtherVersion | undefined {
  if (!VERSIONED.get(storage.collection)?.includes(apiVersion)) return undefined
  const type = mergeTypeOfKind(apiVersion, info.kind)
  if (type === undefined) return undefined
  const slash = apiVersion.indexOf('/')
  const group = slash < 0 ? '' : apiVersion.slice(0, slash)
  const mapping = conversionFor({ ...info, group, version: apiVersion.slice(slash + 1) })
  const toStored = (object: Stored): Draft => storage.toStored?.(object as Draft) ?? { ...object }
  const ofStored = (object: Stored): Stored => storage.fromStored?.(object) ?? object
  return {
    type,
    convert: (object) => mapping?.fromStored?.(toStored(object)) ?? toStored(object),
    revert: (object) => ofStored(mapping?.toStored?.(object as Draft) ?? object),
  }
}

function filterOf({ resource, subresource }: FieldManagementCall | ApplyCall): FieldFilter {
  const { info, custom, hasStatus } = resource
  if (bodyTypeOf(resource, subresource).kind !== info.kind) return {}
  if (custom) return resetFieldsOfCustomResource(subresource, hasStatus)
  return resetFields(info.group, info.resource, subresource, hasStatus)
}
