import { RateLimitingQueue } from '@gyropilot/runtime'
import type { QueueItem, Reason } from '@gyropilot/runtime'
import type { GraphNode } from './graph-node.ts'

/**
 * A queue of nodes rather than names: a virtual node and the node that took its place are different items. A node is kept
 * for as long as it is queued, delayed or at a worker, though the graph may have dropped it.
 */
export class NodeQueue extends RateLimitingQueue {
  readonly #nodes = new Map<string, GraphNode>()
  readonly #queued = new Set<string>()
  readonly #delayed = new Set<string>()

  addNode(node: GraphNode, reason?: Reason): void {
    if (this.shuttingDown) return
    this.#nodes.set(node.id, node)
    this.#queued.add(node.id)
    super.add(node.id, reason)
  }

  addNodeRateLimited(node: GraphNode, reason?: Reason): void {
    if (this.shuttingDown) return
    this.#nodes.set(node.id, node)
    this.#delayed.add(node.id)
    this.addRateLimited(node.id, reason)
  }

  /** Only delays end here: everything else comes in by `addNode`. */
  override add(id: string, reason?: Reason): void {
    this.#delayed.delete(id)
    this.#queued.add(id)
    super.add(id, reason)
  }

  override take(): QueueItem | undefined {
    const item = super.take()
    if (item !== undefined) this.#queued.delete(item.key)
    return item
  }

  override done(id: string): void {
    super.done(id)
    if (!this.#queued.has(id) && !this.#delayed.has(id)) this.#nodes.delete(id)
  }

  node(id: string): GraphNode {
    const node = this.#nodes.get(id)
    if (node === undefined) throw new Error(`no node is queued as ${id}`)
    return node
  }

  /** Nodes that are queued, delayed or at a worker. */
  get held(): number {
    return this.#nodes.size
  }
}
