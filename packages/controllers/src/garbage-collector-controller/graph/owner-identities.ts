/** What dependents claim about one owner, compared with what is known of it. Pure. */
import type { OwnerReference } from '@gyropilot/api'
import type { GraphNode } from './graph-node.ts'
import { compareIdentities, identityKey, identityOfReference, sameCoordinates } from './identity.ts'
import type { ObjectIdentity } from './identity.ts'

/**
 * Dependents that refer to exactly this owner, and those that refer to its uid with anything else. One with two references
 * to the uid can be on both sides.
 */
export function partitionDependents(
  dependents: Iterable<GraphNode>,
  owner: ObjectIdentity,
): { readonly matching: readonly GraphNode[]; readonly other: readonly GraphNode[] } {
  const matching: GraphNode[] = []
  const other: GraphNode[] = []
  for (const dependent of dependents) {
    const inReach = owner.namespace === '' || owner.namespace === dependent.identity.namespace
    const references = dependent.owners.filter(({ uid }) => uid === owner.uid)
    const agrees = (reference: OwnerReference): boolean =>
      inReach && sameCoordinates(reference, owner)
    if (references.some(agrees)) matching.push(dependent)
    if (!inReach || references.some((reference) => !agrees(reference))) other.push(dependent)
  }
  return { matching, other }
}

/** Another identity that dependents give to the uid: the first after the absent one, else the first of all. */
export function alternateOwnerIdentity(
  dependents: Iterable<GraphNode>,
  absent: ObjectIdentity,
): ObjectIdentity | undefined {
  const alternatives = new Map<string, ObjectIdentity>()
  for (const { owners, identity } of dependents) {
    for (const reference of owners) {
      if (reference.uid !== absent.uid) continue
      const claimed = claimedIdentity(reference, identity.namespace, absent)
      alternatives.set(identityKey(claimed), claimed)
    }
  }
  alternatives.delete(identityKey(absent))
  const inOrder = [...alternatives.values()].toSorted(compareIdentities)
  return inOrder.find((claimed) => compareIdentities(absent, claimed) < 0) ?? inOrder[0]
}

/** If the absent identity has no namespace its kind is known to be cluster-scoped, whatever namespace the claim comes from. */
function claimedIdentity(
  reference: OwnerReference,
  namespace: string,
  absent: ObjectIdentity,
): ObjectIdentity {
  const isClusterScoped =
    absent.namespace === '' &&
    absent.apiVersion === reference.apiVersion &&
    absent.kind === reference.kind
  return identityOfReference(reference, isClusterScoped ? '' : namespace)
}
