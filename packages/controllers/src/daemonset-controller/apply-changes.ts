/**
 * Creating and deleting pods, as many as one sync may.
 * Contract: docs/behaviour/controllers/daemonset-controller.md, Applying creates and deletes.
 */
import type { DaemonSet, Pod } from '@gyropilot/api'
import { isNotFound } from '@gyropilot/client'
import type { Outcome, Reconcile } from '@gyropilot/runtime'
import { aggregateErrors } from '../workload-support/aggregate-error.ts'
import { createPods, deletePods, isNamespaceTerminating } from '../workload-support/pod-control.ts'
import { BURST_REPLICAS } from './config.ts'
import { podMaker } from './daemon-pod.ts'

export interface Changes {
  /** Names of nodes. */
  readonly create: readonly string[]
  readonly remove: readonly Pod[]
}

interface ChangeTarget {
  /** Of the expectations. */
  readonly key: string
  readonly daemonSet: DaemonSet
  readonly hash: string
}

/** Answers the error, if any. */
export function* applyChanges(
  { key, daemonSet, hash }: ChangeTarget,
  { create, remove }: Changes,
): Reconcile<unknown> {
  const errors: unknown[] = []
  if (create.length > 0) {
    const podFor = podMaker(daemonSet, hash)
    const pods = create.slice(0, BURST_REPLICAS).map(podFor)
    errors.push(...errorsOf(yield* createPods(daemonSet, pods, key), isNamespaceTerminating))
  }
  if (remove.length > 0) {
    const pods = remove.slice(0, BURST_REPLICAS)
    errors.push(...errorsOf(yield* deletePods(daemonSet, pods, key), isNotFound))
  }
  return aggregateErrors(errors)
}

function errorsOf(
  outcomes: readonly Outcome[],
  ignored: (error: unknown) => boolean,
): readonly unknown[] {
  return outcomes.flatMap((outcome) =>
    outcome.ok || !outcome.attempted || ignored(outcome.error) ? [] : [outcome.error],
  )
}
