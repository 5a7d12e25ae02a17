/**
 * Ownership of fields and server-side apply. The request pipeline calls `updateManagedFields` for every create, update
 * and other patch after defaulting and before admission, `applyPatch` for apply, and `keepTimesOfNoop` last of all.
 * Contract: docs/behaviour/api-server/patch-and-apply.md.
 */
export { applyPatch } from './apply.ts'
export type { ApplyRequest, ApplyResult } from './apply.ts'
export type { FieldFilter } from './compare.ts'
export { builtInKind } from './built-in-kind.ts'
export { keepTimesOfNoop, managerName } from './managers.ts'
export type { ManagedFieldsEntry } from './managers.ts'
export { merge } from './merge.ts'
export {
  UNTYPED_GRANULAR,
  UNTYPED_SCALAR,
  mapType,
  mergeTypeOfKind,
  metadataMergeType,
} from './merge-type.ts'
export type { MapField, MergeType } from './merge-type.ts'
export { PatchObjectError, patchObject } from './patch-object.ts'
export { resetFields, resetFieldsOfCustomResource } from './reset-fields.ts'
export { SCALE_API_VERSION, parentEntries, scaleEntries } from './scale-view.ts'
export type { ReplicasPath } from './scale-view.ts'
export { updateManagedFields } from './update.ts'
export type { OtherVersion, TypedKind, UpdateRequest } from './update.ts'
