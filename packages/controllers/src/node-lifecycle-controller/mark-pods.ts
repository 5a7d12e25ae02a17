/**
 * Pods of a node that is not ready are not ready either.
 * Contract: docs/behaviour/controllers/node-lifecycle-controller.md, Marking pods not ready.
 */
import { findCondition, resources } from '@gyropilot/api'
import type { Pod } from '@gyropilot/api'
import { isNotFound } from '@gyropilot/client'
import { formatTime } from '@gyropilot/foundation'
import { currentTimeMs, patch, recordEvent, write } from '@gyropilot/runtime'
import type { Reconcile } from '@gyropilot/runtime'
import { conditionPatch } from '../workload-support/condition-patch.ts'

/** One after the other; answers the first error. A pod that never said whether it is ready is left alone. */
export function* markPodsNotReady(pods: readonly Pod[], nodeName: string): Reconcile<unknown> {
  let firstError: unknown
  for (const pod of pods) {
    const conditions = pod.status?.conditions ?? []
    const ready = findCondition(conditions, 'Ready')
    if (pod.spec?.nodeName !== nodeName || ready === undefined || ready.status === 'False') continue
    const lastTransitionTime = formatTime(yield* currentTimeMs())
    // The condition alone, of this version: the cache need not have the rest.
    const { resourceVersion } = pod.metadata ?? {}
    const status = conditionPatch(pod, { ...ready, status: 'False', lastTransitionTime })
    const value = { metadata: { resourceVersion }, status }
    const written = yield* write(patch(resources.pods, pod, { type: 'strategic', value }, 'status'))
    if (!written.ok && isNotFound(written.error)) continue
    if (!written.ok) firstError ??= written.error
    yield* recordEvent(pod, 'Warning', 'NodeNotReady', 'Node is not ready')
  }
  return firstError
}
