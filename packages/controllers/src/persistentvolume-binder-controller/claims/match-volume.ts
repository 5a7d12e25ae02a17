/**
 * Which volume fits a claim.
 * Contract: docs/behaviour/controllers/persistentvolume-binder-controller.md, Sync, Search.
 */
import {
  compareQuantities,
  haveSameAttributesClass,
  haveSameVolumeMode,
  isTerminating,
  isVolumeFor,
  isVolumeLargeEnough,
  requestedStorage,
  storageClassNameOf,
  volumeCapacity,
} from '@gyropilot/api'
import type { PersistentVolume, PersistentVolumeClaim } from '@gyropilot/api'
import { compareStrings } from '@gyropilot/foundation'
import type { IndexFunction } from '@gyropilot/runtime'
import { selectorQuery } from '../../workload-support/label-selector.ts'

type AccessMode = NonNullable<NonNullable<PersistentVolume['spec']>['accessModes']>[number]

/** In the order of a group's name. */
const ACCESS_MODES: readonly AccessMode[] = [
  'ReadOnlyMany',
  'ReadWriteMany',
  'ReadWriteOnce',
  'ReadWriteOncePod',
]

export const ACCESS_MODE_INDEX = 'accessModes'

/** Each volume is in the one group of its access modes. */
export const accessModeGroup: IndexFunction<PersistentVolume> = ({ spec }) => [
  groupName(spec?.accessModes ?? []),
]

function groupName(modes: readonly AccessMode[]): string {
  return ACCESS_MODES.filter((mode) => modes.includes(mode)).join(',')
}

/** Groups that hold all requested modes, those with fewest modes first. */
function accessModeGroups(requested: readonly AccessMode[]): readonly string[] {
  const subsets = Array.from({ length: 2 ** ACCESS_MODES.length }, (_, bits) =>
    ACCESS_MODES.filter((_, index) => (bits & (1 << index)) !== 0),
  )
  return subsets
    .filter((modes) => requested.every((mode) => modes.includes(mode)))
    .sort((a, b) => a.length - b.length || compareStrings(groupName(a), groupName(b)))
    .map(groupName)
}

/** The first group with a result wins. */
export function findVolume(
  claim: PersistentVolumeClaim,
  delayed: boolean,
  volumesOfGroup: (group: string) => readonly PersistentVolume[],
): PersistentVolume | undefined {
  const compare = rememberingComparison()
  for (const group of accessModeGroups(claim.spec?.accessModes ?? [])) {
    const found = findInGroup(claim, delayed, volumesOfGroup(group), compare)
    if (found !== undefined) return found
  }
  return undefined
}

/** Many volumes have few sizes: each pair of them is read and compared once. */
function rememberingComparison(): typeof compareQuantities {
  const known = new Map<string, number>()
  return (a, b) => {
    if (a === b) return 0
    const pair = `${a} ${b}`
    let result = known.get(pair)
    if (result === undefined) known.set(pair, (result = compareQuantities(a, b)))
    return result
  }
}

function findInGroup(
  claim: PersistentVolumeClaim,
  delayed: boolean,
  volumes: readonly PersistentVolume[],
  compare: typeof compareQuantities,
): PersistentVolume | undefined {
  const className = storageClassNameOf(claim)
  const requested = requestedStorage(claim)
  const canHold = (volume: PersistentVolume): boolean =>
    !isTerminating(volume) &&
    compare(volumeCapacity(volume), requested) >= 0 &&
    haveSameVolumeMode(volume, claim) &&
    haveSameAttributesClass(volume, claim)
  const { selector } = claim.spec ?? {}
  // An absent selector takes every volume; as a query it would take none.
  const selects = (volume: PersistentVolume): boolean =>
    selector === undefined || selectorQuery(selector).matches(volume.metadata?.labels)
  let best: PersistentVolume | undefined
  for (const volume of volumes) {
    const isReserved = volume.spec?.claimRef !== undefined
    if (isReserved && !isVolumeFor(volume, claim)) continue
    if (!canHold(volume)) continue
    if (isReserved) return volume
    if (delayed || volume.status?.phase !== 'Available') continue
    if (storageClassNameOf(volume) !== className || !selects(volume)) continue
    if (best === undefined || isBetter(volume, best, compare)) best = volume
  }
  return best
}

/** The smaller one; the order of a cache means nothing, so ties go by name. */
function isBetter(
  volume: PersistentVolume,
  best: PersistentVolume,
  compare: typeof compareQuantities,
): boolean {
  const bySize = compare(volumeCapacity(volume), volumeCapacity(best))
  if (bySize !== 0) return bySize < 0
  return compareStrings(volume.metadata?.name ?? '', best.metadata?.name ?? '') < 0
}

/** Why a claim cannot have the free volume that it names; undefined: it can. */
export function mismatchOf(
  volume: PersistentVolume,
  claim: PersistentVolumeClaim,
): string | undefined {
  if (isTerminating(volume)) return `the volume is marked for deletion "${volume.metadata?.name}"`
  if (!isVolumeLargeEnough(volume, claim)) return 'requested PV is too small'
  if (storageClassNameOf(volume) !== storageClassNameOf(claim))
    return 'storageClassName does not match'
  if (!haveSameAttributesClass(volume, claim)) return 'volumeAttributesClassName does not match'
  if (!haveSameVolumeMode(volume, claim)) return 'incompatible volumeMode'
  const offered = volume.spec?.accessModes ?? []
  const asked = claim.spec?.accessModes ?? []
  return asked.every((mode) => offered.includes(mode)) ? undefined : 'incompatible accessMode'
}
