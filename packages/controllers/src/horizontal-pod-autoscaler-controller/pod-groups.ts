/**
 * Which pods of a target count, and as what. Pure.
 * Contract: docs/behaviour/controllers/horizontal-pod-autoscaler-controller.md, Grouping pods.
 */
import { findCondition, isTerminating, parseTime } from '@gyropilot/api'
import type { Pod } from '@gyropilot/api'

/** One pod's value in thousandths, and when it was taken over how long. */
export interface PodMetric {
  readonly milli: number
  readonly timestampMs: number
  readonly windowMs: number
}

/** By name of the pod. */
export type PodMetrics = ReadonlyMap<string, PodMetric>

export interface PodGroups {
  /** With a metric that counts. */
  readonly readyCount: number
  /** Too young to be judged; a metric they may have does not count. */
  readonly unready: ReadonlySet<string>
  readonly missing: ReadonlySet<string>
  /** Deleted or failed. */
  readonly ignored: ReadonlySet<string>
}

export interface StartUpRules {
  readonly cpuInitializationMs: number
  readonly initialReadinessDelayMs: number
}

/** `isCpu`: starting up takes CPU that says nothing about the load. */
export function groupPods(
  pods: readonly Pod[],
  metrics: PodMetrics,
  isCpu: boolean,
  nowMs: number,
  rules: StartUpRules,
): PodGroups {
  const unready = new Set<string>()
  const missing = new Set<string>()
  const ignored = new Set<string>()
  let readyCount = 0
  for (const pod of pods) {
    const name = pod.metadata?.name ?? ''
    const metric = metrics.get(name)
    if (isTerminating(pod) || pod.status?.phase === 'Failed') ignored.add(name)
    else if (pod.status?.phase === 'Pending') unready.add(name)
    else if (metric === undefined) missing.add(name)
    else if (isCpu && isStartingUp(pod, metric, nowMs, rules)) unready.add(name)
    else readyCount += 1
  }
  return { readyCount, unready, missing, ignored }
}

function isStartingUp(
  { status }: Pod,
  metric: PodMetric,
  nowMs: number,
  { cpuInitializationMs, initialReadinessDelayMs }: StartUpRules,
): boolean {
  const ready = findCondition(status?.conditions, 'Ready')
  const startMs = parseTime(status?.startTime)
  if (ready === undefined || startMs === undefined) return true
  const changedMs = parseTime(ready.lastTransitionTime) ?? 0
  // The sample must begin after the pod became ready.
  if (startMs + cpuInitializationMs > nowMs)
    return ready.status === 'False' || metric.timestampMs < changedMs + metric.windowMs
  // Not ready since it started: it has never been.
  return ready.status === 'False' && startMs + initialReadinessDelayMs > changedMs
}

/** Without those of pods that do not count. */
export function countingMetrics(metrics: PodMetrics, { ignored, unready }: PodGroups): PodMetrics {
  return new Map([...metrics].filter(([name]) => !ignored.has(name) && !unready.has(name)))
}
