import { Http2ProtocolError } from '../http2/protocol.ts'
import { TransportError } from '../transport.ts'
import { ChunkStream } from './chunk-stream.ts'
import type { ChunkSource } from './chunk-stream.ts'
import type { Exchange, WireAnswer } from './connection.ts'

/** What a stream asks of its connection. */
interface StreamOwner {
  cancel(stream: Http2Stream): void
  widen(stream: Http2Stream, bytes: number): void
}

/** One exchange on an HTTP/2 connection: what was sent, what has come back, and who waits for it. */
export class Http2Stream implements ChunkSource {
  readonly id: number
  readonly exchange: Exchange
  readonly answer: Promise<WireAnswer>
  unsentBytes: number
  sendWindow: number
  readonly #owner: StreamOwner
  readonly #body = new ChunkStream(this)
  readonly #windowBytes: number
  #receiveWindow: number
  #paused = false
  #resolve: ((answer: WireAnswer) => void) | undefined
  #reject: ((failure: Error) => void) | undefined
  #answered = false
  #finished = false
  #fields: Record<string, string | readonly string[]> = {}
  #status = ''
  #malformed: string | undefined
  #lengthDue: number | undefined
  #bodyBytes = 0

  /** `windows`: bytes that each side may send at first. */
  constructor(
    id: number,
    exchange: Exchange,
    owner: StreamOwner,
    windows: { readonly send: number; readonly receive: number },
  ) {
    this.id = id
    this.exchange = exchange
    this.#owner = owner
    this.unsentBytes = exchange.body?.length ?? 0
    this.sendWindow = windows.send
    this.#windowBytes = this.#receiveWindow = windows.receive
    this.answer = new Promise((resolve, reject) => {
      this.#resolve = resolve
      this.#reject = reject
    })
    exchange.request.signal?.addEventListener('abort', this.#onAbort, { once: true })
  }

  /** The head of the answer has come. */
  get answered(): boolean {
    return this.#answered
  }

  pause(): void {
    this.#paused = true
  }

  resume(): void {
    this.#paused = false
    this.#widen()
  }

  cancel(): void {
    this.#end()
    this.#owner.cancel(this)
  }

  beginFields(): void {
    this.#fields = {}
    this.#status = ''
    this.#malformed = undefined
  }

  readonly onField = (name: string, value: string): void => {
    if (name.charCodeAt(0) === 58 /* : */) {
      if (name !== ':status' || this.#status !== '') this.#malformed ??= name
      this.#status = value
      return
    }
    if (UPPER.test(name)) this.#malformed ??= name
    const before = this.#fields[name]
    if (before === undefined) this.#fields[name] = value
    else this.#fields[name] = typeof before === 'string' ? [before, value] : [...before, value]
  }

  /** A head, one that only announces it (1xx), or trailers, which nobody reads. */
  endFields(endsStream: boolean): Http2ProtocolError | undefined {
    if (this.#malformed !== undefined) return malformed(`the header ${this.#malformed}`)
    if (this.#answered)
      return endsStream && this.#status === '' ? undefined : malformed('trailers amid the body')
    if (!STATUS.test(this.#status)) return malformed('no status')
    if (this.#status < '200')
      return endsStream || this.#status === '101' ? malformed('an end after 1xx') : undefined
    this.#answered = true
    const status = Number(this.#status)
    const length = this.#fields['content-length']
    if (length !== undefined && hasBody(this.exchange, status)) this.#lengthDue = Number(length)
    this.#resolve!({ status, headers: this.#fields, chunks: this.#body })
    return undefined
  }

  /** DATA of so many bytes begins. */
  receives(length: number): Http2ProtocolError | undefined {
    if (!this.#answered) return malformed('DATA before the headers')
    this.#receiveWindow -= length
    return this.#receiveWindow < 0
      ? new Http2ProtocolError('FLOW_CONTROL_ERROR', 'more DATA than the window allows')
      : undefined
  }

  push(piece: Buffer): Http2ProtocolError | undefined {
    this.#bodyBytes += piece.length
    if (this.#lengthDue !== undefined && this.#bodyBytes > this.#lengthDue) return wrongLength()
    this.#body.push(piece)
    this.#widen()
    return undefined
  }

  problemAtEnd(): Http2ProtocolError | undefined {
    if (!this.#answered) return malformed('an end before the headers')
    return this.#lengthDue !== undefined && this.#bodyBytes !== this.#lengthDue
      ? wrongLength()
      : undefined
  }

  /** Its end, or why it has none: told to whoever waits for the head, or reads the body. */
  finish(failure: TransportError | undefined): void {
    if (this.#finished) return
    this.#end()
    if (this.#answered) this.#body.finish(failure)
    else this.#reject!(failure!)
  }

  readonly #onAbort = (): void => {
    const { request, what } = this.exchange
    const cause = request.signal?.reason
    this.finish(new TransportError('ABORTED', `${what}: given up by its caller`, { cause }))
    this.#owner.cancel(this)
  }

  #end(): void {
    this.#finished = true
    this.exchange.request.signal?.removeEventListener('abort', this.#onAbort)
  }

  #widen(): void {
    if (this.#paused || this.#receiveWindow > this.#windowBytes / 2) return
    this.#owner.widen(this, this.#windowBytes - this.#receiveWindow)
    this.#receiveWindow = this.#windowBytes
  }
}

const UPPER = /[A-Z]/
const STATUS = /^[1-9]\d\d$/

/** Others may say how long it would be. */
function hasBody({ request }: Exchange, status: number): boolean {
  return request.method !== 'HEAD' && status !== 204 && status !== 304
}

function malformed(text: string): Http2ProtocolError {
  return new Http2ProtocolError('PROTOCOL_ERROR', `a malformed answer: ${text}`)
}

function wrongLength(): Http2ProtocolError {
  return malformed('its body is not as long as its content-length')
}
