import { Fifo } from '@gyropilot/foundation'
import type { QueueItem, WorkQueue } from './workqueue/queue.ts'

/** Answers that work without a worker waits for, at most, for each worker: servers have a bound on writes under way (200 by default). */
const AWAY_PER_WORKER = 3

/** What a worker is told of: that its work has ended or stepped aside, or has failed. */
interface Occupation {
  readonly release: () => void
  readonly fail: (error: unknown) => void
}

/** Work that wants a worker again. */
interface Aside {
  readonly item: QueueItem
  /** Its turn has come when so many keys were taken. */
  readonly afterTaken: number
}

/** Waits for an answer beside the workers: resolves when it has come, whatever it is, and every key that was ready then has begun. */
export type StepAside = (answer: Promise<unknown>) => Promise<void>

/**
 * Between a queue and its workers: work on a key that waits for an answer may step aside meanwhile, and until every key that was ready
 * when the answer came has begun. Its worker takes the next key, so that no more is worked on than there are workers, and some answers
 * more are awaited; the key stays with the work, so that nobody else gets it. It waits for what was ready and not for what comes later:
 * nothing starves.
 */
export class SteppingAside {
  readonly #queue: WorkQueue
  readonly #mostAway: number
  readonly #aside = new Fifo<Aside>()
  /** By key: work that has no worker, and how it goes on when it gets one. Undefined while its answer is awaited. */
  readonly #apart = new Map<string, ((occupation: Occupation) => void) | undefined>()
  /** How many wait for their answer. */
  #away = 0
  #taken = 0
  /** The queue was asked for a key for whoever is free when it comes. */
  #isAsked = false
  #came: { readonly item: QueueItem | undefined } | undefined
  /** Workers that wait for a key or for an answer, the first first. */
  readonly #idle: (() => void)[] = []

  constructor(queue: WorkQueue, workers: number) {
    this.#queue = queue
    this.#mostAway = workers * AWAY_PER_WORKER
  }

  /** Work that stepped aside when its turn has come, else the next key of the queue. */
  async get(): Promise<QueueItem | undefined> {
    for (;;) {
      const item = this.#nextAside() ?? this.#arrived()
      if (item !== undefined || this.#hasEnded) {
        this.#wake()
        return item
      }
      // With no answer to wait for, the queue alone tells.
      if (this.#away === 0 && !this.#isAsked) {
        const next = await this.#queue.get()
        this.#taken++
        // Others may wait since there were answers to wait for.
        this.#wake()
        return next
      }
      this.#ask()
      await new Promise<void>((wake) => this.#idle.push(wake))
    }
  }

  /** Gives the key back, unless its work has only stepped aside. */
  done(key: string): void {
    if (!this.#apart.has(key)) this.#queue.done(key)
  }

  /** Settles when the work ends or steps aside. `begin` is called once for each item of the queue. */
  work(item: QueueItem, begin: (stepAside: StepAside) => Promise<void>): Promise<void> {
    return new Promise((release, fail) => {
      const occupation = { release, fail }
      const resume = this.#apart.get(item.key)
      if (resume === undefined) {
        this.#begin(item, occupation, begin)
        return
      }
      this.#apart.delete(item.key)
      resume(occupation)
    })
  }

  #begin(item: QueueItem, first: Occupation, begin: (stepAside: StepAside) => Promise<void>): void {
    let occupation = first
    const leave = (): void => {
      this.#apart.set(item.key, undefined)
      occupation.release()
    }
    const comeBack = (): Promise<void> =>
      new Promise((goOn) => {
        this.#apart.set(item.key, (next) => {
          occupation = next
          goOn()
        })
        this.#aside.push({ item, afterTaken: this.#taken + this.#queue.length })
        this.#wake()
      })
    begin(async (answer) => {
      if (this.#away < this.#mostAway) {
        leave()
        await this.#awayFor(answer)
        return comeBack()
      }
      await settled(answer)
      if (this.#queue.length === 0) return
      leave()
      return comeBack()
    }).then(
      () => occupation.release(),
      (error: unknown) => occupation.fail(error),
    )
  }

  async #awayFor(answer: Promise<unknown>): Promise<void> {
    this.#away++
    await settled(answer)
    this.#away--
  }

  #nextAside(): QueueItem | undefined {
    const first = this.#aside.peek()
    if (first === undefined || first.afterTaken > this.#taken) return undefined
    this.#aside.shift()
    return first.item
  }

  /** The key that came for whoever is free. */
  #arrived(): QueueItem | undefined {
    const item = this.#came?.item
    if (item === undefined) return undefined
    this.#came = undefined
    this.#taken++
    return item
  }

  /** What is away still needs a worker when the queue has ended. */
  get #hasEnded(): boolean {
    return this.#came !== undefined && this.#away === 0
  }

  #ask(): void {
    if (this.#isAsked || this.#came !== undefined) return
    this.#isAsked = true
    void this.#queue.get().then((item) => {
      this.#isAsked = false
      this.#came = { item }
      this.#wake()
    })
  }

  /** One is enough for a key or an answer: it wakes the next, for which there may be more. */
  #wake(): void {
    this.#idle.shift()?.()
  }
}

function settled(answer: Promise<unknown>): Promise<unknown> {
  return answer.catch(() => undefined)
}
