import { compareQuantities } from '@gyropilot/api'
import type { PersistentVolume, PersistentVolumeClaim, Quantity } from '@gyropilot/api'

export function requestedSize(claim: PersistentVolumeClaim): Quantity {
  return claim.spec?.resources?.requests?.['storage'] ?? '0'
}

/** What the claim has now. */
export function claimSize(claim: PersistentVolumeClaim): Quantity {
  return claim.status?.capacity?.['storage'] ?? '0'
}

export function volumeSize(volume: PersistentVolume): Quantity {
  return volume.spec?.capacity?.['storage'] ?? '0'
}

/** By value: 1Gi is not more than 1024Mi. */
export function isMore(one: Quantity, other: Quantity): boolean {
  return compareQuantities(one, other) > 0
}
