/**
 * One try of a pod: the node it gets, or why it gets none. What it takes counts at once; nothing is written, but that devices which hold
 * it elsewhere are given back. Contract: docs/behaviour/simulation/scheduler.md, One try.
 */
import { keyOf } from '@gyropilot/api'
import type { Pod } from '@gyropilot/api'
import { errorText, integerBetween } from '@gyropilot/foundation'
import type { Logger, RandomSource } from '@gyropilot/foundation'
import type { DeviceClaims } from './devices/device-claims.ts'
import { FilterError } from './filters/filter-error.ts'
import { deviceProblemMessage, preFilterMessage, unschedulableMessage } from './message.ts'
import type { NodeIndex } from './node-index.ts'
import type { NodeInfo } from './node-info.ts'
import type { Nominations } from './nominations.ts'
import type { NodeSearch } from './node-search.ts'
import type { PreemptionCandidate } from './preemption.ts'
import type { Preemptor } from './preemptor.ts'
import { bestScored, scoreNodes } from './scores.ts'
import { spreadGroupOf } from './spread-group.ts'
import type { GroupListers } from './spread-group.ts'
import { claimProblem } from './volumes/claims.ts'
import type { AssumedVolumes, VolumeBinder } from './volumes/volume-binder.ts'

export interface Placement {
  readonly kind: 'placed'
  readonly pod: Pod
  readonly node: string
  /** Undefined: all that the pod needs is bound. */
  readonly volumes: AssumedVolumes | undefined
}

export interface Refusal {
  readonly kind: 'refused'
  readonly pod: Pod
  readonly reason: 'Unschedulable' | 'SchedulerError'
  readonly message: string
  /** As of PodWrites. */
  readonly nomination?: string
  /** No event has to come before the next try, only time. */
  readonly isDueAnyway?: true
  /** What taking pods away would give it, on the nominated node. */
  readonly room?: PreemptionCandidate
}

export type Attempt = Placement | Refusal

interface PlacerParts {
  readonly nodes: NodeIndex
  readonly search: NodeSearch
  readonly volumes: VolumeBinder
  readonly devices: DeviceClaims
  readonly preemptor: Preemptor
  readonly nominations: Nominations
  readonly groups: GroupListers
  readonly random: RandomSource
  readonly logger: Logger
}

export class Placer {
  readonly #parts: PlacerParts

  constructor(parts: PlacerParts) {
    this.#parts = parts
  }

  /** What goes wrong with one pod keeps no other from its node. */
  attempt(pod: Pod): Attempt {
    try {
      return this.#attempt(pod)
    } catch (error) {
      this.#parts.logger.error(error, 'Error scheduling pod', { pod: keyOf(pod) })
      this.#parts.nodes.unplace(pod.metadata?.uid ?? '')
      return refused(pod, 'SchedulerError', errorText(error))
    }
  }

  /**
   * Each finds what the ones before it left, and where they would take others away, that room too. Until something is done about it the
   * rooms of those that were placed count, and no others.
   */
  attemptTogether(pods: readonly Pod[]): readonly Attempt[] {
    const supposed: (() => void)[] = []
    const { devices, nominations } = this.#parts
    devices.together(pods)
    nominations.setAside(pods)
    const attempts = pods.map((pod) => {
      const attempt = this.attempt(pod)
      if (attempt.kind === 'refused' && attempt.room !== undefined)
        supposed.push(this.#suppose(pod, attempt.room))
      return attempt
    })
    for (const undo of supposed.toReversed()) undo()
    devices.together([])
    nominations.setAside([])
    return attempts
  }

  /** The pod has its room, and those that are in its way are gone. Answers how to undo it. */
  #suppose(pod: Pod, { node, victims }: PreemptionCandidate): () => void {
    const { nodes } = this.#parts
    for (const victim of victims) nodes.unplace(victim.metadata?.uid ?? '')
    nodes.place(pod, node)
    return () => {
      nodes.unplace(pod.metadata?.uid ?? '')
      for (const victim of victims) nodes.place(victim, node)
    }
  }

  /** What the pod took is free again. Before anything of it is written. */
  takeBack({ pod, volumes }: Placement): void {
    if (volumes !== undefined) this.#parts.volumes.forget(volumes)
    this.#parts.devices.takeBack(pod)
    this.#parts.nodes.unplace(pod.metadata?.uid ?? '')
  }

  #attempt(pod: Pod): Attempt {
    const { nodes, search, volumes, devices, preemptor } = this.#parts
    const all = nodes.nodes.length
    const problem = claimProblem(pod, volumes.listers)
    if (problem !== undefined && all > 0)
      return refused(pod, 'Unschedulable', preFilterMessage(problem, all), '')
    const deviceProblem = devices.problem(pod)
    if (deviceProblem !== undefined && all > 0)
      return refused(pod, 'Unschedulable', deviceProblemMessage(deviceProblem, all), '')
    const found = search.of(pod)
    if (found instanceof FilterError) return refused(pod, 'SchedulerError', found.message)
    const { feasible, verdicts } = found
    if (feasible.length === 0) {
      const claims = devices.reconsider(pod, verdicts)
      const { outcome, ...planned } = preemptor.plan(pod, verdicts)
      const message = unschedulableMessage(verdicts, outcome, claims)
      return { ...refused(pod, 'Unschedulable', message), ...planned }
    }
    const chosen = this.#choose(pod, feasible)
    devices.promise(pod, chosen)
    nodes.place(pod, chosen.name)
    return { kind: 'placed', pod, node: chosen.name, volumes: volumes.assume(pod, chosen.node!) }
  }

  #choose(pod: Pod, feasible: readonly NodeInfo[]): NodeInfo {
    if (feasible.length === 1) return feasible[0]!
    const { nodes, groups, random } = this.#parts
    const scores = scoreNodes(pod, nodes, feasible, spreadGroupOf(pod, groups))
    const ties = bestScored(feasible, scores)
    return ties[integerBetween(random, 0, ties.length)]!
  }
}

function refused(
  pod: Pod,
  reason: Refusal['reason'],
  message: string,
  nomination?: string,
): Refusal {
  return {
    kind: 'refused',
    pod,
    reason,
    message,
    ...(nomination === undefined ? {} : { nomination }),
  }
}
