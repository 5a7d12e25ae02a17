/** Many watches over few HTTP/2 connections, as clients share them. */
import { connect } from 'node:http2'
import type { ClientHttp2Session, ClientHttp2Stream } from 'node:http2'
import { Durations } from './requests.ts'
import type { Target } from './target.ts'

/** What an event's delay is computed from: the writer puts its own clock here. */
const SENT_AT = '"sentAt":"'

const NEWLINE = 0x0a
const QUOTE = 0x22
const STREAMS_PER_CONNECTION = 100

export class Watchers {
  /** Of every event seen whole in one piece; to be emptied between measurements by assigning a new one. */
  delays = new Durations()
  events = 0
  closed = 0
  readonly #sessions: ClientHttp2Session[] = []
  readonly #streams: ClientHttp2Stream[] = []
  #wake: (() => void) | undefined
  #wanted = Infinity

  /** Resolves when each of them was answered. */
  static async open(target: Target, path: string, count: number): Promise<Watchers> {
    const watchers = new Watchers()
    for (let opened = 0; opened < count; opened += STREAMS_PER_CONNECTION) {
      const session = connect(target.server, { rejectUnauthorized: false })
      session.on('error', () => {})
      watchers.#sessions.push(session)
      const streams = Math.min(STREAMS_PER_CONNECTION, count - opened)
      await Promise.all(
        Array.from({ length: streams }, () => watchers.#watch(session, target.token, path)),
      )
    }
    return watchers
  }

  #watch(session: ClientHttp2Session, token: string, path: string): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const stream = session.request({ ':path': path, authorization: `Bearer ${token}` })
    this.#streams.push(stream)
    stream.on('response', ({ ':status': status }) =>
      status === 200 ? resolve() : reject(new Error(`watch answered with ${status}`)),
    )
    stream.on('data', (chunk: Buffer) => this.#count(chunk))
    stream.on('error', reject)
    stream.on('close', () => this.closed++)
    return promise
  }

  #count(chunk: Buffer): void {
    const nowMs = performance.now()
    for (let from = 0; ;) {
      const end = chunk.indexOf(NEWLINE, from)
      if (end < 0) break
      this.events++
      const at = chunk.indexOf(SENT_AT, from)
      if (at >= 0 && at < end) {
        const start = at + SENT_AT.length
        this.delays.add(
          nowMs - Number(chunk.toString('latin1', start, chunk.indexOf(QUOTE, start))),
        )
      }
      from = end + 1
    }
    if (this.events >= this.#wanted) this.#wake?.()
  }

  /** Resolves when so many events have come in all. */
  async received(total: number): Promise<void> {
    if (this.events >= total) return
    this.#wanted = total
    await new Promise<void>((resolve) => (this.#wake = resolve))
  }

  close(): void {
    for (const stream of this.#streams) stream.close()
    for (const session of this.#sessions) session.destroy()
  }
}
