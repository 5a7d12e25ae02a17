/** What becomes of the pods of a PodGroup that were tried together. Contract: docs/behaviour/simulation/scheduler.md, PodGroups. Pure. */
import type { Condition } from '@gyropilot/api'
import type { Attempt, Placement, Refusal } from '../placer.ts'

const UNSCHEDULABLE = 'pod group is unschedulable'
const WAITS_FOR_PREEMPTION = `${UNSCHEDULABLE}, pod group is waiting for preemption to complete`
const WAITS_FOR_PODS = `${UNSCHEDULABLE}, waiting for minCount pods from a gang to be scheduled, one or more plugins asked to wait and no plugin rejected pod`

/** Of the condition PodGroupScheduled. */
export type GroupScheduled = Pick<Condition, 'status' | 'reason' | 'message'>

export interface GroupQuorum {
  /** 0 for a group whose pods need not wait for each other. */
  readonly minCount: number
  /** Pods of the group that have a node already, or are being bound to one. */
  readonly scheduled: number
}

interface GroupDecision {
  readonly bound: readonly Placement[]
  readonly refused: readonly Refusal[]
  readonly condition: GroupScheduled
}

export function decideGroup(
  attempts: readonly Attempt[],
  { minCount, scheduled }: GroupQuorum,
): GroupDecision {
  const finds = scheduled + attempts.filter(isWithRoom).length
  if (finds < minCount) return gangWithoutRoom(attempts)
  if (attempts.some((one) => one.kind === 'refused' && one.room !== undefined))
    return groupAfterPreemption(attempts)
  return {
    bound: attempts.filter((one) => one.kind === 'placed'),
    refused: attempts.filter((one) => one.kind === 'refused'),
    condition: finds > 0 ? SCHEDULED : unscheduled(UNSCHEDULABLE),
  }
}

/** Nobody is bound, and nobody has to go for pods that would not be bound then. */
function gangWithoutRoom(attempts: readonly Attempt[]): GroupDecision {
  // What others of it were promised they keep while room is being made: if they lost it, the next pod of those that have to go would
  // take it, and the gang would never come to have all of its rooms at once.
  const promise = attempts.some(isAwaitingRoom) ? {} : { nomination: '' }
  const refused = attempts.map((one) =>
    one.kind === 'refused' && !isWithRoom(one)
      ? one
      : { ...heldBack(one, WAITS_FOR_PODS), ...promise },
  )
  return { bound: [], refused, condition: unscheduled(UNSCHEDULABLE) }
}

/** Room is made first. Those that need none are tried again soon: without the others they may be enough. */
function groupAfterPreemption(attempts: readonly Attempt[]): GroupDecision {
  const refused = attempts.map((one) =>
    one.kind === 'refused'
      ? one
      : { ...heldBack(one, WAITS_FOR_PREEMPTION), nomination: '', isDueAnyway: true as const },
  )
  return { bound: [], refused, condition: unscheduled(WAITS_FOR_PREEMPTION) }
}

const SCHEDULED: GroupScheduled = { status: 'True', reason: 'Scheduled', message: '' }

function unscheduled(message: string): GroupScheduled {
  return { status: 'False', reason: 'Unschedulable', message }
}

/** It has a node, or would have one once others have made room. */
function isWithRoom(attempt: Attempt): boolean {
  return attempt.kind === 'placed' || attempt.room !== undefined
}

/** Its room is promised and not free yet. */
function isAwaitingRoom(attempt: Attempt): boolean {
  return (
    attempt.kind === 'refused' &&
    attempt.nomination === undefined &&
    Boolean(attempt.pod.status?.nominatedNodeName)
  )
}

function heldBack({ pod }: Attempt, message: string): Refusal {
  return { kind: 'refused', pod, reason: 'Unschedulable', message }
}
