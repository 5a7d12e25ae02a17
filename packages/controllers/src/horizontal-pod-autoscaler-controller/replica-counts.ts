/**
 * From usage and target to a number of replicas. Pure; amounts are thousandths.
 * Contract: docs/behaviour/controllers/horizontal-pod-autoscaler-controller.md, Replica formulas.
 */
import { parseQuantity } from '@gyropilot/api'
import type { Quantity } from '@gyropilot/api'
import { MAX_INT32 } from './config.ts'
import type { PodGroups, PodMetrics } from './pod-groups.ts'

/** How far from 1 a ratio may be, parts of 1. */
export interface Tolerances {
  readonly down: number
  readonly up: number
}

export function isWithin({ down, up }: Tolerances, ratio: number): boolean {
  return 1 - down <= ratio && ratio <= 1 + up
}

/**
 * As upstream, digits times a power of ten, not the nearest double: `700m` is a little more than 0.7, and a ratio of 0.3 is
 * within it.
 */
export function toleranceOf(tolerance: Quantity): number {
  const { nanos } = parseQuantity(tolerance)
  for (const [unit, power] of [
    [1_000_000_000n, 1],
    [1_000_000n, 1e-3],
    [1_000n, 1e-6],
  ] as const) {
    if (nanos % unit === 0n) return Number(nanos / unit) * power
  }
  return Number(nanos) * 1e-9
}

/** What pods use, against what they should. */
export interface UsageRatio {
  readonly ratio: number
  /** Percent; of utilizations only. */
  readonly utilization?: number
  /** Thousandths, of one pod. */
  readonly averageMilli: number
}

export function averageRatio(metrics: PodMetrics, targetMilli: number): UsageRatio {
  const averageMilli = Math.trunc(sumOf(metrics) / metrics.size)
  return { ratio: averageMilli / targetMilli, averageMilli }
}

/** Over the pods that have both. Throws where nothing is requested. */
export function utilizationRatio(
  metrics: PodMetrics,
  requests: ReadonlyMap<string, number>,
  targetPercent: number,
): UsageRatio {
  let used = 0
  let requested = 0
  let pods = 0
  for (const [name, { milli }] of metrics) {
    const request = requests.get(name)
    if (request === undefined) continue
    used += milli
    requested += request
    pods += 1
  }
  if (requested === 0) throw new Error('no metrics returned matched known pods')
  const utilization = Math.trunc((used * 100) / requested)
  return {
    ratio: utilization / targetPercent,
    utilization,
    averageMilli: Math.trunc(used / pods),
  }
}

export interface PodScaling {
  readonly currentReplicas: number
  readonly groups: PodGroups
  readonly metrics: PodMetrics
  readonly tolerances: Tolerances
  ratioOf(metrics: PodMetrics): UsageRatio
  /** What a pod is taken to use whose metric is missing, where that argues against scaling down. */
  assumedMilli(pod: string): number
}

interface CountedReplicas {
  readonly replicas: number
  /** Before anything was assumed. */
  readonly usage: UsageRatio
}

/** Pods that are missing or unready are taken for what argues against a change. */
export function podReplicas(scaling: PodScaling): CountedReplicas {
  const { currentReplicas, groups, metrics, tolerances, ratioOf } = scaling
  const usage = ratioOf(metrics)
  const { ratio } = usage
  const rebalances = groups.unready.size > 0 && ratio > 1
  if (!rebalances && groups.missing.size === 0) {
    const replicas = isWithin(tolerances, ratio)
      ? currentReplicas
      : Math.ceil(ratio * groups.readyCount)
    return { replicas, usage }
  }
  const assumed = withAssumptions(scaling, ratio, rebalances)
  const next = ratioOf(assumed).ratio
  const hasTurned = (ratio < 1 && next > 1) || (ratio > 1 && next < 1)
  if (isWithin(tolerances, next) || hasTurned) return { replicas: currentReplicas, usage }
  const replicas = Math.ceil(next * assumed.size)
  const isAgainst =
    (next < 1 && replicas > currentReplicas) || (next > 1 && replicas < currentReplicas)
  return { replicas: isAgainst ? currentReplicas : replicas, usage }
}

function withAssumptions(
  { metrics, groups, assumedMilli }: PodScaling,
  ratio: number,
  rebalances: boolean,
): PodMetrics {
  const all = new Map(metrics)
  const assume = (name: string, milli: number): void =>
    void all.set(name, { milli, timestampMs: 0, windowMs: 0 })
  if (ratio < 1) for (const name of groups.missing) assume(name, assumedMilli(name))
  else if (ratio > 1) for (const name of groups.missing) assume(name, 0)
  if (rebalances) for (const name of groups.unready) assume(name, 0)
  return all
}

/** One value for all pods, against the value it should have. */
export function valueReplicas(
  usageMilli: number,
  targetMilli: number,
  currentReplicas: number,
  tolerances: Tolerances,
  readyPods: () => number,
): number {
  const ratio = usageMilli / targetMilli
  if (currentReplicas === 0) return capped(Math.ceil(ratio))
  if (isWithin(tolerances, ratio)) return currentReplicas
  return capped(Math.ceil(ratio * readyPods()))
}

/** One value for all pods, against what each of them should have of it. */
export function shareReplicas(
  usageMilli: number,
  targetMilli: number,
  statusReplicas: number,
  tolerances: Tolerances,
): number {
  const ratio = usageMilli / (targetMilli * statusReplicas)
  return isWithin(tolerances, ratio) ? statusReplicas : capped(Math.ceil(usageMilli / targetMilli))
}

/** Of nobody it is the whole. */
export function shareMilli(usageMilli: number, statusReplicas: number): number {
  return Math.ceil(usageMilli / Math.max(1, statusReplicas))
}

function capped(replicas: number): number {
  return Math.min(replicas, MAX_INT32)
}

function sumOf(metrics: PodMetrics): number {
  let sum = 0
  for (const { milli } of metrics.values()) sum += milli
  return sum
}
