/**
 * Which DaemonSets an event concerns.
 * Contract: docs/behaviour/controllers/daemonset-controller.md, Watches and keys.
 */
import { controllerOf, isPodReady, isTerminating, keyOf, resources } from '@gyropilot/api'
import type { ControllerRevision, DaemonSet, KubernetesObject, Pod } from '@gyropilot/api'
import type { Expectations, Lister, QueueKey, Watch } from '@gyropilot/runtime'
import { DeletedFinalStateUnknown, keyOfDeleted } from '@gyropilot/runtime'
import { selectsOrphan } from '../workload-support/label-selector.ts'
import { resolveController, sameController, sameLabels } from '../workload-support/ownership.ts'
import { podKey } from '../workload-support/pod-control.ts'

export function daemonSetWatch(expectations: Expectations): Watch<DaemonSet> {
  return {
    type: resources.daemonsets,
    onAdd: (daemonSet) => [keyOf(daemonSet)],
    onUpdate(previous, current) {
      if (previous.metadata?.uid !== current.metadata?.uid) expectations.delete(keyOf(previous))
      return [keyOf(current)]
    },
    onDelete(deleted) {
      const key = keyOfDeleted(deleted)
      expectations.delete(key)
      return [key]
    },
  }
}

/** From dependents to DaemonSets. */
class Owners {
  readonly #daemonSets: Lister<DaemonSet>

  constructor(daemonSets: Lister<DaemonSet>) {
    this.#daemonSets = daemonSets
  }

  of(object: KubernetesObject): DaemonSet | undefined {
    const { namespace } = object.metadata ?? {}
    return resolveController(this.#daemonSets, 'DaemonSet', namespace, controllerOf(object))
  }

  keysOf(object: KubernetesObject): readonly QueueKey[] {
    const owner = this.of(object)
    return owner === undefined ? [] : [keyOf(owner)]
  }

  thatSelect(orphan: KubernetesObject): readonly QueueKey[] {
    return this.#daemonSets
      .list(orphan.metadata?.namespace)
      .filter(({ spec }) => selectsOrphan(spec?.selector, orphan))
      .map(keyOf)
  }

  /** The former owner, the present one, or whoever may adopt. */
  changed(previous: KubernetesObject, current: KubernetesObject): readonly QueueKey[] {
    const hasMoved = !sameController(previous, current)
    const former = hasMoved ? this.keysOf(previous) : []
    if (controllerOf(current) !== undefined) return [...former, ...this.keysOf(current)]
    const isNews = hasMoved || !sameLabels(previous, current)
    return isNews ? [...former, ...this.thatSelect(current)] : former
  }
}

/** After a pod is ready for minReadySeconds, and a second for the clocks of kubelets. */
const READY_MARGIN_MS = 1_000

export function podWatch(daemonSets: Lister<DaemonSet>, expectations: Expectations): Watch<Pod> {
  const owners = new Owners(daemonSets)
  const deleted = (pod: Pod): readonly QueueKey[] => {
    const owner = owners.of(pod)
    if (owner === undefined) return []
    expectations.deletionObserved(keyOf(owner), podKey(pod))
    return [keyOf(owner)]
  }
  const afterReady = (previous: Pod, current: Pod): readonly QueueKey[] => {
    const owner = owners.of(current)
    const minReadySeconds = owner?.spec?.minReadySeconds ?? 0
    if (owner === undefined || minReadySeconds === 0) return []
    if (isPodReady(previous) || !isPodReady(current)) return []
    return [{ key: keyOf(owner), afterMs: minReadySeconds * 1000 + READY_MARGIN_MS }]
  }
  return {
    type: resources.pods,
    onAdd(pod) {
      // Seen for the first time on its way out: a creation of ours that nobody saw must not be counted.
      if (isTerminating(pod)) return deleted(pod)
      if (controllerOf(pod) === undefined) return owners.thatSelect(pod)
      const owner = owners.of(pod)
      if (owner === undefined) return []
      expectations.creationObserved(keyOf(owner))
      return [keyOf(owner)]
    },
    onUpdate(previous, current) {
      if (previous.metadata?.resourceVersion === current.metadata?.resourceVersion) return []
      if (isTerminating(current)) return deleted(current)
      return [...owners.changed(previous, current), ...afterReady(previous, current)]
    },
    onDelete: (pod) => (pod instanceof DeletedFinalStateUnknown ? [] : deleted(pod)),
  }
}

export function revisionWatch(daemonSets: Lister<DaemonSet>): Watch<ControllerRevision> {
  const owners = new Owners(daemonSets)
  return {
    type: resources.controllerrevisions,
    onAdd(revision) {
      if (isTerminating(revision)) return owners.keysOf(revision)
      return controllerOf(revision) === undefined ? owners.thatSelect(revision) : []
    },
    onUpdate(previous, current) {
      if (previous.metadata?.resourceVersion === current.metadata?.resourceVersion) return []
      return owners.changed(previous, current)
    },
    onDelete: (revision) =>
      revision instanceof DeletedFinalStateUnknown ? [] : owners.keysOf(revision),
  }
}
