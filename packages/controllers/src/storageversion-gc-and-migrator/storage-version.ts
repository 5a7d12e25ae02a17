/**
 * StorageVersion: which API server writes a resource in which version. Alpha.
 * Contract: docs/behaviour/controllers/storageversion-gc-and-migrator.md, Status and conditions.
 */
import { resourcesOnRequest, withStorageVersions } from '@gyropilot/api'
import type { ServerStorageVersion, StorageVersion } from '@gyropilot/api'

export const STORAGE_VERSIONS = resourcesOnRequest.storageversions

/** The object with these entries, and what follows from them. */
export function withEntries(
  object: StorageVersion,
  entries: readonly ServerStorageVersion[],
  nowText: string,
): StorageVersion {
  const { status = {}, metadata } = object
  return {
    ...object,
    status: withStorageVersions(status, entries, nowText, metadata?.generation),
  }
}
