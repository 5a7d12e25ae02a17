/** TLS of programs in simulated pods: the server's end of it, over a connection that stays in this process. */
import { Duplex } from 'node:stream'
import { TLSSocket, createSecureContext } from 'node:tls'
import type { PortStreams, Secure } from '@gyropilot/nodes'

export const secure: Secure = (streams, { certificatePem, privateKeyPem }) => {
  const connection = new ConnectionEnd(streams)
  const socket = new TLSSocket(connection, {
    isServer: true,
    secureContext: createSecureContext({ cert: certificatePem, key: privateKeyPem }),
  })
  const end = (): void => void socket.destroy()
  // Whoever came does not speak TLS, or does not trust the certificate: the connection just ends.
  socket.on('error', end)
  connection.on('error', end)
  if (streams.signal.aborted) end()
  streams.signal.addEventListener('abort', end, { once: true })
  return {
    from: streams.from,
    signal: streams.signal,
    input: untilBroken(socket),
    // Whoever waits for it may end the connection next: all of it must have been passed on.
    output: (bytes) =>
      new Promise((resolve) => {
        if (socket.destroyed) return resolve()
        socket.once('close', resolve)
        socket.write(bytes, () => {
          socket.off('close', resolve)
          resolve()
        })
      }),
  }
}

async function* untilBroken(socket: TLSSocket): AsyncGenerator<Uint8Array> {
  try {
    for await (const chunk of socket.iterator({ destroyOnReturn: false })) yield chunk as Uint8Array
  } catch {
    socket.destroy()
  }
}

class ConnectionEnd extends Duplex {
  readonly #chunks: AsyncIterator<Uint8Array>
  readonly #send: PortStreams['output']

  constructor({ input, output }: PortStreams) {
    super()
    this.#chunks = input[Symbol.asyncIterator]()
    this.#send = output
  }

  override _read(): void {
    this.#chunks.next().then(
      ({ done, value }) => this.push(done === true ? null : value),
      (error: unknown) => this.destroy(error as Error),
    )
  }

  override _write(chunk: Uint8Array, _encoding: string, done: (error?: Error) => void): void {
    this.#send(chunk).then(
      () => done(),
      (error: unknown) => done(error as Error),
    )
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    void this.#chunks.return?.()
    done(error)
  }
}
