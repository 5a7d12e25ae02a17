/**
 * Ownership of `.spec.replicas` seen through the scale subresource, whose objects are of kind Scale in autoscaling/v1.
 * Contract: docs/behaviour/api-server/patch-and-apply.md, Scale.
 */
import { difference, hasPath, isEmpty, setOf } from './field-set.ts'
import { entriesOf, identityOf, ownersOfStored, withFields } from './managers.ts'
import type { ManagedFieldsEntry, Owner, Owners } from './managers.ts'

export const SCALE_API_VERSION = 'autoscaling/v1'
const REPLICAS_IN_SCALE = ['f:spec', 'f:replicas']

/** Where the replicas stand in the parent, as path elements; undefined for versions that are gone. */
export type ReplicasPath = (apiVersion: string) => readonly string[] | undefined

/** The entries of the parent that own the replicas, as entries of its Scale. */
export function scaleEntries(
  parentEntries: readonly ManagedFieldsEntry[] | undefined,
  replicasPath: ReplicasPath,
): ManagedFieldsEntry[] {
  const view: Owners = new Map()
  for (const owner of ownersOfStored(parentEntries).values()) {
    const path = replicasPath(owner.apiVersion)
    if (path === undefined || !hasPath(owner.fields, path)) continue
    const { manager, operation, subresource, time } = owner
    const fields = setOf(REPLICAS_IN_SCALE)
    const seen: Owner = {
      manager,
      operation,
      subresource,
      time,
      apiVersion: SCALE_API_VERSION,
      fields,
    }
    view.set(identityOf(seen), seen)
  }
  return entriesOf(view)
}

/** The parent's entries after a write through scale left `entries` on the Scale. */
export function parentEntries(
  before: readonly ManagedFieldsEntry[] | undefined,
  entries: readonly ManagedFieldsEntry[] | undefined,
  parentApiVersion: string,
  replicasPath: ReplicasPath,
): ManagedFieldsEntry[] {
  const inScale = ownersOfStored(entries)
  const result: Owners = new Map()
  for (const [identity, owner] of ownersOfStored(before)) {
    const path = replicasPath(owner.apiVersion)
    if (path === undefined) continue
    if (!hasPath(owner.fields, path)) {
      result.set(identity, owner)
      continue
    }
    const seen = identityOf({ ...owner, apiVersion: SCALE_API_VERSION })
    // Who applied stays one owner. An updater, whose apiVersion tells it from others, is not found again in that of a
    // Scale: its replicas become an entry of their own.
    const kept = owner.operation === 'Apply' ? inScale.get(seen) : undefined
    if (kept !== undefined) {
      inScale.delete(seen)
      result.set(identity, owner)
      continue
    }
    const rest = difference(owner.fields, setOf(path))
    if (!isEmpty(rest)) result.set(identity, withFields(owner, rest))
  }
  const path = replicasPath(parentApiVersion)
  // They stand before the rest of what the same owner has: of two entries with one identity the last is read.
  const split: Owners = new Map()
  for (const owner of inScale.values()) {
    if (path === undefined || !hasPath(owner.fields, REPLICAS_IN_SCALE)) continue
    const { manager, operation, subresource } = owner
    // Nothing is said of the time of what was written through a view.
    const added: Owner = {
      manager,
      operation,
      subresource,
      time: undefined,
      apiVersion: parentApiVersion,
      fields: setOf(path),
    }
    split.set(`${SCALE_API_VERSION} ${identityOf(added)}`, added)
  }
  return entriesOf(new Map([...split, ...result]))
}
