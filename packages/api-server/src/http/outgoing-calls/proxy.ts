/** HTTP requests that are passed on to whoever answers at a port, and answers as they come. */
import { request as httpRequest, type IncomingMessage } from 'node:http'
import { Duplex } from 'node:stream'
import { connect as connectTls } from 'node:tls'
import { lengthOf } from './forward.ts'
import { passedAnswer } from './passed-answer.ts'
import type { PassedAnswer } from './passed-answer.ts'
import { ByteQueue } from '../../kubelets/byte-queue.ts'
import type { PortStreams } from '../../kubelets/kubelet.ts'

/** Serves one connection; resolves with a text when nobody listens. */
type OpenPort = (streams: PortStreams) => Promise<string | undefined>

interface PassedRequest {
  readonly method: string
  /** Path and query. */
  readonly path: string
  readonly headers: Readonly<Record<string, string | readonly string[]>>
  readonly body: Uint8Array | undefined
  /** Aborts when nobody waits for the answer any more, before or after its head. */
  readonly signal: AbortSignal | undefined
  /** The port speaks TLS. Certificates of pods are nobody's business here, as in kube-apiserver. */
  readonly tls: boolean
}

/** Rejects when nobody answers. No agent: the connection is the request's own. */
export async function passOn(request: PassedRequest, socket: Duplex): Promise<PassedAnswer> {
  endWith(socket, request.signal)
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    const sent = httpRequest(
      {
        method: request.method,
        path: request.path,
        headers: { ...request.headers, ...lengthOf(request.body), connection: 'close' } as Record<
          string,
          string | string[]
        >,
        createConnection: () =>
          request.tls ? connectTls({ socket, rejectUnauthorized: false }) : socket,
      },
      resolve,
    )
    sent.on('error', reject)
    sent.end(request.body)
  })
  return passedAnswer(response, () => socket.destroy())
}

function endWith(socket: Duplex, signal: AbortSignal | undefined): void {
  if (signal === undefined) return
  const end = (): void => void socket.destroy()
  if (signal.aborted) return end()
  signal.addEventListener('abort', end, { once: true })
  socket.once('close', () => signal.removeEventListener('abort', end))
}

/** A port of a simulated pod as a socket. */
export class PortSocket extends Duplex {
  readonly #sent = new ByteQueue()
  readonly #gone = new AbortController()
  #wanted: (() => void) | undefined

  constructor(open: OpenPort) {
    super()
    const output = async (bytes: Uint8Array): Promise<void> => {
      if (this.destroyed || this.push(bytes)) return
      await new Promise<void>((resolve) => (this.#wanted = resolve))
    }
    open({ input: this.#sent, output, signal: this.#gone.signal }).then(
      (refusal) => (refusal === undefined ? this.push(null) : this.destroy(new Error(refusal))),
      (error: unknown) => this.destroy(error as Error),
    )
  }

  override _read(): void {
    this.#wanted?.()
    this.#wanted = undefined
  }

  override _write(chunk: Uint8Array, _encoding: string, done: () => void): void {
    this.#sent.push(chunk)
    const { relief } = this.#sent
    if (relief === undefined) done()
    else void relief.then(() => done())
  }

  override _final(done: () => void): void {
    this.#sent.end()
    done()
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#sent.end()
    this.#gone.abort()
    this.#wanted?.()
    done(error)
  }
}
