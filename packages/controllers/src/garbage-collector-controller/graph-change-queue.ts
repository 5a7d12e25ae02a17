import { WorkQueue } from '@gyropilot/runtime'
import type { GraphEvent } from './dependency-graph.ts'

/** Graph events in their order, each an item of its own: none may be merged with another or overtake it. */
export class GraphChangeQueue extends WorkQueue {
  readonly #events = new Map<string, GraphEvent>()
  #sequence = 0

  addEvent(event: GraphEvent): void {
    if (this.shuttingDown) return
    const id = String(this.#sequence++)
    this.#events.set(id, event)
    this.add(id)
  }

  /** Hands the event out, once. */
  takeEvent(id: string): GraphEvent {
    const event = this.#events.get(id)
    if (event === undefined) throw new Error(`no graph change is queued as ${id}`)
    this.#events.delete(id)
    return event
  }
}
