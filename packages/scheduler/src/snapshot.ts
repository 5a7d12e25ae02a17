/** What scheduling sees of the cluster at one moment. */
import type { NodeInfo } from './node-info.ts'

export interface Snapshot {
  /** Nodes that have an object. */
  readonly nodes: readonly NodeInfo[]
  /** Those of them with pods that keep others away. */
  readonly repelling: readonly NodeInfo[]
}

export function snapshotOf(nodes: readonly NodeInfo[]): Snapshot {
  return { nodes, repelling: nodes.filter(({ repelling }) => repelling.size > 0) }
}

/** The snapshot with one node as it would be. Lists are made when somebody asks: most filters look at one node only. */
export class ChangedSnapshot implements Snapshot {
  readonly #base: Snapshot
  readonly #before: NodeInfo
  readonly #after: NodeInfo
  #nodes: readonly NodeInfo[] | undefined
  #repelling: readonly NodeInfo[] | undefined

  constructor(base: Snapshot, before: NodeInfo, after: NodeInfo) {
    this.#base = base
    this.#before = before
    this.#after = after
  }

  get nodes(): readonly NodeInfo[] {
    this.#nodes ??= this.#base.nodes.map((info) => (info === this.#before ? this.#after : info))
    return this.#nodes
  }

  get repelling(): readonly NodeInfo[] {
    if (this.#repelling === undefined) {
      const others = this.#base.repelling.filter((info) => info !== this.#before)
      this.#repelling = this.#after.repelling.size > 0 ? [...others, this.#after] : others
    }
    return this.#repelling
  }
}
