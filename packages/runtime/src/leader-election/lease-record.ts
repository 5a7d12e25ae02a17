/** Contract: docs/behaviour/runtime/leader-election.md, Lease object. */
import type { Lease } from '@gyropilot/api'

type LeaseSpec = NonNullable<Lease['spec']>

/** What a Lease says about leadership. Missing fields read as empty or 0. Times are RFC 3339 with microseconds. */
export interface LeaseRecord {
  readonly holderIdentity: string
  readonly leaseDurationSeconds: number
  readonly acquireTime: string
  readonly renewTime: string
  readonly leaderTransitions: number
  readonly strategy: string
  readonly preferredHolder: string
}

export function recordOf(spec: LeaseSpec | undefined): LeaseRecord {
  return {
    holderIdentity: spec?.holderIdentity ?? '',
    leaseDurationSeconds: spec?.leaseDurationSeconds ?? 0,
    acquireTime: spec?.acquireTime ?? '',
    renewTime: spec?.renewTime ?? '',
    leaderTransitions: spec?.leaseTransitions ?? 0,
    strategy: spec?.strategy ?? '',
    preferredHolder: spec?.preferredHolder ?? '',
  }
}

/** Empty texts are left out but for the holder: `""` says that the lease is free. */
export function specOf(record: LeaseRecord): LeaseSpec {
  return {
    holderIdentity: record.holderIdentity,
    leaseDurationSeconds: record.leaseDurationSeconds,
    ...(record.acquireTime ? { acquireTime: record.acquireTime } : {}),
    ...(record.renewTime ? { renewTime: record.renewTime } : {}),
    leaseTransitions: record.leaderTransitions,
    ...(record.strategy ? { strategy: record.strategy } : {}),
    ...(record.preferredHolder ? { preferredHolder: record.preferredHolder } : {}),
  }
}

/** Two reads are the same state when these texts are equal. Metadata does not count. */
export function fingerprintOf(record: LeaseRecord): string {
  return JSON.stringify(record)
}
