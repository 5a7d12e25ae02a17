/**
 * Gathers what the rules of an owner of replicas need from the caches.
 * Contract: docs/behaviour/controllers/replicaset-controller.md, Sync.
 */
import { keyOf } from '@gyropilot/api'
import type { Pod } from '@gyropilot/api'
import type { Expectations, Lister } from '@gyropilot/runtime'
import { POD_CONTROLLER_INDEX, ownedAndOrphaned } from '../ownership.ts'
import type { ReplicaOwner, ReplicaOwnerKind } from './replica-owner.ts'

export interface ObservedReplicas<Owner extends ReplicaOwner = ReplicaOwner> {
  readonly key: string
  readonly owner: Owner
  /** Taken before the pods were listed: what was asked for earlier has all come back. */
  readonly expectationsMet: boolean
  /** Pods with this owner's uid as controller, and the orphans of the namespace, in any phase. */
  readonly pods: readonly Pod[]
  /** The namespace is being emptied, and the sync is put off for so long: emptied-namespaces.ts. */
  readonly restMs?: number
  /** Pods that it should not share nodes with, asked for only when pods must be ranked. */
  relatedPods(): readonly Pod[]
}

interface ReplicaListers<Owner extends ReplicaOwner> {
  readonly owners: Lister<Owner>
  readonly pods: Lister<Pod>
}

export function observe<Owner extends ReplicaOwner>(
  key: string,
  kind: ReplicaOwnerKind<Owner>,
  listers: ReplicaListers<Owner>,
  expectations: Expectations,
): ObservedReplicas<Owner> | undefined {
  const owner = listers.owners.getByKey(key)
  if (owner === undefined) return undefined
  const expectationsMet = expectations.satisfied(key)
  return {
    key: keyOf(owner),
    owner,
    expectationsMet,
    pods: ownedAndOrphaned(listers.pods, POD_CONTROLLER_INDEX, owner, kind.type.kind),
    relatedPods: () => kind.relatedPods?.(owner) ?? [],
  }
}
