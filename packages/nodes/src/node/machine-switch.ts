/** Turns the machine of a node off and on as the node's document says: at once, and at the moments that it names. */
import type { Node } from '@gyropilot/api'
import type { Clock, Timer } from '@gyropilot/foundation'
import { NODE_ANNOTATION, isOff, nextChangeMs, outagesOf } from './node-document.ts'
import type { Outage } from './node-document.ts'

interface MachineSwitchOptions {
  readonly clock: Clock
  /** Resolves when the machine is up. `life` ends when it is turned off again; `wasOff`: everything on it has died. */
  turnOn(life: AbortSignal, wasOff: boolean): Promise<void>
  turnOff(): void
  failed(error: unknown): void
  /** Something in the document cannot be used. */
  complain(problem: string): void
}

/** Longer waits are looked at again. */
const LONGEST_WAIT_MS = 86_400_000

export class MachineSwitch {
  readonly #options: MachineSwitchOptions
  #outages: readonly Outage[] = []
  #text: string | undefined
  #life: AbortController | undefined
  #timer: Timer | undefined
  #begun = false
  #ended = false
  #wasOff = false

  constructor(options: MachineSwitchOptions) {
    this.#options = options
  }

  /** Reads what the node's document says now. */
  read(node: Node): void {
    const text = node.metadata?.annotations?.[NODE_ANNOTATION]
    if (text === this.#text) return
    this.#text = text
    this.#outages = outagesOf(node, (problem) => this.#options.complain(problem))
    if (this.#begun) this.#apply()
  }

  /** Resolves when the machine is up, or at once where it is off. */
  async start(): Promise<void> {
    this.#begun = true
    await this.#apply()
  }

  /** For good, and without turning off: the process ends. */
  stop(): void {
    this.#ended = true
    this.#timer?.cancel()
    this.#end()
  }

  #apply(): Promise<void> | undefined {
    if (this.#ended) return undefined
    const { clock } = this.#options
    const nowMs = clock.nowMs()
    this.#timer?.cancel()
    this.#timer = undefined
    const nextMs = nextChangeMs(this.#outages, nowMs)
    if (nextMs !== undefined) {
      const waitMs = Math.min(nextMs - nowMs, LONGEST_WAIT_MS)
      this.#timer = clock.after(waitMs, () => void this.#apply())
    }
    if (isOff(this.#outages, nowMs)) this.#end()
    else if (this.#life === undefined) return this.#begin()
    return undefined
  }

  #begin(): Promise<void> {
    const life = new AbortController()
    this.#life = life
    return this.#options.turnOn(life.signal, this.#wasOff).catch((error: unknown) => {
      if (!life.signal.aborted) this.#options.failed(error)
    })
  }

  #end(): void {
    this.#wasOff = true
    if (this.#life === undefined) return
    this.#life.abort(new Error('the machine is off'))
    this.#life = undefined
    this.#options.turnOff()
  }
}
