/** A server in memory, on virtual time and a seed, with a client that speaks paths and JSON values. */
import { SeededRandom, VirtualClock, silentLogger } from '@gyropilot/foundation'
import type { Headers, ServerResponse } from '../http/exchange.ts'
import { createApiServer } from '../server.ts'
import { type ApiServer, type ApiServerOptions } from '../server-options.ts'
import { createMemoryStore } from '../storage/memory-store.ts'
import { generateKeyPair } from '../tls/index.ts'

// oxlint-disable-next-line no-explicit-any -- tests look into answers of all kinds
export type AnyValue = any

export interface TestAnswer {
  readonly status: number
  readonly headers: ServerResponse['headers']
  readonly value: AnyValue
}

export interface TestServer {
  readonly server: ApiServer
  readonly clock: VirtualClock
  /** As a member of system:masters unless headers say otherwise. Bytes and streams are read to their end as text. */
  request(method: string, path: string, body?: unknown, headers?: Headers): Promise<TestAnswer>
  /** The events of a watch as they come; `take` waits for so many. */
  watch(path: string): Promise<TestWatch>
}

export interface TestWatch {
  readonly headers: ServerResponse['headers']
  readonly events: { readonly type: string; readonly object: AnyValue }[]
  readonly ended: () => boolean
  stop(): void
}

const TOKEN = 'test-token'
const key = generateKeyPair()
const MOST_TURNS = 100_000

export function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

/** Looks again and again: what comes from a socket takes real time, however little. */
export async function until<T>(look: () => Promise<T | false | undefined>): Promise<T> {
  for (let turns = 0; turns < MOST_TURNS; turns++) {
    const found = await look()
    if (found !== undefined && found !== false) return found
    await turn()
  }
  throw new Error(`not within ${MOST_TURNS} turns`)
}

export async function createTestServer(
  options: Partial<ApiServerOptions> = {},
): Promise<TestServer> {
  const clock = (options.clock as VirtualClock | undefined) ?? new VirtualClock({ settle: turn })
  const server = createApiServer({
    random: new SeededRandom('api-server'),
    logger: silentLogger,
    store: options.store ?? createMemoryStore(clock),
    serviceAccountKey: key,
    tokens: new Map([
      [TOKEN, { name: 'admin', groups: ['system:masters', 'system:authenticated'], extra: {} }],
    ]),
    ...options,
    clock,
  })
  await server.start()
  return {
    server,
    clock,
    request: (method, path, body, headers) => send(server, method, path, body, headers),
    watch: (path) => openWatch(server, path),
  }
}

async function send(
  server: ApiServer,
  method: string,
  path: string,
  body: unknown,
  headers: Headers = {},
): Promise<TestAnswer> {
  const sent =
    body === undefined
      ? undefined
      : typeof body === 'string'
        ? { bytes: Buffer.from(body) }
        : { json: body }
  const response = await server.handle({
    method,
    path,
    headers: { authorization: `Bearer ${TOKEN}`, ...headers },
    body: sent,
  })
  const { status } = response
  if (response.body.kind === 'value')
    return { status, headers: response.headers, value: response.body.value }
  if (response.body.kind === 'events') throw new Error('use watch()')
  let content = ''
  for await (const chunk of response.body.chunks) content += Buffer.from(chunk).toString()
  return { status, headers: response.headers, value: content }
}

async function openWatch(server: ApiServer, path: string): Promise<TestWatch> {
  const abort = new AbortController()
  const headers = { authorization: `Bearer ${TOKEN}` }
  const response = await server.handle({
    method: 'GET',
    path,
    headers,
    longRunning: true,
    signal: abort.signal,
  })
  if (response.body.kind !== 'events')
    throw new Error(`no watch but ${response.status} ${JSON.stringify(response.body)}`)
  const events: TestWatch['events'] = []
  const { events: stream } = response.body
  let ended = false
  void (async () => {
    for await (const event of stream) events.push(event)
    ended = true
  })()
  await turn()
  const { headers: answered } = response
  return { headers: answered, events, ended: () => ended, stop: () => abort.abort() }
}
