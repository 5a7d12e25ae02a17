/** A transport that answers watches with bytes as they are sent here, as a server's connection would bring them. */
import type { Transport, TransportResponse } from '@gyropilot/client'

interface ByteWatch {
  readonly transport: Transport
  /** Resolves when the reader asks for more: nothing is buffered here. */
  sendBytes(bytes: Uint8Array): Promise<void>
  send(event: { readonly type: string; readonly text: string }): Promise<void>
  endInitialEvents(apiVersion: string, kind: string): Promise<void>
}

export function watchOfBytes(): ByteWatch {
  let take: ((bytes: Uint8Array | undefined) => void) | undefined
  let asked = Promise.withResolvers<void>()

  async function* chunks(): AsyncGenerator<Uint8Array> {
    for (;;) {
      const next = new Promise<Uint8Array | undefined>((resolve) => (take = resolve))
      asked.resolve()
      const bytes = await next
      if (bytes === undefined) return
      yield bytes
    }
  }
  async function sendBytes(bytes: Uint8Array): Promise<void> {
    await asked.promise
    asked = Promise.withResolvers<void>()
    take!(bytes)
    await asked.promise
  }
  const send: ByteWatch['send'] = ({ type, text }) =>
    sendBytes(Buffer.from(`{"type":"${type}","object":${text}}\n`))
  return {
    transport: {
      async send(request): Promise<TransportResponse> {
        if (!request.longRunning) throw new Error(`unexpected ${request.method} ${request.path}`)
        request.signal?.addEventListener('abort', () => take?.(undefined), { once: true })
        return { status: 200, headers: {}, body: { kind: 'bytes', chunks: chunks() } }
      },
      close: async () => {},
    },
    sendBytes,
    send,
    endInitialEvents(apiVersion, kind) {
      const metadata = {
        resourceVersion: '1',
        annotations: { 'k8s.io/initial-events-end': 'true' },
      }
      return send({ type: 'BOOKMARK', text: JSON.stringify({ apiVersion, kind, metadata }) })
    },
  }
}
