/** Contract: docs/behaviour/runtime/custom-controllers.md, Server-side apply. */
import type { KubernetesObject, ResourceType } from '@gyropilot/api'
import { apiVersionOf, deepEqual } from '@gyropilot/api'
import type { Client } from '@gyropilot/client'
import { parseExact } from '@gyropilot/foundation/exact-json'
import { controllerErrors } from '../builder/errors.ts'

/** Of server-side apply (KEP-555). */
export interface ApplyOptions {
  /** Who owns the fields that the object has. */
  readonly fieldOwner: string
  /** Take over fields of other owners instead of failing with a conflict. */
  readonly force?: boolean
  /** `status`: its fields are owned apart from the others. */
  readonly subresource?: string
  readonly signal?: AbortSignal
}

/** Any part of an object: what is absent is not ours, which is not the same as 0, `''` or `false`. */
type Partially<T> = T extends readonly unknown[]
  ? T
  : T extends object
    ? { readonly [Field in keyof T]?: Partially<T[Field]> }
    : T

/** What one owner has to say about an object. */
export type ApplyConfiguration<T extends KubernetesObject> = Partially<T>

/**
 * Server-side apply: the fields of `object` become the owner's and have these values; what it left out since the last time
 * is removed unless somebody else owns it. Fields that are `undefined` are left out. A resourceVersion makes it conditional.
 * Throws APPLY_INVALID without a name.
 */
export function applyObject<T extends KubernetesObject>(
  client: Client,
  type: ResourceType<T>,
  object: NoInfer<T | ApplyConfiguration<T>>,
  { fieldOwner, ...options }: ApplyOptions,
): Promise<T> {
  if (fieldOwner === '') {
    throw controllerErrors.make('APPLY_INVALID', 'apply needs a field owner')
  }
  const { name, namespace, managedFields } = (object as KubernetesObject).metadata ?? {}
  if (!name) throw controllerErrors.make('APPLY_INVALID', 'apply needs metadata.name')
  if (managedFields !== undefined) {
    throw controllerErrors.make('APPLY_INVALID', 'metadata.managedFields must be nil')
  }
  const whole = { ...object, apiVersion: apiVersionOf(type), kind: type.kind } as unknown as T
  return client
    .resource(type, namespace)
    .apply(name, whole, { ...options, fieldManager: fieldOwner })
}

/**
 * From an object that was read, what one owner applied: to be changed and applied again. Caches drop managedFields, so read
 * the object with the live client. An owner that applied nothing gets name and namespace alone.
 */
export function extractApplied<T extends KubernetesObject>(
  object: T,
  type: ResourceType<T>,
  fieldOwner: string,
  subresource = '',
): ApplyConfiguration<T> {
  const entry = object.metadata?.managedFields?.find(
    ({ manager, operation, subresource: of = '' }) =>
      manager === fieldOwner && operation === 'Apply' && of === subresource,
  )
  const owned = entry === undefined ? {} : (ownedPart(object, entry.fieldsV1 as FieldSet) ?? {})
  const { name, namespace } = object.metadata ?? {}
  const { metadata, ...rest } = owned as { metadata?: object }
  return {
    apiVersion: apiVersionOf(type),
    kind: type.kind,
    ...rest,
    metadata: { ...metadata, name, ...(namespace === undefined ? {} : { namespace }) },
  } as unknown as ApplyConfiguration<T>
}

/** FieldsV1: `f:` a field, `k:` an item by its keys, `v:` an item by value, `i:` by index; `.` the thing itself. */
type FieldSet = { readonly [path: string]: FieldSet }

function ownedPart(value: unknown, set: FieldSet | undefined): unknown {
  if (set === undefined || typeof value !== 'object' || value === null) return value
  const paths = Object.keys(set).filter((path) => path !== '.')
  if (paths.length === 0) return '.' in set ? emptyLike(value) : value
  if (Array.isArray(value)) return ownedItems(value, set)
  const part: Record<string, unknown> = {}
  for (const path of paths) {
    const field = path.slice(2)
    if (!path.startsWith('f:') || !Object.hasOwn(value, field)) continue
    part[field] = ownedPart((value as Record<string, unknown>)[field], set[path])
  }
  return part
}

/** Of a map or list that has nothing but `.`, only its existence is owned. */
function emptyLike(value: object): unknown {
  return Array.isArray(value) ? [] : {}
}

/** In the order of the list. */
function ownedItems(list: readonly unknown[], set: FieldSet): unknown[] {
  const paths = Object.keys(set).filter((path) => path !== '.')
  return list.flatMap((item, index) => {
    const path = paths.find((path) => selects(path, item, index))
    if (path === undefined) return []
    if (!path.startsWith('k:')) return [ownedPart(item, set[path])]
    return [{ ...(parseExact(path.slice(2)) as object), ...(ownedPart(item, set[path]) as object) }]
  })
}

function selects(path: string, item: unknown, index: number): boolean {
  const selector = path.slice(2)
  if (path.startsWith('i:')) return index === Number(selector)
  if (path.startsWith('v:')) return deepEqual(item, parseExact(selector))
  if (!path.startsWith('k:') || typeof item !== 'object' || item === null) return false
  return Object.entries(parseExact(selector) as object).every(([key, value]) =>
    deepEqual((item as Record<string, unknown>)[key], value),
  )
}
