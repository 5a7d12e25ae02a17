/** A whole server on virtual time, for the tests of these folders. */
import { SeededRandom, SystemClock, VirtualClock, silentLogger } from '@gyropilot/foundation'
import type { UserInfo } from '../contracts.ts'
import type { Draft, Stored } from '@gyropilot/schema/objects'
import { createApiServer } from '../server.ts'
import type { ApiServer, ApiServerOptions } from '../server-options.ts'
import { createMemoryStore } from '../storage/memory-store.ts'
import { turn } from '../testing/test-server.ts'
import { createClusterCertificates, generateKeyPair } from '../tls/index.ts'

export const START_MS = Date.UTC(2026, 10, 21)
const KEY = generateKeyPair()

interface TestAnswer {
  readonly status: number
  // oxlint-disable-next-line no-explicit-any -- bodies of every kind, looked into by assertions
  readonly body: any
  readonly headers: Readonly<Record<string, string | readonly string[]>>
}

export interface TestServer {
  readonly server: ApiServer
  readonly clock: VirtualClock
  /** As the administrator, unless the headers say otherwise. Paths of objects: `/api/v1/...`. */
  call(
    method: string,
    path: string,
    body?: unknown,
    headers?: Record<string, string | readonly string[]>,
  ): Promise<TestAnswer>
  /** With a static token of this user. */
  as(user: string, method: string, path: string, body?: unknown): Promise<TestAnswer>
  stored(collection: string, key: string): Stored | undefined
}

const USERS: readonly UserInfo[] = [
  { name: 'admin', groups: ['system:masters', 'system:authenticated'], extra: {} },
  { name: 'jane', groups: ['system:authenticated'], extra: {} },
  { name: 'system:node:n1', groups: ['system:nodes', 'system:authenticated'], extra: {} },
]

export async function startServer(options: Partial<ApiServerOptions> = {}): Promise<TestServer> {
  const clock = new VirtualClock({
    startMs: START_MS,
    settle: turn,
  })
  const store = createMemoryStore(clock)
  const server = createApiServer({
    clock,
    random: new SeededRandom(1),
    logger: silentLogger,
    store,
    serviceAccountKey: KEY,
    tokens: new Map(USERS.map((user) => [`${user.name}-token`, user])),
    ...options,
  })
  await server.start()
  const send = async (
    token: string,
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string | readonly string[]> = {},
  ) => {
    const answer = await server.handle({
      method,
      path,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...headers },
      ...(body === undefined ? {} : { body: { json: body } }),
    })
    return { status: answer.status, headers: answer.headers, body: await valueOf(answer.body) }
  }
  return {
    server,
    clock,
    call: (method, path, body, headers) => send('admin-token', method, path, body, headers),
    as: (user, method, path, body) => send(`${user}-token`, method, path, body),
    stored: (collection, key) => store.get({ collection, key })?.object,
  }
}

async function valueOf(body: Awaited<ReturnType<ApiServer['handle']>>['body']): Promise<unknown> {
  if (body.kind === 'value') return body.value
  if (body.kind === 'events') return body.events
  const chunks: Uint8Array[] = []
  for await (const chunk of body.chunks) chunks.push(chunk)
  return Buffer.concat(chunks).toString('utf8')
}

/** A namespace with its default service account. */
export async function makeNamespace(
  { call }: TestServer,
  name: string,
  labels?: Record<string, string>,
): Promise<string> {
  const metadata = { name, ...(labels === undefined ? {} : { labels }) }
  await call('POST', '/api/v1/namespaces', { metadata, spec: { finalizers: ['kubernetes'] } })
  await call('POST', `/api/v1/namespaces/${name}/serviceaccounts`, {
    metadata: { name: 'default' },
  })
  return `/api/v1/namespaces/${name}`
}

export function pod(name: string, spec: Draft = {}, metadata: Draft = {}): Draft {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, ...metadata },
    spec: { containers: [{ name: 'c', image: 'nginx:1.27' }], ...spec },
  }
}

export const PATCH = { 'content-type': 'application/merge-patch+json' } as const

/** With a certificate that nobody knows the authority of. Answers the port. */
export async function listenOnLoopback({ server }: TestServer): Promise<number> {
  const { serving } = createClusterCertificates({
    clock: new SystemClock(),
    random: new SeededRandom('serving'),
  })
  const { certificatePem, privateKeyPem: keyPem } = serving
  const { port } = await server.listen({ host: '127.0.0.1', port: 0, certificatePem, keyPem })
  return port
}
