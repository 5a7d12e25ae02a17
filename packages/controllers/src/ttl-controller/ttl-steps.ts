/**
 * How long a kubelet may keep Secrets and ConfigMaps, by the size of the cluster.
 * Contract: docs/behaviour/controllers/ttl-controller.md, Watches and keys.
 */
interface Step {
  /** Fewer nodes than this: one step down. Below the end of the step before, so that a cluster on the edge does not swing. */
  readonly fromNodes: number
  /** More nodes than this: one step up. */
  readonly toNodes: number
  readonly ttlSeconds: number
}

const STEPS: readonly Step[] = [
  { fromNodes: 0, toNodes: 100, ttlSeconds: 0 },
  { fromNodes: 90, toNodes: 500, ttlSeconds: 15 },
  { fromNodes: 450, toNodes: 1_000, ttlSeconds: 30 },
  { fromNodes: 900, toNodes: 2_000, ttlSeconds: 60 },
  { fromNodes: 1_800, toNodes: 2 ** 31 - 1, ttlSeconds: 300 },
]

/** Counts nodes. The answer depends on the way there: at most one step for each node that comes or goes. */
export class TtlSteps {
  #nodes: number
  #step: number

  /** Where to begin; a controller begins at nothing. */
  constructor(nodes = 0, step = 0) {
    this.#nodes = nodes
    this.#step = step
  }

  get ttlSeconds(): number {
    return STEPS[this.#step]!.ttlSeconds
  }

  added(): void {
    this.#nodes += 1
    if (this.#nodes > STEPS[this.#step]!.toNodes) this.#step += 1
  }

  deleted(): void {
    this.#nodes -= 1
    if (this.#nodes < STEPS[this.#step]!.fromNodes) this.#step -= 1
  }
}
