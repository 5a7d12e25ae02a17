/**
 * StorageVersion: which API server writes a resource in which version. Alpha, and not among the generated types.
 * Contract: docs/behaviour/controllers/storageversion-gc-and-migrator.md, Status and conditions.
 */
import { setCondition } from '@gyropilot/api'
import type { KubernetesObject, ResourceType, StatusCondition } from '@gyropilot/api'

export interface ServerStorageVersion {
  readonly apiServerID?: string
  readonly encodingVersion?: string
  readonly decodableVersions?: readonly string[]
  readonly servedVersions?: readonly string[]
}

interface StorageVersionCondition extends StatusCondition {
  readonly observedGeneration?: number
}

export interface StorageVersion extends KubernetesObject {
  readonly spec?: object
  readonly status?: {
    readonly storageVersions?: readonly ServerStorageVersion[]
    readonly commonEncodingVersion?: string
    readonly conditions?: readonly StorageVersionCondition[]
  }
}

export const STORAGE_VERSIONS: ResourceType<StorageVersion> = {
  group: 'internal.apiserver.k8s.io',
  version: 'v1alpha1',
  resource: 'storageversions',
  kind: 'StorageVersion',
  namespaced: false,
}

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
