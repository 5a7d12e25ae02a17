import { WorkQueue } from '@gyropilot/runtime'

/** Events in their order, each an item of its own: none may be merged with another or overtake it. */
export class EventQueue<Event> extends WorkQueue {
  readonly #events = new Map<string, Event>()
  #sequence = 0

  addEvent(event: Event): void {
    if (this.shuttingDown) return
    const id = String(this.#sequence++)
    this.#events.set(id, event)
    this.add(id)
  }

  /** Hands the event out, once. */
  takeEvent(id: string): Event {
    const event = this.#events.get(id)
    if (event === undefined) throw new Error(`no event is queued as ${id}`)
    this.#events.delete(id)
    return event
  }
}
