/** Which namespaces are looked at. Contract: docs/behaviour/controllers/namespace-controller.md, Watches and keys. */
import { keyOf, resources } from '@gyropilot/api'
import type { Namespace } from '@gyropilot/api'
import type { QueueKey, Watch } from '@gyropilot/runtime'
import { DELETION_GRACE_MS } from './config.ts'

export function namespaceWatch(resyncPeriodMs: number): Watch<Namespace> {
  const afterGrace = (namespace: Namespace): readonly QueueKey[] =>
    namespace.metadata?.deletionTimestamp === undefined
      ? []
      : [{ key: keyOf(namespace), afterMs: DELETION_GRACE_MS }]
  return {
    type: resources.namespaces,
    resyncPeriodMs,
    onAdd: afterGrace,
    onUpdate: (_, namespace) => afterGrace(namespace),
  }
}
