/** The search for nodes of a pod, and judgements of nodes as they would be. Contract: docs/behaviour/simulation/scheduler.md, One try. */
import type { Pod } from '@gyropilot/api'
import { findFeasible, findNamed, namedNodes, verdictBy } from './feasible-nodes.ts'
import type { Search } from './feasible-nodes.ts'
import { FilterError } from './filters/filter-error.ts'
import { prepared, preparing } from './filters/index.ts'
import type { NamedFilter } from './filters/index.ts'
import type { NodeVerdict } from './message.ts'
import type { NodeIndex } from './node-index.ts'
import type { NodeInfo } from './node-info.ts'
import type { Nominations } from './nominations.ts'
import { priorityOf } from './preemption.ts'
import { ChangedSnapshot } from './snapshot.ts'
import type { Snapshot } from './snapshot.ts'

export class NodeSearch {
  readonly #filters: readonly NamedFilter[]
  readonly #nodes: NodeIndex
  readonly #nominations: Nominations
  /** Where the next search among all nodes begins. */
  #startIndex = 0

  constructor(filters: readonly NamedFilter[], nodes: NodeIndex, nominations: Nominations) {
    this.#filters = filters
    this.#nodes = nodes
    this.#nominations = nominations
  }

  /** An error of a filter is what the search came to. */
  of(pod: Pod): Pick<Search, 'feasible' | 'verdicts'> | FilterError {
    try {
      return this.#searched(pod)
    } catch (error) {
      if (error instanceof FilterError) return error
      throw error
    }
  }

  /** The node that the pod was promised is taken when it fits; else the search goes on where the last one ended. */
  #searched(pod: Pod): Pick<Search, 'feasible' | 'verdicts'> {
    const own = prepared(this.#filters, pod, this.#nodes)
    const verdictOf = (info: NodeInfo): NodeVerdict | undefined =>
      verdictBy(own, info) ?? this.#promisedVerdict(pod, info, this.#nodes)
    const promised = this.#nodes.get(pod.status?.nominatedNodeName ?? '')
    if (promised?.node !== undefined && verdictOf(promised) === undefined)
      return { feasible: [promised], verdicts: [] }
    const names = namedNodes(pod)
    if (names !== undefined)
      return findNamed(names, this.#nodes, (name) => this.#nodes.get(name), verdictOf)
    const { nodes } = this.#nodes
    const search = findFeasible(nodes, this.#startIndex, verdictOf)
    this.#startIndex = nodes.length === 0 ? 0 : (this.#startIndex + search.looked) % nodes.length
    return search
  }

  /** Pods as important that were promised room on the node count there, though they are not there yet. */
  #promisedVerdict(pod: Pod, info: NodeInfo, snapshot: Snapshot): NodeVerdict | undefined {
    if (this.#nominations.isEmpty) return undefined
    const promised = this.#nominations
      .on(info.name)
      .filter(
        (other) =>
          other.metadata?.uid !== pod.metadata?.uid && priorityOf(other) >= priorityOf(pod),
      )
    if (promised.length === 0) return undefined
    const full = info.with(promised)
    const changed = new ChangedSnapshot(snapshot, info, full)
    return verdictBy(preparing(this.#filters, pod, changed), full)
  }

  /** Of a node as it would be. One that cannot be judged would not do. */
  verdictIfChanged(pod: Pod, info: NodeInfo, snapshot: Snapshot): NodeVerdict | undefined {
    try {
      return (
        verdictBy(preparing(this.#filters, pod, snapshot), info) ??
        this.#promisedVerdict(pod, info, snapshot)
      )
    } catch (error) {
      if (!(error instanceof FilterError)) throw error
      return { node: info.name, reasons: [error.message], curable: false }
    }
  }
}
