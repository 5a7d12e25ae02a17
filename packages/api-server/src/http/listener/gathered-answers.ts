/** Short answers over HTTP/1.1 go out together, as those of HTTP/2 do. */
import type { ServerResponse } from 'node:http'

interface Waiting {
  readonly response: ServerResponse
  readonly text: string
}

interface TurnOptions {
  nowMs(): number
  /** Calls back when all that had arrived when this turn of the event loop began has been read. */
  whenTurnEnds(then: () => void): void
}

const EVENT_LOOP: TurnOptions = {
  nowMs: () => performance.now(),
  whenTurnEnds: (then) => void setImmediate(then),
}

/** To look at a turn costs who asks alone a tenth, so that after a turn of one answer so many go out unseen. */
const UNSEEN_ANSWERS = 8
/** Who was answered does not wait for others longer than this, and the request that is being worked on. */
const MOST_HELD_MS = 1

/**
 * A peer that sleeps until it is answered has to be woken up, which costs a tenth of what it takes to create a pod, and more on the
 * other side. So where a turn of the event loop brought more than one answer, those of the next are written one behind the other when
 * it ends: the peer wakes once, and has several to read. A lone request is answered at once.
 */
export class GatheredAnswers {
  readonly #options: TurnOptions
  #waiting: Waiting[] = []
  #firstAtMs = 0
  #answeredInTurn = 0
  #gathers = false
  #unseen = 0

  constructor(options: TurnOptions = EVENT_LOOP) {
    this.#options = options
  }

  /** Ends a response whose head is written; `text` is ASCII. */
  end(response: ServerResponse, text: string): void {
    if (this.#unseen > 0) {
      this.#unseen--
      return send(response, text)
    }
    this.#answeredInTurn++
    if (this.#answeredInTurn === 1) this.#options.whenTurnEnds(() => this.#endTurn())
    if (!this.#gathers) return send(response, text)
    if (this.#waiting.length === 0) this.#firstAtMs = this.#options.nowMs()
    this.#waiting.push({ response, text })
    this.sendLate()
  }

  /** Call before work that may take long. */
  sendLate(): void {
    if (this.#waiting.length > 0 && this.#options.nowMs() - this.#firstAtMs >= MOST_HELD_MS)
      this.sendAll()
  }

  sendAll(): void {
    const waiting = this.#waiting
    if (waiting.length === 0) return
    this.#waiting = []
    for (const { response, text } of waiting) send(response, text)
  }

  #endTurn(): void {
    this.#gathers = this.#answeredInTurn > 1
    if (!this.#gathers) this.#unseen = UNSEEN_ANSWERS
    this.#answeredInTurn = 0
    this.sendAll()
  }
}

/** As Latin-1, which the head is in: so that Node may send both as one text. */
function send(response: ServerResponse, text: string): void {
  response.end(text, 'latin1')
}
