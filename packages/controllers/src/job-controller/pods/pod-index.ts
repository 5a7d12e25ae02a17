/**
 * What the annotations of a pod say of its completion index.
 * Contract: docs/behaviour/controllers/job-controller.md, Names, Pod management.
 */
import type { Job, Pod } from '@gyropilot/api'
import { COMPLETION_INDEX, INDEX_FAILURE_COUNT, INDEX_IGNORED_FAILURE_COUNT } from '../events.ts'

/** Undefined without an index, with one that is no number, and with one that the Job has not (any more). */
export function completionIndexOf(pod: Pod, job: Job): number | undefined {
  const index = countOf(pod, COMPLETION_INDEX)
  return index !== undefined && index < (job.spec?.completions ?? 0) ? index : undefined
}

export interface IndexFailures {
  readonly counted: number
  readonly ignored: number
}

/** Failures of the pod's index before this pod. */
export function earlierFailuresOf(pod: Pod): IndexFailures {
  return {
    counted: countOf(pod, INDEX_FAILURE_COUNT) ?? 0,
    ignored: countOf(pod, INDEX_IGNORED_FAILURE_COUNT) ?? 0,
  }
}

function countOf(pod: Pod, annotation: string): number | undefined {
  const text = pod.metadata?.annotations?.[annotation]
  return text !== undefined && /^\+?\d+$/.test(text) ? Number(text) : undefined
}
