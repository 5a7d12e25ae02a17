/**
 * Which volumes a pod would get on a node, and why it cannot have them there. Contract: docs/behaviour/simulation/scheduler.md,
 * Volumes. Pure.
 */
import {
  canVolumeHold,
  compareQuantities,
  isClaimBound,
  isVolumeFor,
  labelQueryOf,
  nodeTermMatches,
  requestedStorage,
  storageClassNameOf,
  volumeCapacity,
} from '@gyropilot/api'
import type {
  CSIStorageCapacity,
  Node,
  PersistentVolume,
  PersistentVolumeClaim,
  Pod,
  StorageClass,
} from '@gyropilot/api'
import { compareStrings } from '@gyropilot/foundation'
import type { NodeFilter } from '../filters/node-filter.ts'
import { claimsOf, classOf, isToBeChosen } from './claims.ts'
import type { VolumeListers } from './claims.ts'

export const SELECTED_NODE = 'volume.kubernetes.io/selected-node'
const NO_PROVISIONER = 'kubernetes.io/no-provisioner'

const NO_VOLUME = 'node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)'
const ELSEWHERE = "node(s) didn't match PersistentVolume's node affinity"
const NONE_TO_BIND = "node(s) didn't find available persistent volumes to bind"
const NO_ROOM = 'node(s) did not have enough free storage'

export interface VolumePlan {
  /** Volumes that are there, and who gets them. */
  readonly bindings: readonly {
    readonly claim: PersistentVolumeClaim
    readonly volume: PersistentVolume
  }[]
  /** Claims whose volume is to be made. */
  readonly provisions: readonly PersistentVolumeClaim[]
}

/** The claims of one pod, sorted by what has to be done for them. */
interface PodVolumes {
  readonly bound: readonly PersistentVolumeClaim[]
  readonly toChoose: readonly PersistentVolumeClaim[]
}

export function podVolumes(pod: Pod, listers: VolumeListers): PodVolumes {
  const claims = claimsOf(pod, listers).flatMap(({ claim }) => claim ?? [])
  return {
    bound: claims.filter(isClaimBound),
    toChoose: claims
      .filter((claim) => isToBeChosen(claim, listers))
      // The small ones first, so that they do not take what the large ones need.
      .toSorted((a, b) => compareQuantities(requestedStorage(a), requestedStorage(b))),
  }
}

/** Undefined: claims have no say in where the pod goes. */
export function volumeBindingFilter(pod: Pod, listers: VolumeListers): NodeFilter | undefined {
  const volumes = podVolumes(pod, listers)
  if (volumes.bound.length === 0 && volumes.toChoose.length === 0) return undefined
  return ({ node }) => planFor(volumes, node!, listers).reasons
}

const EMPTY: VolumePlan = { bindings: [], provisions: [] }

/** The plan is of use only when there are no reasons against it. */
export function planFor(
  { bound, toChoose }: PodVolumes,
  node: Node,
  listers: VolumeListers,
): { readonly reasons: readonly string[]; readonly plan: VolumePlan } {
  const volumes = bound.map(({ spec }) => listers.volumes.get(undefined, spec?.volumeName ?? ''))
  if (volumes.includes(undefined)) return { reasons: [NO_VOLUME], plan: EMPTY }
  const reasons: string[] = []
  if (!volumes.every((volume) => volume === undefined || isReachable(volume, node)))
    reasons.push(ELSEWHERE)
  const { plan, isBindable, hasRoom } = choose(toChoose, node, listers)
  if (!isBindable) reasons.push(NONE_TO_BIND)
  if (!hasRoom) reasons.push(NO_ROOM)
  return { reasons, plan }
}

interface Choice {
  readonly plan: VolumePlan
  readonly isBindable: boolean
  readonly hasRoom: boolean
}

function choose(
  claims: readonly PersistentVolumeClaim[],
  node: Node,
  listers: VolumeListers,
): Choice {
  const bindings: { claim: PersistentVolumeClaim; volume: PersistentVolume }[] = []
  const provisions: PersistentVolumeClaim[] = []
  let isBindable = true
  let hasRoom = true
  for (const claim of claims) {
    const selected = claim.metadata?.annotations?.[SELECTED_NODE]
    const taken = bindings.map(({ volume }) => volume)
    // Once a node was chosen for it, a volume is made there.
    const volume = selected === undefined ? findVolume(claim, node, taken, listers) : undefined
    if (volume !== undefined) {
      bindings.push({ claim, volume })
      continue
    }
    const isElsewhere = selected !== undefined && selected !== node.metadata?.name
    const storageClass = classOf(claim, listers)
    if (isElsewhere || !canProvision(storageClass, node)) isBindable = false
    else if (!isRoomFor(claim, storageClass!, node, listers)) hasRoom = false
    else provisions.push(claim)
  }
  return { plan: { bindings, provisions }, isBindable, hasRoom }
}

/** The smallest that fits; one that is kept for the claim before all others. */
function findVolume(
  claim: PersistentVolumeClaim,
  node: Node,
  taken: readonly PersistentVolume[],
  listers: VolumeListers,
): PersistentVolume | undefined {
  const { selector, accessModes = [] } = claim.spec ?? {}
  const query = selector === undefined ? undefined : labelQueryOf(selector)
  let best: PersistentVolume | undefined
  for (const volume of listers.volumesOfClass(storageClassNameOf(claim))) {
    if (taken.includes(volume) || !canVolumeHold(volume, claim)) continue
    const offered = volume.spec?.accessModes ?? []
    if (!accessModes.every((mode) => offered.includes(mode))) continue
    const isKept = volume.spec?.claimRef !== undefined
    if (isKept && !isVolumeFor(volume, claim)) continue
    if (!isReachable(volume, node)) continue
    if (isKept) return volume
    if (volume.status?.phase !== 'Available') continue
    if (query !== undefined && !query.matches(volume.metadata?.labels ?? {})) continue
    if (best === undefined || isBefore(volume, best)) best = volume
  }
  return best
}

function isBefore(a: PersistentVolume, b: PersistentVolume): boolean {
  const bySize = compareQuantities(volumeCapacity(a), volumeCapacity(b))
  return (bySize || compareStrings(a.metadata?.name ?? '', b.metadata?.name ?? '')) < 0
}

export function isReachable({ spec }: PersistentVolume, node: Node): boolean {
  const terms = spec?.nodeAffinity?.required?.nodeSelectorTerms
  return terms === undefined || terms.some((term) => nodeTermMatches(term, node))
}

function canProvision(storageClass: StorageClass | undefined, { metadata }: Node): boolean {
  const { provisioner = '', allowedTopologies = [] } = storageClass ?? {}
  if (provisioner === '' || provisioner === NO_PROVISIONER) return false
  if (allowedTopologies.length === 0) return true
  return allowedTopologies.some(({ matchLabelExpressions = [] }) =>
    matchLabelExpressions.every(({ key, values }) =>
      values.includes(metadata?.labels?.[key] ?? ''),
    ),
  )
}

/** Drivers that tell how much room they have are asked. */
function isRoomFor(
  claim: PersistentVolumeClaim,
  { metadata, provisioner }: StorageClass,
  node: Node,
  { drivers, capacitiesOf }: VolumeListers,
): boolean {
  if (drivers.get(undefined, provisioner)?.spec?.storageCapacity !== true) return true
  return capacitiesOf(metadata?.name ?? '').some(
    (capacity) => isLargeEnough(capacity, claim) && covers(capacity, node),
  )
}

function isLargeEnough(
  { maximumVolumeSize, capacity }: CSIStorageCapacity,
  claim: PersistentVolumeClaim,
): boolean {
  const largest = maximumVolumeSize ?? capacity
  return largest !== undefined && compareQuantities(largest, requestedStorage(claim)) >= 0
}

/** No topology: it is reached from nowhere. An empty one: from everywhere. */
function covers({ nodeTopology }: CSIStorageCapacity, { metadata }: Node): boolean {
  return nodeTopology !== undefined && labelQueryOf(nodeTopology).matches(metadata?.labels ?? {})
}
