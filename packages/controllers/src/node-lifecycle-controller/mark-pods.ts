/**
 * Pods of a node that is not ready are not ready either.
 * Contract: docs/behaviour/controllers/node-lifecycle-controller.md, Marking pods not ready.
 */
import { findCondition, resources } from '@gyropilot/api'
import type { Pod } from '@gyropilot/api'
import { isNotFound } from '@gyropilot/client'
import { formatTime } from '@gyropilot/foundation'
import { currentTimeMs, recordEvent, updateStatus, write } from '@gyropilot/runtime'
import type { Reconcile } from '@gyropilot/runtime'

/** One after the other; answers the first error. A pod that never said whether it is ready is left alone. */
export function* markPodsNotReady(pods: readonly Pod[], nodeName: string): Reconcile<unknown> {
  let firstError: unknown
  for (const pod of pods) {
    const conditions = pod.status?.conditions ?? []
    const ready = findCondition(conditions, 'Ready')
    if (pod.spec?.nodeName !== nodeName || ready === undefined || ready.status === 'False') continue
    const lastTransitionTime = formatTime(yield* currentTimeMs())
    const status = {
      ...pod.status,
      conditions: conditions.map((condition) =>
        condition === ready ? { ...condition, status: 'False', lastTransitionTime } : condition,
      ),
    } as const
    const written = yield* write(updateStatus(resources.pods, { ...pod, status }))
    if (!written.ok && isNotFound(written.error)) continue
    if (!written.ok) firstError ??= written.error
    yield* recordEvent(pod, 'Warning', 'NodeNotReady', 'Node is not ready')
  }
  return firstError
}
