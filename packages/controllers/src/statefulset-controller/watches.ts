/**
 * Which StatefulSets an event concerns.
 * Contract: docs/behaviour/controllers/statefulset-controller.md, Watches and keys.
 */
import { controllerOf, isPodReady, isTerminating, keyOf, resources } from '@gyropilot/api'
import type { Pod, StatefulSet } from '@gyropilot/api'
import { DeletedFinalStateUnknown, keyOfDeleted } from '@gyropilot/runtime'
import type { Lister, QueueKey, Watch } from '@gyropilot/runtime'
import { selectsOrphan } from '../workload-support/label-selector.ts'
import { resolveController, sameController, sameLabels } from '../workload-support/ownership.ts'

export function statefulSetWatch(): Watch<StatefulSet> {
  return {
    type: resources.statefulsets,
    onAdd: (set) => [keyOf(set)],
    onUpdate: (_previous, current) => [keyOf(current)],
    onDelete: (set) => [keyOfDeleted(set)],
  }
}

export function podWatch(sets: Lister<StatefulSet>): Watch<Pod> {
  const ownerOf = (pod: Pod): StatefulSet | undefined =>
    resolveController(sets, 'StatefulSet', pod.metadata?.namespace, controllerOf(pod))

  const keyOfOwner = (pod: Pod): readonly QueueKey[] => {
    const owner = ownerOf(pod)
    return owner === undefined ? [] : [keyOf(owner)]
  }

  const ownersOfOrphan = (pod: Pod): readonly QueueKey[] =>
    sets
      .list(pod.metadata?.namespace)
      .filter((set) => selectsOrphan(set.spec?.selector, pod))
      .map(keyOf)

  return {
    type: resources.pods,
    onAdd(pod) {
      if (isTerminating(pod) || controllerOf(pod) !== undefined) return keyOfOwner(pod)
      return ownersOfOrphan(pod)
    },
    onUpdate(previous, current) {
      if (previous.metadata?.resourceVersion === current.metadata?.resourceVersion) return []
      const controllerChanged = !sameController(previous, current)
      const keys = controllerChanged ? [...keyOfOwner(previous)] : []
      if (controllerOf(current) === undefined) {
        if (controllerChanged || !sameLabels(previous, current))
          keys.push(...ownersOfOrphan(current))
        return keys
      }
      const owner = ownerOf(current)
      if (owner === undefined) return keys
      keys.push(keyOf(owner))
      const minReadySeconds = owner.spec?.minReadySeconds ?? 0
      if (minReadySeconds > 0 && !isPodReady(previous) && isPodReady(current))
        keys.push({ key: keyOf(owner), afterMs: minReadySeconds * 1000 })
      return keys
    },
    onDelete: (pod) => (pod instanceof DeletedFinalStateUnknown ? [] : keyOfOwner(pod)),
  }
}
