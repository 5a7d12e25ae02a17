/**
 * What a container has written. Nothing is stored: lines follow from when the run started, what its behaviour scripts and
 * what its command prints, so that they survive a restart of the simulation and cost nothing while nobody reads.
 * Contract: docs/behaviour/simulation/kubelet.md, "Endpoints of the kubelet".
 */
import type { Clock, Timer } from '@gyropilot/foundation'
import type { ScriptedLine } from '../behavior/behavior.ts'
import type { LocalContainer } from '../running/local-pod.ts'

export interface LogLine {
  readonly timeMs: number
  readonly text: string
}

export interface LogOptions {
  readonly follow: boolean
  readonly timestamps: boolean
  readonly sinceMs?: number
  readonly tailLines?: number
  readonly limitBytes?: number
}

/** One run of a container: from its start to its end, if it has ended. */
interface LoggedRun {
  readonly startedAtMs: number
  readonly finishedAtMs?: number
}

/** The run that a reader sees; undefined when there was none. */
export function runOf(container: LocalContainer, previous: boolean): LoggedRun | undefined {
  const { state, last } = container
  if (previous) return last
  if (state.state === 'waiting') return last
  return state
}

/** Lines at their offsets from the start, none after the end. */
export function linesOf(run: LoggedRun, script: readonly ScriptedLine[]): readonly LogLine[] {
  const untilMs = run.finishedAtMs ?? Infinity
  return script
    .map(({ atMs, text }) => ({ timeMs: run.startedAtMs + atMs, text }))
    .filter(({ timeMs }) => timeMs <= untilMs)
    .toSorted((a, b) => a.timeMs - b.timeMs)
}

export interface LogSource {
  /** Lines of the run, also those to come as far as they are known. */
  lines(): readonly LogLine[]
  /** Looks further ahead; answers until when lines are then known: Infinity when no others come. */
  lookAhead(): Promise<number>
  /** False: no line comes after those that are there. */
  running(): boolean
  /** Calls back when the container changes. */
  onChange(listener: () => void): () => void
}

/** Reads a log as `kubectl logs` asks for it. */
export class LogReader implements AsyncIterableIterator<string> {
  readonly #source: LogSource
  readonly #options: LogOptions
  readonly #clock: Clock
  readonly #waiting: LogLine[]
  #lastTimeMs: number
  #bytesLeft: number
  #wake: (() => void) | undefined
  #ended = false

  constructor(source: LogSource, options: LogOptions, clock: Clock) {
    this.#source = source
    this.#options = options
    this.#clock = clock
    const nowMs = clock.nowMs()
    const written = source
      .lines()
      .filter(({ timeMs }) => timeMs <= nowMs && timeMs >= (options.sinceMs ?? 0))
    this.#waiting =
      options.tailLines === undefined
        ? written
        : written.slice(Math.max(0, written.length - options.tailLines))
    this.#lastTimeMs = nowMs
    this.#bytesLeft = options.limitBytes ?? Infinity
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  async next(): Promise<IteratorResult<string, undefined>> {
    while (!this.#ended) {
      const line = this.#waiting.shift()
      if (line !== undefined) return { done: false, value: this.#cut(this.#shown(line)) }
      if (!this.#options.follow) break
      await this.#more()
    }
    this.#ended = true
    return { done: true, value: undefined }
  }

  /** Reaches a reader that waits for its next line. */
  async return(): Promise<IteratorResult<string, undefined>> {
    this.#ended = true
    this.#wake?.()
    return { done: true, value: undefined }
  }

  #shown({ timeMs, text }: LogLine): string {
    return this.#options.timestamps
      ? `${new Date(timeMs).toISOString().replace('Z', '000000Z')} ${text}\n`
      : `${text}\n`
  }

  #cut(text: string): string {
    const bytes = Buffer.from(text)
    if (bytes.length < this.#bytesLeft) {
      this.#bytesLeft -= bytes.length
      return text
    }
    this.#ended = true
    return bytes.subarray(0, this.#bytesLeft).toString()
  }

  #comesBefore(untilMs: number): boolean {
    return this.#source.lines().some(({ timeMs }) => timeMs > this.#lastTimeMs && timeMs <= untilMs)
  }

  /** Waits for lines to come; ends the reading when the container has. */
  async #more(): Promise<void> {
    const running = this.#source.running()
    const nowMs = this.#clock.nowMs()
    const lines = this.#source.lines().filter(({ timeMs }) => timeMs > this.#lastTimeMs)
    const due = lines.filter(({ timeMs }) => timeMs <= nowMs)
    this.#lastTimeMs = nowMs
    if (due.length > 0) {
      this.#waiting.push(...due)
      return
    }
    if (!running) {
      this.#ended = true
      return
    }
    const next = lines[0]
    const dueMs = next?.timeMs ?? (await this.#source.lookAhead())
    // What was not known may be due by now.
    if (next === undefined && this.#comesBefore(dueMs)) return
    let timer: Timer | undefined
    let leave: (() => void) | undefined
    await new Promise<void>((resolve) => {
      this.#wake = resolve
      leave = this.#source.onChange(resolve)
      if (Number.isFinite(dueMs))
        timer = this.#clock.after(Math.max(0, dueMs - this.#clock.nowMs()), resolve)
    })
    timer?.cancel()
    leave?.()
  }
}
