import http2 from 'node:http2'
import https from 'node:https'
import type {
  Http2SecureServer,
  Http2ServerRequest,
  Http2ServerResponse,
  ServerHttp2Session,
} from 'node:http2'
import type { AddressInfo, Socket } from 'node:net'
import * as certificates from './test-certificates.ts'

type Handler = (request: Http2ServerRequest, response: Http2ServerResponse) => void

/** A TLS server on the loopback interface that does what its handler says; for tests of the transport. */
export class LoopbackServer {
  readonly port: number
  readonly sessions = new Set<ServerHttp2Session>()
  readonly sockets = new Set<Socket>()
  /** TCP connections accepted so far. */
  accepted = 0
  readonly #server: Http2SecureServer

  private constructor(server: Http2SecureServer, port: number) {
    this.#server = server
    this.port = port
  }

  static async start(
    handler: Handler,
    options: {
      port?: number
      http1?: boolean
      requestCert?: boolean
      /** Refuse the handshake of a client without a certificate of the authority. */
      requireCert?: boolean
      maxConcurrentStreams?: number
    } = {},
  ): Promise<LoopbackServer> {
    const identity = {
      cert: certificates.serverCertificate,
      key: certificates.serverKey,
      ca: certificates.authority,
    }
    const clients = {
      requestCert: options.requestCert ?? options.requireCert ?? false,
      rejectUnauthorized: options.requireCert ?? false,
    }
    const server = options.http1
      ? (https.createServer(
          { ...identity, ...clients },
          handler as never,
        ) as unknown as Http2SecureServer)
      : http2.createSecureServer(
          {
            ...identity,
            ...clients,
            maxSessionMemory: 512,
            settings: { maxConcurrentStreams: options.maxConcurrentStreams ?? 250 },
          },
          handler,
        )
    await new Promise<void>((resolve) => server.listen(options.port ?? 0, '127.0.0.1', resolve))
    const loopback = new LoopbackServer(server, (server.address() as AddressInfo).port)
    server.on('session', (session) => {
      loopback.sessions.add(session)
      session.on('error', () => {})
      session.on('close', () => loopback.sessions.delete(session))
    })
    server.on('connection', (socket: Socket) => {
      loopback.accepted++
      loopback.sockets.add(socket)
      socket.on('error', () => {})
      socket.on('close', () => loopback.sockets.delete(socket))
    })
    server.on('sessionError', () => {})
    return loopback
  }

  get url(): string {
    return `https://127.0.0.1:${this.port}`
  }

  /** Resets every connection, as a machine that lost its state does. */
  resetConnections(): void {
    for (const socket of this.sockets) socket.resetAndDestroy()
  }

  async stop(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()))
    for (const session of this.sessions) session.destroy()
    for (const socket of this.sockets) socket.destroy()
    await closed
  }
}
