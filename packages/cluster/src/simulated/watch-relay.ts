/** Carries the events of one watch to its reader: in order, each after its own delay, until somebody ends it. */
import type { KubernetesObject, WatchEvent } from '@gyropilot/api'
import { TransportError } from '@gyropilot/client'
import type { Clock } from '@gyropilot/foundation'
import type { Gate } from './process-clock.ts'

type Event = WatchEvent<KubernetesObject>

/** Where an event goes, by who decides on faults. `gap`: this one and what follows is lost, the reader is told 410. */
export type EventFate =
  | { readonly fate: 'deliver'; readonly dueMs: number }
  | { readonly fate: 'break' }
  | { readonly fate: 'gap' }

interface WatchRelayOptions {
  readonly clock: Clock
  readonly gate: Gate
  fateOf(event: Event): EventFate
  onDelivered(event: Event): void
  /** The reader stopped, or the watch ended. */
  onEnd(): void
}

export class WatchRelay implements AsyncIterable<Event> {
  readonly #options: WatchRelayOptions
  #travelling: { readonly event: Event; readonly dueMs: number }[] = []
  #arrived: Event[] = []
  #lastDueMs = 0
  #timerIsSet = false
  #end: { readonly error?: Error } | undefined
  #sourceEnded = false
  #wake: (() => void) | undefined

  constructor(options: WatchRelayOptions) {
    this.#options = options
  }

  /** Takes what the server sends until it ends. */
  async pump(source: AsyncIterable<Event>): Promise<void> {
    for await (const event of source) {
      if (this.#sourceEnded) break
      const fate = this.#options.fateOf(event)
      if (fate.fate === 'deliver') this.#send(event, fate.dueMs)
      else {
        if (fate.fate === 'gap') this.#send(expired(), this.#lastDueMs)
        break
      }
    }
    this.#sourceEnded = true
    this.#finishWhenEmpty()
  }

  /** The connection breaks: what travels is lost. */
  reset(): void {
    if (this.#end !== undefined) return
    this.#sourceEnded = true
    this.#travelling = []
    this.#options.gate.pass('network', () => {
      const error = new TransportError('ECONNRESET', 'read ECONNRESET')
      this.#end ??= { error }
      this.#wakeUp()
    })
    this.#options.onEnd()
  }

  #send(event: Event, dueMs: number): void {
    this.#lastDueMs = Math.max(this.#lastDueMs, dueMs, this.#options.clock.monotonicMs())
    this.#travelling.push({ event, dueMs: this.#lastDueMs })
    this.#setTimer()
  }

  #setTimer(): void {
    const [next] = this.#travelling
    if (this.#timerIsSet || next === undefined) return
    this.#timerIsSet = true
    const { clock } = this.#options
    clock.after(next.dueMs - clock.monotonicMs(), () => {
      this.#timerIsSet = false
      this.#arrive()
      this.#setTimer()
      this.#finishWhenEmpty()
    })
  }

  #arrive(): void {
    const nowMs = this.#options.clock.monotonicMs()
    let count = 0
    while (count < this.#travelling.length && this.#travelling[count]!.dueMs <= nowMs) count++
    if (count === 0) return
    const due = this.#travelling.splice(0, count)
    this.#options.gate.pass('network', () => {
      for (const { event } of due) {
        this.#arrived.push(event)
        this.#options.onDelivered(event)
      }
      this.#wakeUp()
    })
  }

  #finishWhenEmpty(): void {
    if (!this.#sourceEnded || this.#travelling.length > 0 || this.#end !== undefined) return
    this.#options.gate.pass('network', () => {
      this.#end ??= {}
      this.#wakeUp()
    })
    this.#options.onEnd()
  }

  #wakeUp(): void {
    this.#wake?.()
    this.#wake = undefined
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Event> {
    try {
      for (;;) {
        const events = this.#arrived
        this.#arrived = []
        for (const event of events) yield event
        if (this.#arrived.length > 0) continue
        if (this.#end?.error !== undefined) throw this.#end.error
        if (this.#end !== undefined) return
        await new Promise<void>((resolve) => (this.#wake = resolve))
      }
    } finally {
      this.#sourceEnded = true
      this.#travelling = []
      this.#options.onEnd()
    }
  }
}

function expired(): Event {
  return {
    type: 'ERROR',
    object: {
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      message: 'too old resource version: the watch fell behind what is kept',
      reason: 'Expired',
      code: 410,
    },
  } as Event
}
