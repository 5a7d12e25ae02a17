/** Contract: docs/behaviour/controllers/device-taint-eviction-controller.md, Events. */
import type { KubernetesObject } from '@gyropilot/api'
import type { EventRecord } from '@gyropilot/runtime'
import { EVENT_REASON } from './config.ts'

export const MARKING = 'Marking for deletion'
export const CANCELLING = 'Cancelling deletion'

export function evictionEvent(
  pod: { readonly namespace?: string; readonly name?: string; readonly uid?: string },
  message: typeof MARKING | typeof CANCELLING,
): EventRecord {
  const { namespace, name, uid } = pod
  const regarding: KubernetesObject = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { namespace, name, uid },
  }
  return { regarding, type: 'Normal', reason: EVENT_REASON, message }
}
