/**
 * Names that users see.
 * Contract: docs/behaviour/controllers/statefulset-controller.md, Events, Concurrency.
 */
import type { StatefulSet } from '@gyropilot/api'
import { recordEvent } from '@gyropilot/runtime'
import type { Reconcile } from '@gyropilot/runtime'
import { messageOf } from '../workload-support/aggregate-error.ts'

export const EVENT_COMPONENT = 'statefulset-controller'
export const QUEUE_NAME = 'statefulset'
export const SERVICE_ACCOUNT = 'statefulset-controller'

/** Of a write of a pod; no error: it went well. */
export function* recordPodEvent(
  verb: 'Create' | 'Update' | 'Delete',
  set: StatefulSet,
  podName: string,
  error?: unknown,
): Reconcile<void> {
  const what = `${verb} Pod ${podName} in StatefulSet ${set.metadata?.name}`
  if (error === undefined)
    yield* recordEvent(set, 'Normal', `Successful${verb}`, `${what} successful`)
  else
    yield* recordEvent(set, 'Warning', `Failed${verb}`, `${what} failed error: ${messageOf(error)}`)
}

/** Of the creation of a claim. */
export function* recordClaimEvent(
  set: StatefulSet,
  podName: string,
  claimName: string,
  error?: unknown,
): Reconcile<void> {
  const name = set.metadata?.name
  if (error === undefined) {
    const message = `Create Claim ${claimName} Pod ${podName} in StatefulSet ${name} success`
    yield* recordEvent(set, 'Normal', 'SuccessfulCreate', message)
  } else {
    const message = `Create Claim ${claimName} for Pod ${podName} in StatefulSet ${name} failed error: ${messageOf(error)}`
    yield* recordEvent(set, 'Warning', 'FailedCreate', message)
  }
}

/** Spelt as upstream spells it. */
export function* recordConflictingController(set: StatefulSet, claimName: string): Reconcile<void> {
  const message = `PersistentVolumeClaim ${claimName} has a conflicting OwnerReference that acts as a manging controller, the retention policy is ignored for this claim`
  yield* recordEvent(set, 'Warning', 'ConflictingController', message)
}
