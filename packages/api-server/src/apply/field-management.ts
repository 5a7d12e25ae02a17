/** Field ownership as the request pipeline calls it: finds the type of the object and the reset fields of the endpoint. */
import type { ApplyCall, FieldManagement, FieldManagementCall } from '../handlers/field-management.ts'
import { conversionFor } from '../registry/conversion.ts'
import type { Draft, Stored } from '../registry/kind-rules.ts'
import type { ServedResource } from '../registry/resource-registry.ts'
import { applyPatch } from './apply.ts'
import { builtInKind } from './built-in-kind.ts'
import type { FieldFilter } from './compare.ts'
import { mergeTypeOfKind } from './merge-type.ts'
import { resetFields, resetFieldsOfCustomResource } from './reset-fields.ts'
import { updateManagedFields } from './update.ts'
import type { OtherVersion, TypedKind } from './update.ts'

/** What the definition of a custom resource must offer. */
export interface OwnershipSource {
  readonly ownership: TypedKind
}

/** Stateless: what it knows of kinds is shared by all servers of the process. */
export const fieldManagement: FieldManagement = {
  update(call) {
    // A write through scale may come as the parent with its replicas changed: then the parent's fields are owned.
    const view = call.draft['kind'] === call.resource.info.kind ? '' : call.subresource
    const body = bodyTypeOf(call.resource, view)
    const kind = typedKindOf(call.resource, view)
    if (kind === undefined) return
    updateManagedFields({
      kind,
      live: call.before,
      updated: call.draft,
      manager: call.manager,
      apiVersion: body.apiVersion,
      subresource: call.subresource,
      filter: filterOf(call),
      nowMs: call.nowMs,
      emptyListResets: call.emptyListResets,
    })
  },
  apply(call) {
    const body = bodyTypeOf(call.resource, call.subresource)
    const kind = typedKindOf(call.resource, call.subresource)
    if (kind === undefined) throw new Error(`no schema for ${body.apiVersion} ${body.kind}`)
    const { object } = applyPatch({
      kind,
      live: call.current,
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
  },
}

interface BodyType {
  readonly apiVersion: string
  readonly kind: string
}

/** The type of the bodies of an endpoint: of the resource itself, or of a subresource such as scale or token. */
function bodyTypeOf({ info }: ServedResource, subresource: string): BodyType {
  const own = subresource === '' ? undefined : info.subresources.find(({ name }) => name === subresource)
  const { group, version, kind } = own ?? info
  return { apiVersion: group === '' ? version : `${group}/${version}`, kind }
}

function typedKindOf(resource: ServedResource, subresource: string): TypedKind | undefined {
  const { apiVersion, kind } = bodyTypeOf(resource, subresource)
  const own = kind === resource.info.kind
  if (own && resource.custom) return (resource.definition as OwnershipSource | undefined)?.ownership
  const typed = builtInKind(apiVersion, kind)
  return typed === undefined || !own ? typed : withVersions(typed, resource, apiVersion)
}

const versioned = new Map<string, TypedKind>()

/** The few built-in kinds whose versions have different fields. */
function withVersions(typed: TypedKind, resource: ServedResource, apiVersion: string): TypedKind {
  if (!VERSIONED.has(resource.storage.collection)) return typed
  let kind = versioned.get(apiVersion)
  if (kind === undefined) {
    kind = { ...typed, inVersion: (other) => otherVersion(resource, other) }
    versioned.set(apiVersion, kind)
  }
  return kind
}

/** Collection -> the versions that its objects are served in. */
const VERSIONED: ReadonlyMap<string, readonly string[]> = new Map([
  ['horizontalpodautoscalers.autoscaling', ['autoscaling/v1', 'autoscaling/v2']],
  ['events', ['v1', 'events.k8s.io/v1']],
])

function otherVersion({ info, storage }: ServedResource, apiVersion: string): OtherVersion | undefined {
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
