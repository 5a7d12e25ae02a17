/** Which namespaces are looked at. Contract: docs/behaviour/controllers/namespace-controller.md, Watches and keys. */
import { isTerminating, keyOf, resources, splitKey } from '@gyropilot/api'
import type { KubernetesObject, Namespace, ResourceType } from '@gyropilot/api'
import { DeletedFinalStateUnknown, keyOfDeleted } from '@gyropilot/runtime'
import type { Lister, QueueKey, Watch } from '@gyropilot/runtime'
import { DELETION_GRACE_MS, LARGE_GRACE_MS } from './config.ts'
import type { DeletionPauses } from './deletion-pause.ts'
import { CONTENT_REMAINING } from './status.ts'

export function namespaceWatch(resyncPeriodMs: number, pauses: DeletionPauses): Watch<Namespace> {
  const afterGrace = (namespace: Namespace): readonly QueueKey[] => {
    if (!isTerminating(namespace)) return []
    const afterMs = pauses.begin(namespace) ? LARGE_GRACE_MS : DELETION_GRACE_MS
    return [{ key: keyOf(namespace), afterMs }]
  }
  return {
    type: resources.namespaces,
    resyncPeriodMs,
    onAdd: afterGrace,
    onUpdate: (_, namespace) => afterGrace(namespace),
    onDelete(gone) {
      pauses.forget(keyOfDeleted(gone))
      return []
    },
  }
}

/** What takes time to go after it was asked to: pods to end, and others that a finalizer holds as a rule. */
export const LASTING_CONTENT: readonly ResourceType[] = [
  resources.pods,
  resources.persistentvolumeclaims,
  resources.services,
]

/**
 * The last one has gone of a namespace that was worked off before and waits for it: upstream comes back when half of the time is over
 * that pods were given to end.
 */
export function lastOneWatch(
  type: ResourceType,
  content: Lister<KubernetesObject>,
  namespaces: Lister<Namespace>,
): Watch {
  return {
    type,
    metadataOnly: true,
    onDelete(gone) {
      const namespace = namespaceOf(gone)
      if (content.count(namespace) > 0) return []
      return isWaiting(namespaces.getByKey(namespace)) ? [namespace] : []
    },
  }
}

function namespaceOf(gone: KubernetesObject | DeletedFinalStateUnknown): string {
  const { namespace } =
    gone instanceof DeletedFinalStateUnknown ? splitKey(gone.key) : (gone.metadata ?? {})
  return namespace ?? ''
}

/** The first look, which the grace period comes before, has written conditions. */
function isWaiting(namespace: Namespace | undefined): boolean {
  return (
    namespace !== undefined &&
    isTerminating(namespace) &&
    (namespace.status?.conditions ?? []).some(({ type }) => type === CONTENT_REMAINING)
  )
}
