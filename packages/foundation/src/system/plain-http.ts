import type { Duplex } from 'node:stream'
import type { Server } from 'node:tls'

/** In the words of Go's server. */
const ANSWER = 'HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTP request to an HTTPS server.\n'

/** A client that speaks HTTP where TLS is served is told so, where it would see no more than a connection that ends. */
export function refusePlainHttp(server: Server): void {
  server.on('tlsClientError', ({ code }: NodeJS.ErrnoException, socket) => {
    if (code !== 'ERR_SSL_HTTP_REQUEST') return
    // What lies beneath TLS, which has failed: Node names it nowhere else. Absent in a Node that calls it otherwise.
    const { _parent: beneath } = socket as unknown as { readonly _parent?: Duplex | null }
    if (beneath?.writable !== true) return
    beneath.on('error', () => beneath.destroy())
    beneath.end(ANSWER)
  })
}
