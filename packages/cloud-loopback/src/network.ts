/** What the cloud needs of the machine that it lives on. Handed in, so that tests have no sockets. */

/** A TCP connection that somebody opened. */
export interface Connection {
  /** Address of the client. */
  readonly from: string
  /** Ends when the client closes its side. */
  readonly input: AsyncIterable<Uint8Array>
  /** Resolves when more may be written. */
  output(bytes: Uint8Array): Promise<void>
  /** Nothing more is written; the client sees an end. */
  end(): void
  /** At once: the client sees a reset. */
  reset(): void
  /** Aborts when the connection is over. */
  readonly signal: AbortSignal
}

export interface Datagram {
  readonly from: string
  readonly bytes: Uint8Array
  reply(bytes: Uint8Array): void
}

export interface HttpRequest {
  readonly method: string
  /** Without its query. */
  readonly path: string
  readonly body: string
}

export interface HttpAnswer {
  readonly status: number
  readonly value: unknown
}

export interface Listening {
  /** Also resets what was accepted. */
  close(): Promise<void>
}

/** Each rejects with the system's error, whose `code` says why: EADDRINUSE, EACCES, EADDRNOTAVAIL. */
export interface Network {
  listenTcp(
    address: string,
    port: number,
    serve: (connection: Connection) => void,
  ): Promise<Listening>
  listenUdp(address: string, port: number, serve: (datagram: Datagram) => void): Promise<Listening>
  /** JSON answers to plain HTTP. */
  listenHttp(
    address: string,
    port: number,
    answer: (request: HttpRequest) => HttpAnswer,
  ): Promise<Listening>
}

/** How pods are reached from outside of the cluster. */
export interface PodNetwork {
  /** Serves one connection; resolves with a text when nobody answers there. */
  connect(to: BackEnd, connection: Connection): Promise<string | undefined>
  /** The answer to a datagram; undefined: there is none. */
  exchange(to: BackEnd, bytes: Uint8Array): Promise<Uint8Array | undefined>
}

/** A port of a pod behind a Service. */
export interface BackEnd {
  readonly ip: string
  readonly port: number
  readonly nodeName: string | undefined
  readonly pod: { readonly namespace: string; readonly name: string } | undefined
}
