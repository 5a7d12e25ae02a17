/**
 * The standard streams of a program that people may attach to: what they type reaches it, what it says reaches them and is
 * kept for its log. Contract: docs/behaviour/simulation/kubelet.md, "Commands" (attach).
 */
import type { ScriptedLine } from '../behavior/behavior.ts'
import { Input } from '../shell/input.ts'
import { PrintedLines } from './printed-lines.ts'

/** Pieces that wait for the program: who types more waits until it has read some. */
const MOST_TYPED = 1_000

type Listener = (bytes: Uint8Array) => Promise<void>

export class ProgramConsole {
  readonly startedAtMs: number
  /** Of the program. */
  readonly input: Input
  readonly #nowMs: () => number
  readonly #printed = new PrintedLines()
  readonly #listeners = new Set<Listener>()
  readonly #watchers = new Set<() => void>()
  readonly #typed: Uint8Array[] = []
  #wasHeard = false
  #isClosed = false
  #isOver = false
  #isAwaited = false

  constructor(startedAtMs: number, nowMs: () => number) {
    this.startedAtMs = startedAtMs
    this.#nowMs = nowMs
    this.input = new Input(this.#reading())
  }

  /** Its log so far; a line that it is still saying comes into it when it ends. */
  get lines(): readonly ScriptedLine[] {
    return this.#isOver ? this.#printed.lines : this.#printed.wholeLines
  }

  /** What it has said since its last line break, which its log does not have yet. */
  get unfinishedLine(): string {
    return this.#printed.unfinishedLine
  }

  /** Somebody has listened. */
  get wasHeard(): boolean {
    return this.#wasHeard
  }

  /** By the program; resolves when everybody who is attached has it. */
  async print(bytes: Uint8Array): Promise<void> {
    this.#printed.add(this.#nowMs() - this.startedAtMs, Buffer.from(bytes).toString())
    this.#changed()
    await Promise.all([...this.#listeners].map((listener) => listener(bytes)))
  }

  /** From now on; answers how to stop. */
  listen(listener: Listener): () => void {
    this.#wasHeard = true
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Calls back when something was printed, read or ended; answers how to stop. */
  watch(watcher: () => void): () => void {
    this.#watchers.add(watcher)
    return () => this.#watchers.delete(watcher)
  }

  /** Resolves when there is room for more. */
  async type(bytes: Uint8Array): Promise<void> {
    if (this.#isClosed || this.#isOver) return
    this.#typed.push(bytes)
    this.#changed()
    await this.#until(() => this.#typed.length < MOST_TYPED)
  }

  /** Nobody will type any more: the program sees the end of its input. */
  close(): void {
    this.#isClosed = true
    this.#changed()
  }

  /** Resolves when the program has read all that was typed and waits for more, or is over. */
  allRead(): Promise<void> {
    return this.#until(() => this.#typed.length === 0 && (this.#isAwaited || this.#isClosed))
  }

  /** Resolves when nothing comes and goes any more. */
  over(): Promise<void> {
    return this.#until(() => false)
  }

  /** The run has ended, or was none that can be simulated. */
  end(): void {
    this.#isOver = true
    this.#changed()
  }

  /** Resolves when it holds, or all is over. */
  async #until(holds: () => boolean): Promise<void> {
    while (!holds() && !this.#isOver) {
      const { promise, resolve } = Promise.withResolvers<void>()
      const leave = this.watch(resolve)
      await promise
      leave()
    }
  }

  async *#reading(): AsyncGenerator<Uint8Array> {
    for (;;) {
      const chunk = this.#typed.shift()
      if (chunk !== undefined) {
        this.#changed()
        yield chunk
      } else if (this.#isClosed || this.#isOver) {
        return
      } else {
        this.#isAwaited = true
        this.#changed()
        await this.#until(() => this.#typed.length > 0 || this.#isClosed)
        this.#isAwaited = false
      }
    }
  }

  #changed(): void {
    for (const watcher of this.#watchers) watcher()
  }
}
