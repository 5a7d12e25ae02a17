/** What scheduling sees of the cluster at one moment. */
import type { TolerationOptions } from '@gyropilot/api'
import type { NamespaceLabels } from './affinity-terms.ts'
import type { NodeInfo } from './node-info.ts'

export interface Snapshot {
  /** Nodes that have an object. */
  readonly nodes: readonly NodeInfo[]
  /** Those of them with pods that keep others away. */
  readonly repelling: readonly NodeInfo[]
  /** Those with pods that would have others near or far. */
  readonly inclined: readonly NodeInfo[]
  readonly namespaceLabels: NamespaceLabels
  /** How taints and tolerations are compared, by feature gates. */
  readonly tolerationOptions: TolerationOptions
}

export function snapshotOf(
  nodes: readonly NodeInfo[],
  namespaceLabels: NamespaceLabels = () => undefined,
  tolerationOptions: TolerationOptions = {},
): Snapshot {
  return {
    nodes,
    repelling: nodes.filter(({ repelling }) => repelling.size > 0),
    inclined: nodes.filter(({ inclined }) => inclined.size > 0),
    namespaceLabels,
    tolerationOptions,
  }
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

  /** For scores, which are not asked of nodes as they would be. */
  get inclined(): readonly NodeInfo[] {
    return this.nodes.filter(({ inclined }) => inclined.size > 0)
  }

  get namespaceLabels(): NamespaceLabels {
    return this.#base.namespaceLabels
  }

  get tolerationOptions(): TolerationOptions {
    return this.#base.tolerationOptions
  }

  get repelling(): readonly NodeInfo[] {
    if (this.#repelling === undefined) {
      const others = this.#base.repelling.filter((info) => info !== this.#before)
      this.#repelling = this.#after.repelling.size > 0 ? [...others, this.#after] : others
    }
    return this.#repelling
  }
}
