/**
 * A process that can be killed, paused and started again. Killing it is not stopping it: no cleanup runs, its timers never
 * fire and its answers never come, while what it sent is still on its way.
 */
import { sleep } from '@gyropilot/foundation'
import type { Clock, RandomSource } from '@gyropilot/foundation'
import { ProcessClock } from './process-clock.ts'
import type { Gate } from './process-clock.ts'

/** One life of a process, from start to death. */
export class Incarnation implements Gate {
  /** `controller-manager-1#2` is the third life of the process. */
  readonly id: string
  readonly process: string
  readonly clock: ProcessClock
  readonly random: RandomSource
  /** As whom it contends for leadership; empty: it does not. */
  identity = ''
  /** Name of the Lease that it contends for. */
  leaseName = ''
  readonly #world: Clock
  readonly #lifetime = new AbortController()
  #gone = false
  #paused = false
  #held: { readonly kind: 'timer' | 'network'; readonly callback: () => void }[] = []
  readonly #onGone = new Set<() => void>()

  constructor(process: string, life: number, world: Clock, random: RandomSource) {
    this.process = process
    this.id = `${process}#${life}`
    this.#world = world
    this.clock = new ProcessClock(world, this)
    this.random = random.fork(`${process}/life/${life}`)
  }

  get isGone(): boolean {
    return this.#gone
  }

  get isPaused(): boolean {
    return this.#paused
  }

  /** Aborts on an orderly stop only. */
  get signal(): AbortSignal {
    return this.#lifetime.signal
  }

  pass(kind: 'timer' | 'network', callback: () => void): void {
    if (this.#gone) return
    if (this.#paused) this.#held.push({ kind, callback })
    else callback()
  }

  /** Connections end with their process. Answers what takes the callback back: a life outlives its requests. */
  onGone(callback: () => void): () => void {
    if (this.#gone) callback()
    else this.#onGone.add(callback)
    return () => this.#onGone.delete(callback)
  }

  kill(): void {
    if (this.#gone) return
    this.#gone = true
    this.#held = []
    for (const callback of this.#onGone) callback()
    this.#onGone.clear()
  }

  pause(): void {
    this.#paused = true
  }

  /** A pause in which its clock stands still as well, but for the wall clock. */
  suspend(): void {
    this.pause()
    this.clock.suspend()
  }

  /** What came due meanwhile happens now, in an order that the process cannot choose: timers first, or the network first. */
  resume(): void {
    if (!this.#paused) return
    this.#paused = false
    this.clock.wake()
    const held = this.#held
    this.#held = []
    const first = this.random.next() < 0.5 ? 'timer' : 'network'
    const inOrder = [
      ...held.filter(({ kind }) => kind === first),
      ...held.filter(({ kind }) => kind !== first),
    ]
    for (const { kind, callback } of inOrder) this.#world.after(0, () => this.pass(kind, callback))
  }

  stop(): void {
    this.#lifetime.abort(new Error('the process is stopped'))
  }
}

/** What a process does with one life. Resolving or rejecting ends it; it is then started again. */
export type Program = (life: Incarnation) => Promise<void>

interface SimulatedProcessOptions {
  readonly name: string
  readonly clock: Clock
  readonly random: RandomSource
  /** How long after its death a process is started again. */
  readonly restartDelayMs: number
  readonly program: Program
  readonly onEnded?: (life: Incarnation, error: unknown) => void
}

/** Keeps one program running, life after life. */
export class SimulatedProcess {
  readonly name: string
  readonly #options: SimulatedProcessOptions
  #life: Incarnation | undefined
  #lives = 0
  #stopped = false
  #downMs: number | undefined
  #running: Promise<void> = Promise.resolve()

  constructor(options: SimulatedProcessOptions) {
    this.name = options.name
    this.#options = options
  }

  /** Undefined between two lives. */
  get life(): Incarnation | undefined {
    return this.#life
  }

  get lives(): number {
    return this.#lives
  }

  start(): void {
    const { name, clock, random, program, onEnded } = this.#options
    if (this.#stopped || this.#life !== undefined) return
    const life = new Incarnation(name, this.#lives++, clock, random)
    this.#life = life
    life.onGone(() => this.#ended(life))
    const ended = (error: unknown): void => {
      if (life.isGone) return
      onEnded?.(life, error)
      life.kill()
    }
    this.#running = program(life).then(() => ended(undefined), ended)
  }

  /** Without any cleanup; a new life begins after the restart delay, or after `downMs`. */
  crash(downMs?: number): void {
    if (this.#life === undefined) return
    this.#downMs = downMs
    this.#life.kill()
  }

  /** SIGSTOP, and SIGCONT after `forMs`. */
  pause(forMs: number): void {
    const life = this.#life
    if (life === undefined || life.isPaused) return
    life.pause()
    this.#options.clock.after(forMs, () => life.resume())
  }

  /** Its machine falls asleep, and wakes up after `forMs`: its timers and its monotonic clock know nothing of it. */
  suspend(forMs: number): void {
    const life = this.#life
    if (life === undefined || life.isPaused) return
    life.suspend()
    this.#options.clock.after(forMs, () => life.resume())
  }

  /** In order; no further life. */
  async stop(): Promise<void> {
    this.#stopped = true
    const life = this.#life
    if (life === undefined) return
    life.resume()
    life.stop()
    await Promise.race([this.#running, sleep(this.#options.clock, 60_000)])
    life.kill()
    this.#life = undefined
  }

  #ended(life: Incarnation): void {
    const { clock, restartDelayMs } = this.#options
    const downMs = this.#downMs ?? restartDelayMs
    this.#downMs = undefined
    if (this.#life !== life) return
    this.#life = undefined
    if (!this.#stopped) clock.after(downMs, () => this.start())
  }
}
