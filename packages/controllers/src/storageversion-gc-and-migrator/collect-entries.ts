/**
 * Takes the entries of API servers that are gone out of StorageVersions. Caches only say where to look: what is written
 * rests on live reads. Step numbers are those of docs/behaviour/controllers/storageversion-gc-and-migrator.md, SV-GC.
 */
import { resources } from '@gyropilot/api'
import type { Lease, ServerStorageVersion, StorageVersion } from '@gyropilot/api'
import { isNotFound } from '@gyropilot/client'
import { aggregateErrors, formatTime } from '@gyropilot/foundation'
import { currentTimeMs, getLive, listLive, remove, updateStatus, write } from '@gyropilot/runtime'
import type { Reconcile } from '@gyropilot/runtime'
import { IDENTITY_LABEL, IDENTITY_VALUE, LEASE_NAMESPACE } from './config.ts'
import { STORAGE_VERSIONS, withEntries } from './storage-version.ts'

export function isIdentityLease({ metadata }: Lease): boolean {
  return (
    metadata?.namespace === LEASE_NAMESPACE && metadata.labels?.[IDENTITY_LABEL] === IDENTITY_VALUE
  )
}

export const entriesOf = ({ status }: StorageVersion): readonly ServerStorageVersion[] =>
  status?.storageVersions ?? []

/** An API server whose Lease was deleted. */
export function* collectServer(leaseName: string): Reconcile {
  // 1. A server that came back under its name has a new Lease.
  const lease = yield* getLive(resources.leases, LEASE_NAMESPACE, leaseName)
  if (lease.ok) return
  if (!isNotFound(lease.error)) return { error: lease.error }
  // 2.
  const listed = yield* listLive(STORAGE_VERSIONS)
  if (!listed.ok) return { error: listed.error }
  const errors: unknown[] = []
  for (const object of listed.object.items) {
    const entries = entriesOf(object)
    const left = entries.filter(({ apiServerID }) => apiServerID !== leaseName)
    if (left.length === entries.length) continue
    const failure = yield* writeEntries(object, left)
    if (failure !== undefined) errors.push(failure)
  }
  return errors.length === 0 ? undefined : { error: aggregateErrors(errors) }
}

/** A StorageVersion that names an API server of which the cache knows no Lease. */
export function* collectEntries(name: string): Reconcile {
  // 1.
  const found = yield* getLive(STORAGE_VERSIONS, undefined, name)
  if (!found.ok) return isNotFound(found.error) ? undefined : { error: found.error }
  // 2. Whatever keeps the Lease from being read makes the entry invalid.
  const entries = entriesOf(found.object)
  const valid: ServerStorageVersion[] = []
  for (const entry of entries) {
    const lease = yield* getLive(resources.leases, LEASE_NAMESPACE, entry.apiServerID ?? '')
    if (lease.ok && lease.object.metadata?.labels?.[IDENTITY_LABEL] === IDENTITY_VALUE)
      valid.push(entry)
  }
  if (valid.length === entries.length) return
  // 3.
  const failure = yield* writeEntries(found.object, valid)
  return failure === undefined ? undefined : { error: failure }
}

/** Answers the error. */
function* writeEntries(
  object: StorageVersion,
  entries: readonly ServerStorageVersion[],
): Reconcile<unknown> {
  const outcome =
    entries.length === 0
      ? yield* write(remove(STORAGE_VERSIONS, object))
      : yield* write(
          updateStatus(
            STORAGE_VERSIONS,
            withEntries(object, entries, formatTime(yield* currentTimeMs())),
          ),
        )
  return outcome.ok ? undefined : outcome.error
}
