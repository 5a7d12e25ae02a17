import type { Transport, TransportRequest, TransportResponse } from '../transport.ts'

/** What carries requests to a server and, by `make`, to those that it pointed to (the server of a request): one transport for each. */
export class ServerTransports implements Transport {
  readonly #own: Transport
  readonly #make: (server: string) => Transport
  readonly #others = new Map<string, Transport>()

  constructor(server: string, make: (server: string) => Transport) {
    this.#make = make
    this.#own = make(server)
    // What points elsewhere on the same server goes over the same connections, where no path stands in front of all others.
    const { origin, pathname } = new URL(server)
    if (pathname === '/') this.#others.set(origin, this.#own)
  }

  send(request: TransportRequest): Promise<TransportResponse> {
    return this.#to(request.server).send(request)
  }

  async close(): Promise<void> {
    await Promise.all([this.#own.close(), ...[...this.#others.values()].map((one) => one.close())])
  }

  #to(server: string | undefined): Transport {
    if (server === undefined) return this.#own
    let transport = this.#others.get(server)
    if (transport === undefined) {
      transport = this.#make(server)
      this.#others.set(server, transport)
    }
    return transport
  }
}
