/**
 * Which pods go so that a more important one finds room. Contract: docs/behaviour/simulation/scheduler.md, Preemption. Pure.
 */
import { labelQueryOf } from '@gyropilot/api'
import type { Pod, PodDisruptionBudget } from '@gyropilot/api'
import { compareStrings } from '@gyropilot/foundation'
import { NO_VICTIMS } from './message.ts'
import type { NodeVerdict } from './message.ts'
import type { NodeInfo } from './node-info.ts'
import { ChangedSnapshot } from './snapshot.ts'
import type { Snapshot } from './snapshot.ts'

export interface PreemptionCandidate {
  readonly node: string
  /** The most important first. */
  readonly victims: readonly Pod[]
  readonly budgetViolations: number
}

interface PreemptionRules {
  /** Why the pod does not fit a node that is as `info` says; undefined: it does. */
  verdictOf(pod: Pod, info: NodeInfo, snapshot: Snapshot): NodeVerdict | undefined
  readonly budgets: readonly PodDisruptionBudget[]
}

export function priorityOf(pod: Pod): number {
  return pod.spec?.priority ?? 0
}

/** Undefined when it may; else the text behind `preemption:`. `verdicts`: why the nodes cannot take it. */
export function whyNotEligible(
  pod: Pod,
  nominated: NodeInfo | undefined,
  verdicts: readonly NodeVerdict[] = [],
): string | undefined {
  if (pod.spec?.preemptionPolicy === 'Never') return 'not eligible due to preemptionPolicy=Never.'
  // What is made free there will not help any more.
  if (verdicts.some(({ node, curable }) => node === nominated?.name && !curable)) return undefined
  for (const other of nominated?.pods.values() ?? []) {
    const isLeaving = other.metadata?.deletionTimestamp !== undefined && isPreempted(other)
    if (isLeaving && priorityOf(other) < priorityOf(pod))
      return 'not eligible due to a terminating pod on the nominated node.'
  }
  return undefined
}

function isPreempted({ status }: Pod): boolean {
  return (status?.conditions ?? []).some(
    ({ type, reason }) => type === 'DisruptionTarget' && reason === 'PreemptionByScheduler',
  )
}

/** In a large cluster some candidates do. */
export function candidatesToFind(nodes: number): number {
  return Math.max(100, Math.floor(nodes / 10))
}

/** What it takes on one node, or why taking pods away does not help there. */
interface OnNode {
  readonly candidate?: PreemptionCandidate
  readonly reasons: readonly string[]
}

const NONE: readonly string[] = []

export function victimsOn(
  pod: Pod,
  info: NodeInfo,
  snapshot: Snapshot,
  { verdictOf, budgets }: PreemptionRules,
): OnNode {
  const lower = [...info.pods.values()]
    .filter((other) => priorityOf(other) < priorityOf(pod))
    .toSorted(byImportance)
  if (lower.length === 0) return { reasons: [NO_VICTIMS] }
  const gone = new Set(lower.map(uidOf))
  const left = info.without(gone)
  // Of lists that the snapshot makes none may last: the node changes.
  const verdict = (): NodeVerdict | undefined =>
    verdictOf(pod, left, new ChangedSnapshot(snapshot, info, left))
  const inVain = verdict()
  if (inVain !== undefined) return { reasons: inVain.reasons }
  const protectedPods = violators(lower, budgets)
  // Put back from the most important down, first those whose going violates a budget.
  const order = [
    ...lower.filter((other) => protectedPods.has(uidOf(other))),
    ...lower.filter((other) => !protectedPods.has(uidOf(other))),
  ]
  for (const other of order) {
    left.addPod(other)
    if (verdict() === undefined) gone.delete(uidOf(other))
    else left.removePod(uidOf(other))
  }
  const victims = lower.filter((other) => gone.has(uidOf(other)))
  const budgetViolations = victims.filter((other) => protectedPods.has(uidOf(other))).length
  return { candidate: { node: info.name, victims, budgetViolations }, reasons: NONE }
}

/** Fewest budget violations, least important victims, fewest of them, latest started; then the first by name. */
export function bestCandidate(
  candidates: readonly PreemptionCandidate[],
): PreemptionCandidate | undefined {
  const byPreference = (a: PreemptionCandidate, b: PreemptionCandidate): number =>
    a.budgetViolations - b.budgetViolations ||
    highest(a) - highest(b) ||
    sumOf(a) - sumOf(b) ||
    a.victims.length - b.victims.length ||
    compareStrings(startOfHighest(b), startOfHighest(a)) ||
    compareStrings(a.node, b.node)
  return candidates.toSorted(byPreference)[0]
}

function highest({ victims }: PreemptionCandidate): number {
  return Math.max(...victims.map(priorityOf))
}

/** Moved so that more victims of negative priority do not look better. */
function sumOf({ victims }: PreemptionCandidate): number {
  return victims.reduce((sum, victim) => sum + priorityOf(victim) + 2 ** 31, 0)
}

function startOfHighest(candidate: PreemptionCandidate): string {
  const most = highest(candidate)
  const starts = candidate.victims.filter((victim) => priorityOf(victim) === most).map(startOf)
  return starts.toSorted(compareStrings)[0] ?? ''
}

/** A pod without a start time has only just been bound: later than all others. */
function startOf({ status }: Pod): string {
  return status?.startTime ?? '9999'
}

function uidOf({ metadata }: Pod): string {
  return metadata?.uid ?? ''
}

function byImportance(a: Pod, b: Pod): number {
  return (
    priorityOf(b) - priorityOf(a) ||
    compareStrings(startOf(a), startOf(b)) ||
    compareStrings(uidOf(a), uidOf(b))
  )
}

/** Pods whose going would take more from a budget than it allows, when they go in this order. */
function violators(
  pods: readonly Pod[],
  budgets: readonly PodDisruptionBudget[],
): ReadonlySet<string> {
  const found = new Set<string>()
  const left = new Map(budgets.map((budget) => [budget, budget.status?.disruptionsAllowed ?? 0]))
  for (const pod of pods) {
    const { namespace, name = '', labels } = pod.metadata ?? {}
    for (const budget of budgets) {
      if (budget.metadata?.namespace !== namespace) continue
      if (Object.hasOwn(budget.status?.disruptedPods ?? {}, name)) continue
      const query = labelQueryOf(budget.spec?.selector)
      // Upstream's scheduler takes an empty selector for none, as budgets once did.
      if (labels === undefined || query.matchesEverything || !query.matches(labels)) continue
      const allowed = left.get(budget)! - 1
      left.set(budget, allowed)
      if (allowed < 0) found.add(uidOf(pod))
    }
  }
  return found
}
