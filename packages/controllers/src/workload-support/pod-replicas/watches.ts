/**
 * Which owners of replicas an event concerns.
 * Contract: docs/behaviour/controllers/replicaset-controller.md, Watches and keys.
 */
import { controllerOf, isPodReady, keyOf, resources } from '@gyropilot/api'
import type { Pod, ResourceType } from '@gyropilot/api'
import type { Expectations, Lister, QueueKey, Watch } from '@gyropilot/runtime'
import { DeletedFinalStateUnknown, keyOfDeleted } from '@gyropilot/runtime'
import { selectsOrphan } from '../label-selector.ts'
import { resolveController, sameController, sameLabels } from '../ownership.ts'
import { podKey } from '../pod-control.ts'
import type { ReplicaOwner, ReplicaOwnerKind } from './replica-owner.ts'

export function ownerWatch<Owner extends ReplicaOwner>(
  type: ResourceType<Owner>,
  expectations: Expectations,
): Watch<Owner> {
  return {
    type,
    onAdd: (owner) => [keyOf(owner)],
    onUpdate(previous, current) {
      if (previous.metadata?.uid !== current.metadata?.uid) expectations.delete(keyOf(previous))
      return [keyOf(current)]
    },
    onDelete(owner) {
      const key = keyOfDeleted(owner)
      expectations.delete(key)
      return [key]
    },
  }
}

export function podWatch<Owner extends ReplicaOwner>(
  owners: Lister<Owner>,
  kind: ReplicaOwnerKind<Owner>,
  expectations: Expectations,
): Watch<Pod> {
  const ownerOf = (pod: Pod): Owner | undefined =>
    resolveController(owners, kind.type.kind, pod.metadata?.namespace, controllerOf(pod))

  const ownersOfOrphan = (pod: Pod): readonly QueueKey[] =>
    owners
      .list(pod.metadata?.namespace)
      .filter((owner) => selectsOrphan(kind.selectorOf(owner), pod))
      .map(keyOf)

  const deleted = (pod: Pod): readonly QueueKey[] => {
    const owner = ownerOf(pod)
    if (owner === undefined) return []
    expectations.deletionObserved(keyOf(owner), podKey(pod))
    return [keyOf(owner)]
  }

  const updated = (previous: Pod, current: Pod): readonly QueueKey[] => {
    const controllerChanged = !sameController(previous, current)
    const keys: QueueKey[] = []
    const formerOwner = controllerChanged ? ownerOf(previous) : undefined
    if (formerOwner !== undefined) keys.push(keyOf(formerOwner))
    if (controllerOf(current) === undefined) {
      if (controllerChanged || !sameLabels(previous, current)) keys.push(...ownersOfOrphan(current))
      return keys
    }
    const owner = ownerOf(current)
    if (owner === undefined) return keys
    keys.push(keyOf(owner))
    const minReadySeconds = owner.spec?.minReadySeconds ?? 0
    if (minReadySeconds > 0 && !isPodReady(previous) && isPodReady(current)) {
      keys.push({ key: keyOf(owner), afterMs: minReadySeconds * 1000 })
    }
    return keys
  }

  return {
    type: resources.pods,
    onAdd(pod) {
      // Seen for the first time on its way out: a creation of ours that nobody saw must not be counted.
      if (pod.metadata?.deletionTimestamp !== undefined) return deleted(pod)
      if (controllerOf(pod) === undefined) return ownersOfOrphan(pod)
      const owner = ownerOf(pod)
      if (owner === undefined) return []
      expectations.creationObserved(keyOf(owner))
      return [keyOf(owner)]
    },
    onUpdate(previous, current) {
      if (previous.metadata?.resourceVersion === current.metadata?.resourceVersion) return []
      if (current.metadata?.deletionTimestamp === undefined) return updated(previous, current)
      return sameLabels(previous, current)
        ? deleted(current)
        : [...deleted(current), ...deleted(previous)]
    },
    onDelete: (pod) => (pod instanceof DeletedFinalStateUnknown ? [] : deleted(pod)),
  }
}
