/**
 * Which claims an event concerns. They wait in `batches`; the queue holds namespaces.
 * Contract: docs/behaviour/controllers/persistentvolumeclaim-protection-controller.md, Watches and keys.
 */
import { findCondition, resources, splitKey } from '@gyropilot/api'
import type { PersistentVolumeClaim, Pod } from '@gyropilot/api'
import { DeletedFinalStateUnknown } from '@gyropilot/runtime'
import type { Watch } from '@gyropilot/runtime'
import { concernsProtection } from '../protection-support/protection.ts'
import { hasLetGo } from '../volume-support/let-go.ts'
import { claimKeysOf } from '../volume-support/pod-claims.ts'
import type { Batches } from './batches.ts'
import { FINALIZER } from './config.ts'
import { UNUSED } from './unused-condition.ts'

interface WatchSettings {
  readonly batches: Batches
  /** Feature gate PersistentVolumeClaimUnusedSinceTime. */
  readonly tellsUnused: boolean
}

export function claimWatch({ batches, tellsUnused }: WatchSettings): Watch<PersistentVolumeClaim> {
  const keys = (claim: PersistentVolumeClaim): readonly string[] => {
    const lacksCondition =
      tellsUnused && findCondition(claim.status?.conditions, UNUSED) === undefined
    if (!concernsProtection(claim, FINALIZER) && !lacksCondition) return []
    const { namespace = '', name = '' } = claim.metadata ?? {}
    batches.add(namespace, name)
    return [namespace]
  }
  return {
    type: resources.persistentvolumeclaims,
    onAdd: keys,
    onUpdate: (_, current) => keys(current),
  }
}

export function podWatch({ batches, tellsUnused }: WatchSettings): Watch<Pod> {
  const claimsOf = (pod: Pod): readonly string[] => {
    const keys = claimKeysOf(pod)
    for (const key of keys) {
      const { namespace = '', name } = splitKey(key)
      batches.add(namespace, name)
    }
    return keys.length === 0 ? [] : [pod.metadata?.namespace ?? '']
  }
  // A pod that runs on a node holds its claims: nothing to look at.
  const lettingGo = (pod: Pod): readonly string[] =>
    tellsUnused || hasLetGo(pod) || !pod.spec?.nodeName ? claimsOf(pod) : []
  return {
    type: resources.pods,
    onAdd: lettingGo,
    // Another pod under the name: the old one is gone, and nobody says so.
    onUpdate: (previous, current) =>
      previous.metadata?.uid === current.metadata?.uid
        ? lettingGo(current)
        : [...lettingGo(current), ...claimsOf(previous)],
    onDelete: (pod) => (pod instanceof DeletedFinalStateUnknown ? [] : claimsOf(pod)),
  }
}
