/**
 * What makes StorageVersions be looked at.
 * Contract: docs/behaviour/controllers/storageversion-gc-and-migrator.md, Watches and keys.
 */
import { keyOf, resources } from '@gyropilot/api'
import type { Lease, StorageVersion } from '@gyropilot/api'
import { DeletedFinalStateUnknown } from '@gyropilot/runtime'
import type { Lister, Watch } from '@gyropilot/runtime'
import { entriesOf, isIdentityLease } from './collect-entries.ts'
import { LEASE_NAMESPACE } from './config.ts'
import { STORAGE_VERSIONS } from './storage-version.ts'

export const leaseWatch: Watch<Lease> = {
  type: resources.leases,
  onDelete(lease) {
    if (lease instanceof DeletedFinalStateUnknown || !isIdentityLease(lease)) return []
    return [lease.metadata?.name ?? '']
  },
}

export function storageVersionWatch(leases: Lister<Lease>): Watch<StorageVersion> {
  const isUnknown = (id: string): boolean => {
    const lease = leases.get(LEASE_NAMESPACE, id)
    return lease === undefined || !isIdentityLease(lease)
  }
  const withUnknownServer = (object: StorageVersion): readonly string[] =>
    entriesOf(object).some(({ apiServerID }) => isUnknown(apiServerID ?? '')) ? [keyOf(object)] : []
  return {
    type: STORAGE_VERSIONS,
    onAdd: withUnknownServer,
    onUpdate: (_, current) => withUnknownServer(current),
  }
}
