/** Something a manager runs. */
export interface Runnable {
  /** Runs until `signal` aborts. May end earlier; a rejection ends the manager. */
  start(signal: AbortSignal): Promise<void>
  /** Default true: only on the leader. */
  readonly needLeaderElection?: boolean
  /** Called before leadership, to be ready when it comes. */
  warmup?(signal: AbortSignal): Promise<void>
}

/** Runnables that start and stop together. */
export class RunnableGroup {
  readonly #start: (runnable: Runnable, signal: AbortSignal) => Promise<void>
  readonly #onError: (error: unknown) => void
  readonly #waiting: Runnable[] = []
  readonly #running = new Set<Promise<void>>()
  readonly #stop = new AbortController()
  #started = false

  constructor(
    onError: (error: unknown) => void,
    start: (runnable: Runnable, signal: AbortSignal) => Promise<void> = (runnable, signal) =>
      runnable.start(signal),
  ) {
    this.#onError = onError
    this.#start = start
  }

  /** Started at once where the group has started. */
  add(runnable: Runnable): void {
    if (this.#started) this.#run(runnable)
    else this.#waiting.push(runnable)
  }

  start(): void {
    this.#started = true
    for (const runnable of this.#waiting.splice(0)) this.#run(runnable)
  }

  /** Resolves when all have ended. What is added afterwards does not run. */
  async stop(): Promise<void> {
    this.#stop.abort(new Error('the manager stops'))
    while (this.#running.size > 0) await Promise.all(this.#running)
  }

  #run(runnable: Runnable): void {
    const { signal } = this.#stop
    if (signal.aborted) return
    const ended = Promise.resolve()
      .then(() => this.#start(runnable, signal))
      .catch((error: unknown) => this.#onError(error))
      .finally(() => this.#running.delete(ended))
    this.#running.add(ended)
  }
}
