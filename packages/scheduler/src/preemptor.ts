/** Makes room for pods that find none. Contract: docs/behaviour/simulation/scheduler.md, Preemption. */
import { isTerminating } from '@gyropilot/api'
import type { Pod, PodDisruptionBudget } from '@gyropilot/api'
import { integerBetween } from '@gyropilot/foundation'
import type { RandomSource } from '@gyropilot/foundation'
import type { Lister } from '@gyropilot/runtime'
import { NOT_HELPFUL } from './message.ts'
import type { NodeVerdict, PreemptionOutcome } from './message.ts'
import type { NodeIndex } from './node-index.ts'
import type { NodeInfo } from './node-info.ts'
import type { NodeSearch } from './node-search.ts'
import type { Nominations } from './nominations.ts'
import type { PodWrites } from './pod-writes.ts'
import {
  bestCandidate,
  candidatesToFind,
  priorityOf,
  victimsOn,
  whyNotEligible,
} from './preemption.ts'
import type { PreemptionCandidate } from './preemption.ts'
import type { Snapshot } from './snapshot.ts'

interface PreemptorParts {
  readonly nodes: NodeIndex
  readonly search: NodeSearch
  readonly nominations: Nominations
  readonly budgets: Lister<PodDisruptionBudget>
  readonly writes: PodWrites
  readonly random: RandomSource
  /** Ends the preparations for the binding of a pod, by uid, which is tried again then. False: there are none. */
  readonly putBack: (uid: string) => boolean
}

interface PreemptionPlan {
  readonly outcome: PreemptionOutcome
  /** As of PodWrites. */
  readonly nomination?: string
  readonly room?: PreemptionCandidate
}

export class Preemptor {
  readonly #nodes: NodeIndex
  readonly #search: NodeSearch
  readonly #nominations: Nominations
  readonly #budgets: Lister<PodDisruptionBudget>
  readonly #writes: PodWrites
  readonly #random: RandomSource
  readonly #putBack: (uid: string) => boolean

  constructor({ nodes, search, nominations, budgets, writes, random, putBack }: PreemptorParts) {
    this.#nodes = nodes
    this.#search = search
    this.#nominations = nominations
    this.#budgets = budgets
    this.#writes = writes
    this.#random = random
    this.#putBack = putBack
  }

  /** What would make room. Nothing is done yet. */
  plan(pod: Pod, verdicts: readonly NodeVerdict[]): PreemptionPlan {
    const nominated = this.#nodes.get(pod.status?.nominatedNodeName ?? '')
    const text = whyNotEligible(pod, nominated, verdicts)
    if (text !== undefined) return { outcome: { kind: 'not eligible', text } }
    const { candidates, reasons } = this.#candidates(pod, verdicts)
    const best = bestCandidate(candidates)
    if (best === undefined) return { outcome: { kind: 'none', reasons }, nomination: '' }
    return { outcome: { kind: 'victims' }, nomination: best.node, room: best }
  }

  /** Makes the room by taking less important pods away. False: one of them stays. */
  async carryOut(pod: Pod, { node, victims }: PreemptionCandidate): Promise<boolean> {
    // Those that are on their way out need not be told; where all are, others keep what they were promised, as upstream.
    const going = victims.filter((victim) => !isTerminating(victim))
    const evictions = going.map((victim) => this.#takeAway(victim, pod, node))
    if (going.length > 0) this.#takeBack(node, pod)
    return (await Promise.all(evictions)).every((isGone) => isGone)
  }

  async #takeAway(victim: Pod, preemptor: Pod, nodeName: string): Promise<boolean> {
    if (!this.#putBack(victim.metadata?.uid ?? ''))
      return this.#writes.evict(victim, preemptor, nodeName)
    this.#writes.putBack(victim, preemptor, nodeName)
    return true
  }

  /** Nodes where taking pods away helps, and of the others why it does not. */
  #candidates(
    pod: Pod,
    verdicts: readonly NodeVerdict[],
  ): { readonly candidates: readonly PreemptionCandidate[]; readonly reasons: readonly string[] } {
    const rules = {
      verdictOf: (candidate: Pod, info: NodeInfo, snapshot: Snapshot) =>
        this.#search.verdictIfChanged(candidate, info, snapshot),
      budgets: this.#budgets.list(),
    }
    const wanted = candidatesToFind(this.#nodes.nodes.length)
    const offset = verdicts.length > wanted ? integerBetween(this.#random, 0, verdicts.length) : 0
    const candidates: PreemptionCandidate[] = []
    const reasons: string[] = []
    for (let at = 0; at < verdicts.length && candidates.length < wanted; at++) {
      const { node, curable } = verdicts[(offset + at) % verdicts.length]!
      if (!curable) {
        reasons.push(NOT_HELPFUL)
        continue
      }
      const info = this.#nodes.get(node)!
      const found = victimsOn(pod, info, this.#nodes, rules)
      if (found.candidate !== undefined) candidates.push(found.candidate)
      reasons.push(...found.reasons)
    }
    return { candidates, reasons }
  }

  /** Less important pods that were promised room on the node look for another one. */
  #takeBack(nodeName: string, preemptor: Pod): void {
    for (const other of this.#nominations.on(nodeName)) {
      if (priorityOf(other) >= priorityOf(preemptor)) continue
      this.#nominations.drop(other)
      void this.#writes.nominationLost(other)
    }
  }
}
