/**
 * Events of the taint eviction controller.
 * Contract: docs/behaviour/controllers/taint-eviction-controller.md, Events.
 */
import type { KubernetesObject } from '@gyropilot/api'
import { recordEvent } from '@gyropilot/runtime'
import type { EventRecord, Reconcile } from '@gyropilot/runtime'
import { EVENT_REASON } from './config.ts'

export function recordMarking(namespace: string, name: string): Reconcile<void> {
  const message = `Marking for deletion Pod ${namespace}/${name}`
  return recordEvent(referenceTo(namespace, name), 'Normal', EVENT_REASON, message)
}

export function cancelling(namespace: string, name: string): EventRecord {
  return {
    regarding: referenceTo(namespace, name),
    type: 'Normal',
    reason: EVENT_REASON,
    message: `Cancelling deletion of Pod ${namespace}/${name}`,
  }
}

/** By name alone: no uid is known where a name is. */
function referenceTo(namespace: string, name: string): KubernetesObject {
  return { apiVersion: 'v1', kind: 'Pod', metadata: { namespace, name } }
}
