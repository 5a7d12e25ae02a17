import type { Http2ServerRequest, Http2ServerResponse } from 'node:http2'
import type { TestContext } from 'node:test'
import type { Pod, ResourceType } from '@gyropilot/api'
import { ApiClient, HttpTransport } from '@gyropilot/client'
import { LoopbackServer, loopbackAuthority } from '@gyropilot/client/testing'
import { SeededRandom, SystemClock } from '@gyropilot/foundation'
import type { Clock } from '@gyropilot/foundation'
import { RecordingLogger } from '@gyropilot/foundation/testing'
import { SharedInformerFactory } from '@gyropilot/runtime'

interface WatchRequest {
  readonly query: URLSearchParams
  readonly path: string
  readonly response: Http2ServerResponse
}

/**
 * A server that answers nothing but watches, each when the test says so, and a client with informers on it: real sockets,
 * TLS and HTTP/2. Bytes are the test's own, so that nothing here is as kind as our own API server might be.
 */
export async function informersOnServer(context: TestContext, clock: Clock = new SystemClock()) {
  const arrived: WatchRequest[] = []
  const waiting: ((request: WatchRequest) => void)[] = []
  const handle = (request: Http2ServerRequest, response: Http2ServerResponse): void => {
    const url = new URL(request.url, 'https://server')
    const watch = { query: url.searchParams, path: url.pathname, response }
    const waiter = waiting.shift()
    if (waiter === undefined) arrived.push(watch)
    else waiter(watch)
  }
  const server = await LoopbackServer.start(handle)
  const transport = new HttpTransport({ server: server.url, clock, tls: { ca: loopbackAuthority } })
  const logger = new RecordingLogger()
  const factory = new SharedInformerFactory({
    client: new ApiClient({ transport, clock, qps: -1 }),
    clock,
    random: new SeededRandom('faults'),
    logger,
  })
  const stop = new AbortController()
  context.after(async () => {
    stop.abort()
    await factory.shutdown()
    await transport.close()
    await server.stop()
  })
  return {
    server,
    transport,
    factory,
    logger,
    start: () => factory.start(stop.signal),
    informer: (type: ResourceType<Pod>) => factory.informer(type),
    /** The next watch that the server is asked for. */
    nextWatch: (): Promise<WatchRequest> => {
      const watch = arrived.shift()
      if (watch !== undefined) return Promise.resolve(watch)
      return new Promise((resolve) => waiting.push(resolve))
    },
  }
}

export function pod(name: string, resourceVersion: number, labels = {}): Pod {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      namespace: 'shop',
      name,
      uid: name,
      resourceVersion: String(resourceVersion),
      labels,
    },
  }
}

export function line(type: string, object: object): string {
  return `${JSON.stringify({ type, object })}\n`
}

/** The end of a streamed initial list. */
export function endOfList(resourceVersion: number, kind = 'Pod', apiVersion = 'v1'): string {
  const annotations = { 'k8s.io/initial-events-end': 'true' }
  const metadata = { resourceVersion: String(resourceVersion), annotations }
  return line('BOOKMARK', { apiVersion, kind, metadata })
}
