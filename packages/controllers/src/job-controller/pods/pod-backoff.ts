/**
 * How long a Job waits before it replaces what failed.
 * Contract: docs/behaviour/controllers/job-controller.md, Concurrency, retries, timing.
 */
import { findCondition, parseTime } from '@gyropilot/api'
import type { ContainerStatus, Pod } from '@gyropilot/api'
import { POD_BACKOFF_BASE_MS, POD_BACKOFF_MAX_MS } from '../config.ts'
import { earlierFailuresOf } from './pod-index.ts'

/** Failures of a Job since its last success. */
export interface BackoffRecord {
  readonly failures: number
  readonly lastFailureMs: number | undefined
}

export const NO_BACKOFF: BackoffRecord = { failures: 0, lastFailureMs: undefined }

/** The record after pods that nobody has counted yet: a success forgets all that failed before it. */
export function nextBackoff(
  known: BackoffRecord,
  newSucceeded: readonly Pod[],
  newFailed: readonly Pod[],
): BackoffRecord {
  const lastSuccessMs = latest(newSucceeded.map(finishTimeMs)) ?? -Infinity
  const failedMs = newFailed.map(finishTimeMs).filter((timeMs) => timeMs > lastSuccessMs)
  if (newSucceeded.length > 0) return { failures: failedMs.length, lastFailureMs: latest(failedMs) }
  if (failedMs.length === 0) return known
  return { failures: known.failures + failedMs.length, lastFailureMs: latest(failedMs) }
}

/** 0: nothing to wait for. */
export function remainingBackoffMs(record: BackoffRecord, nowMs: number): number {
  const { failures, lastFailureMs } = record
  if (failures === 0 || lastFailureMs === undefined) return 0
  const delayMs = Math.min(POD_BACKOFF_BASE_MS * 2 ** (failures - 1), POD_BACKOFF_MAX_MS)
  return Math.max(0, lastFailureMs + delayMs - nowMs)
}

/** Of the index of a failed pod, ignored failures included. */
export function remainingIndexBackoffMs(lastFailed: Pod, nowMs: number): number {
  const { counted, ignored } = earlierFailuresOf(lastFailed)
  const record = { failures: counted + ignored + 1, lastFailureMs: finishTimeMs(lastFailed) }
  return remainingBackoffMs(record, nowMs)
}

/** When the pod came to its end, by the best that is known. */
export function finishTimeMs(pod: Pod): number {
  const {
    deletionTimestamp,
    deletionGracePeriodSeconds = 0,
    creationTimestamp,
  } = pod.metadata ?? {}
  const ready = findCondition(pod.status?.conditions, 'Ready')
  const deletedMs = parseTime(deletionTimestamp)
  return (
    containersFinishedMs(pod) ??
    (ready?.status === 'False' ? parseTime(ready.lastTransitionTime) : undefined) ??
    (deletedMs === undefined ? undefined : deletedMs - Number(deletionGracePeriodSeconds) * 1000) ??
    parseTime(creationTimestamp) ??
    0
  )
}

/** The latest end of a regular container or sidecar; undefined while one of them still runs. */
function containersFinishedMs({ spec, status }: Pod): number | undefined {
  const sidecars = new Set(
    (spec?.initContainers ?? [])
      .filter(({ restartPolicy }) => restartPolicy === 'Always')
      .map(({ name }) => name),
  )
  const statuses: readonly ContainerStatus[] = [
    ...(status?.containerStatuses ?? []),
    ...(status?.initContainerStatuses ?? []).filter(({ name }) => sidecars.has(name)),
  ]
  const finishedMs: number[] = []
  for (const { state } of statuses) {
    const timeMs = parseTime(state?.terminated?.finishedAt)
    if (timeMs === undefined) return undefined
    finishedMs.push(timeMs)
  }
  return latest(finishedMs)
}

function latest(timesMs: readonly number[]): number | undefined {
  let found: number | undefined
  for (const timeMs of timesMs) if (found === undefined || timeMs > found) found = timeMs
  return found
}
