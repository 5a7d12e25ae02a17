import type { Draft, Stored } from '@gyropilot/schema/objects'

/** How objects of a served version are kept: several versions of a kind share one collection. */
export interface StorageMapping {
  /** `deployments.apps` */
  readonly collection: string
  /** `apps/v1`: the form in the store. */
  readonly apiVersion: string
  /** From the served version to the stored form. The draft may be edited and returned. */
  toStored?(draft: Draft): Draft
  /** The view of a stored object in the served version. Builds a new object. */
  fromStored?(stored: Stored): Stored
  /** Versions between which a webhook converts; then there is no `toStored`, and rules see the served form. */
  readonly conversion?: StorageConversion
}

export interface StorageConversion {
  /** Makes the views that `fromStored` gives, with one call for all that are not known yet; `anew`: for all. Throws ApiError. */
  prepare(objects: readonly Stored[], anew?: boolean): Promise<void>
  /** From the served version to the stored form, as an object of its own. Throws ApiError. */
  encode(draft: Draft): Promise<Draft>
  /** Whether the object could be stored again. Throws ApiError when it could not. */
  checkStorable(stored: Stored): Promise<void>
  /** Any object of the kind in another of its versions. Throws ApiError. Absent: only their names differ. */
  convert?(object: Stored, apiVersion: string): Promise<Draft>
}
