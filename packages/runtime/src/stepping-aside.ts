import { Deque } from '@gyropilot/foundation'
import type { QueueItem, WorkQueue } from './workqueue/queue.ts'

/** What a worker is told of: that its work has ended or stepped aside, or has failed. */
interface Occupation {
  readonly release: () => void
  readonly fail: (error: unknown) => void
}

/** Work that stepped aside. */
interface Aside {
  readonly item: QueueItem
  /** Its turn has come when so many keys were taken. */
  readonly afterTaken: number
}

/**
 * Between a queue and its workers: work on a key may step aside until every key that was ready then has begun. Its worker takes the
 * next key meanwhile, so that no more is under way than there are workers; the key stays with the work, so that nobody else gets it.
 * It waits for what was ready and not for what comes later: nothing starves.
 */
export class SteppingAside {
  readonly #queue: WorkQueue
  readonly #aside = new Deque<Aside>()
  /** By key: how work that is aside, or just handed out again, goes on. */
  readonly #resumes = new Map<string, (occupation: Occupation) => void>()
  #taken = 0

  constructor(queue: WorkQueue) {
    this.#queue = queue
  }

  /** Work that stepped aside when its turn has come or no key is ready, else the next key of the queue. */
  async get(): Promise<QueueItem | undefined> {
    const first = this.#aside.peekFront()
    if (first !== undefined && (first.afterTaken <= this.#taken || this.#queue.length === 0)) {
      this.#aside.popFront()
      return first.item
    }
    const item = await this.#queue.get()
    this.#taken++
    return item
  }

  /** Gives the key back, unless its work has only stepped aside. */
  done(key: string): void {
    if (!this.#resumes.has(key)) this.#queue.done(key)
  }

  /** Settles when the work ends or steps aside. `begin` is called once for each item of the queue; with nothing ready, `stepAside` goes on at once. */
  work(
    item: QueueItem,
    begin: (stepAside: () => Promise<void> | undefined) => Promise<void>,
  ): Promise<void> {
    return new Promise((release, fail) => {
      const occupation = { release, fail }
      const resume = this.#resumes.get(item.key)
      if (resume === undefined) {
        this.#begin(item, occupation, begin)
        return
      }
      this.#resumes.delete(item.key)
      resume(occupation)
    })
  }

  #begin(
    item: QueueItem,
    first: Occupation,
    begin: (stepAside: () => Promise<void> | undefined) => Promise<void>,
  ): void {
    let occupation = first
    const stepAside = (): Promise<void> | undefined => {
      const ready = this.#queue.length
      if (ready === 0) return undefined
      return new Promise((goOn) => {
        this.#resumes.set(item.key, (next) => {
          occupation = next
          goOn()
        })
        this.#aside.pushBack({ item, afterTaken: this.#taken + ready })
        occupation.release()
      })
    }
    begin(stepAside).then(
      () => occupation.release(),
      (error: unknown) => occupation.fail(error),
    )
  }
}
