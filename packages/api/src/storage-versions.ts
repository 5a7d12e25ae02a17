/** What follows from the versions in which API servers write a resource. Contract: docs/behaviour/controllers/storageversion-gc-and-migrator.md, Status and conditions. */
import { setCondition } from './conditions.ts'
import type {
  ServerStorageVersion,
  StorageVersionCondition,
  StorageVersionStatus,
} from './generated/types.ts'

const ALL_EQUAL = 'AllEncodingVersionsEqual'

/** The status with these entries, and what follows from them. `nowText` is a time as objects have it; `generation`: of the object. */
export function withStorageVersions(
  status: StorageVersionStatus,
  entries: readonly ServerStorageVersion[],
  nowText: string,
  generation?: number,
): StorageVersionStatus {
  const { commonEncodingVersion: previous, conditions, ...rest } = status
  const common = commonEncodingVersion(entries)
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
    ...rest,
    storageVersions: entries,
    ...(common === undefined ? {} : { commonEncodingVersion: common }),
    conditions: setCondition(known, condition, nowText),
  }
}

/** Undefined: servers do not agree, or there is none. */
export function commonEncodingVersion(
  entries: readonly Partial<ServerStorageVersion>[],
): string | undefined {
  const [first, ...others] = new Set(entries.map(({ encodingVersion = '' }) => encodingVersion))
  return others.length === 0 ? first : undefined
}
