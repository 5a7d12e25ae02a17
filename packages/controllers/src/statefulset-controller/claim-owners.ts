/**
 * Who owns a claim: through these references the garbage collector deletes it with its pod, with the
 * set, or never.
 * Contract: docs/behaviour/controllers/statefulset-controller.md, PVC retention.
 */
import { apiVersionOf, newControllerRef, resources } from '@gyropilot/api'
import type {
  KubernetesObject,
  OwnerReference,
  PersistentVolumeClaim,
  Pod,
  ResourceType,
  StatefulSet,
} from '@gyropilot/api'
import { isInRange, ordinalOf } from './pod-identity.ts'

interface ClaimOwners {
  readonly set: StatefulSet
  /** One that is yet to be created has no uid. */
  readonly pod: Pod
}

interface Policy {
  readonly deletesWhenScaled: boolean
  readonly deletesWhenDeleted: boolean
}

/** Anything but Delete is Retain. */
function policyOf(set: StatefulSet): Policy {
  const { whenScaled, whenDeleted } = set.spec?.persistentVolumeClaimRetentionPolicy ?? {}
  return {
    deletesWhenScaled: whenScaled === 'Delete',
    deletesWhenDeleted: whenDeleted === 'Delete',
  }
}

function names(reference: OwnerReference, owner: KubernetesObject, type: ResourceType): boolean {
  return (
    reference.apiVersion === apiVersionOf(type) &&
    reference.kind === type.kind &&
    reference.name === owner.metadata?.name
  )
}

/** A namesake of before: same kind and name, another uid. */
function isStale(reference: OwnerReference, owner: KubernetesObject, type: ResourceType): boolean {
  return names(reference, owner, type) && reference.uid !== (owner.metadata?.uid ?? '')
}

/** Which references a claim has and which it should have. */
function judge(claim: PersistentVolumeClaim, { set, pod }: ClaimOwners) {
  const references = claim.metadata?.ownerReferences ?? []
  const ofSet = references.filter((each) => names(each, set, resources.statefulsets))
  const ofPod = references.filter((each) => names(each, pod, resources.pods))
  const others = references.filter((each) => !ofSet.includes(each) && !ofPod.includes(each))
  return { ofSet, ofPod, others }
}

function wantedOwners({ set, pod }: ClaimOwners): { readonly set: boolean; readonly pod: boolean } {
  const { deletesWhenScaled, deletesWhenDeleted } = policyOf(set)
  const isScaledDown = !isInRange(set, ordinalOf(pod))
  const pods = deletesWhenScaled && isScaledDown
  return { set: deletesWhenDeleted && !pods, pod: pods }
}

/**
 * Somebody else controls the claim, or a namesake of set or pod does. Nobody minds where nothing is
 * to be deleted.
 */
export function hasConflictingController(
  claim: PersistentVolumeClaim,
  owners: ClaimOwners,
): boolean {
  const { deletesWhenScaled, deletesWhenDeleted } = policyOf(owners.set)
  if (!deletesWhenScaled && !deletesWhenDeleted) return false
  const { ofSet, ofPod, others } = judge(claim, owners)
  return (
    ofSet.some((each) => isStale(each, owners.set, resources.statefulsets)) ||
    ofPod.some((each) => isStale(each, owners.pod, resources.pods)) ||
    others.some(({ controller }) => controller === true)
  )
}

/** A claim that was left by an earlier pod of this name, and is about to go. */
export function waitsForEarlierPod(claim: PersistentVolumeClaim, pod: Pod): boolean {
  const references = claim.metadata?.ownerReferences ?? []
  return references.some((each) => isStale(each, pod, resources.pods))
}

/** Whether claims of pods that are scaled away go, so that one may be about to. */
export function deletesWhenScaled(set: StatefulSet): boolean {
  return policyOf(set).deletesWhenScaled
}

/** Whether nothing is to be written: the references are right, or the claim is not ours to change. */
export function ownersAreRight(claim: PersistentVolumeClaim, owners: ClaimOwners): boolean {
  const { ofSet, ofPod } = judge(claim, owners)
  if (
    ofSet.some((each) => isStale(each, owners.set, resources.statefulsets)) ||
    ofPod.some((each) => isStale(each, owners.pod, resources.pods))
  )
    return true
  const own = [...ofSet, ...ofPod]
  if (hasConflictingController(claim, owners)) return own.length === 0
  if (own.some(({ controller }) => controller !== true)) return false
  const wanted = wantedOwners(owners)
  return wanted.set === ofSet.length > 0 && wanted.pod === ofPod.length > 0
}

/** The claim with the references it should have; those of others stay. */
export function withRightOwners(
  claim: PersistentVolumeClaim,
  owners: ClaimOwners,
): PersistentVolumeClaim {
  const { others } = judge(claim, owners)
  const ownerReferences = [...others]
  if (!hasConflictingController(claim, owners)) {
    const wanted = wantedOwners(owners)
    if (wanted.set) ownerReferences.push(newControllerRef(owners.set, resources.statefulsets))
    if (wanted.pod) ownerReferences.push(newControllerRef(owners.pod, resources.pods))
  }
  return { ...claim, metadata: { ...claim.metadata, ownerReferences } }
}
