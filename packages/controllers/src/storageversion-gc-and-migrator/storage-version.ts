/**
 * StorageVersion: which API server writes a resource in which version. Alpha.
 * Contract: docs/behaviour/controllers/storageversion-gc-and-migrator.md, Status and conditions.
 */
import { resourcesOnRequest, setCondition } from '@gyropilot/api'
import type { ServerStorageVersion, StorageVersion, StorageVersionCondition } from '@gyropilot/api'

export const STORAGE_VERSIONS = resourcesOnRequest.storageversions

const ALL_EQUAL = 'AllEncodingVersionsEqual'

/** The object with these entries, and what follows from them. */
export function withEntries(
  object: StorageVersion,
  entries: readonly ServerStorageVersion[],
  nowText: string,
): StorageVersion {
  const { commonEncodingVersion: previous, conditions, ...rest } = object.status ?? {}
  const common = commonEncodingVersion(entries)
  const generation = object.metadata?.generation
  const condition: StorageVersionCondition = {
    type: ALL_EQUAL,
    ...(common === undefined
      ? {
          status: 'False',
          reason: 'CommonEncodingVersionUnset',
          message: 'Common encoding version unset',
        }
      : {
          status: 'True',
          reason: 'CommonEncodingVersionSet',
          message: 'Common encoding version set',
        }),
    ...(generation === undefined ? {} : { observedGeneration: generation }),
  }
  const isMoved = previous !== undefined && common !== undefined && previous !== common
  const known = isMoved
    ? conditions?.map((each) =>
        each.type === ALL_EQUAL ? { ...each, lastTransitionTime: nowText } : each,
      )
    : conditions
  return {
    ...object,
    status: {
      ...rest,
      storageVersions: entries,
      ...(common === undefined ? {} : { commonEncodingVersion: common }),
      conditions: setCondition(known, condition, nowText),
    },
  }
}

function commonEncodingVersion(entries: readonly ServerStorageVersion[]): string | undefined {
  const versions = new Set(entries.map(({ encodingVersion }) => encodingVersion))
  return versions.size === 1 ? entries[0]?.encodingVersion : undefined
}
