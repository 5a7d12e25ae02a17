import type { Draft, Stored } from '@gyropilot/schema/objects'
import type { ServedResource } from '../registry/resource-registry.ts'

/** A write whose ownership of fields is to be recorded in `draft.metadata.managedFields`. */
export interface FieldManagementCall {
  readonly resource: ServedResource
  readonly subresource: string
  /** The stored object in the served version; undefined for a create. */
  readonly before: Stored | undefined
  /** Edited in place. */
  readonly draft: Draft
  readonly manager: string
  readonly nowMs: number
  /** The managedFields that apply left on the subresource's view of the object. */
  readonly appliedFields?: readonly Draft[]
  warn(message: string): void
}

export interface ApplyCall {
  readonly resource: ServedResource
  readonly subresource: string
  readonly namespace: string
  readonly name: string
  /** In the served version; undefined when the object does not exist. */
  readonly current: Stored | undefined
  /** The stored object, where `current` is only a view of it: the view has its owners. */
  readonly parent?: Stored
  /** The applied configuration as sent. */
  readonly configuration: unknown
  readonly manager: string
  readonly force: boolean
  readonly nowMs: number
  warn(message: string): void
}

/** The book-keeping of who owns which field. Contract: docs/behaviour/api-server/patch-and-apply.md. */
export interface FieldManagement {
  /** A promise where a webhook converts. */
  update(call: FieldManagementCall): void | Promise<void>
  /** The merged object with its managedFields; throws ApiError for conflicts and schema errors. A promise where a webhook converts. */
  apply(call: ApplyCall): Draft | Promise<Draft>
  /** Who owns what of the Scale of an object whose owners these are. */
  ofScale(resource: ServedResource, managedFields: readonly Draft[] | undefined): readonly Draft[]
}
