/** Another API server behind an APIService, and a server of this project in front of it. */
import assert from 'node:assert/strict'
import { createServer } from 'node:https'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import { after, before, beforeEach } from 'node:test'
import { PrometheusRegistry, SystemClock, SystemRandom } from '@gyropilot/foundation'
import { makeNamespace, startServer } from '../bootstrap/fixtures.ts'
import type { TestServer } from '../bootstrap/fixtures.ts'
import { until } from './test-server.ts'
import type { AnyValue } from './test-server.ts'
import { createClusterCertificates } from '../tls/index.ts'

export const GROUP = 'metrics.example.com'
export const GROUP_VERSION = `/apis/${GROUP}/v1`
export const API_SERVICES = '/apis/apiregistration.k8s.io/v1/apiservices'
export const certificates = createClusterCertificates({
  clock: new SystemClock(),
  random: new SystemRandom(),
  serverNames: ['backend.a.svc'],
})
export const LIST = {
  kind: 'APIResourceList',
  apiVersion: 'v1',
  groupVersion: `${GROUP}/v1`,
  resources: [
    { name: 'loads', singularName: 'load', namespaced: true, kind: 'Load', verbs: ['get', 'list'] },
    { name: 'loads/scale', singularName: '', namespaced: true, kind: 'Scale', verbs: ['get'] },
    { name: 'lone/part', singularName: '', namespaced: false, kind: 'Part', verbs: ['create'] },
  ],
}

type Respond = (request: IncomingMessage, response: ServerResponse, body: string) => void

/** The other API server. What it answers beside its discovery is each test's. */
export const backend = {
  respond: ((_, response) => response.end('{}')) as Respond,
  /** Of a request to switch protocols. */
  switchTo: ((_, socket) => socket.destroy()) as (request: IncomingMessage, socket: Duplex) => void,
  /** Its answer to what it has. */
  list: LIST as object | string,
  /** Of `/apis` in the aggregated form; undefined: it has none. */
  aggregated: undefined as object | undefined,
  /** By path below `/openapi/`; a number: the status of a refusal. */
  openApi: {} as Record<string, object | number>,
  asked: [] as string[],
  /** Who asked for which document, and what is known there of it. */
  documentsAsked: [] as string[],
  /** How often it was asked what it has; each waits for `ready`. */
  looks: 0,
  ready: Promise.resolve(),
  port: 0,
  /** Where the Service leads. */
  reachedAt: 0,
  close: () => {},
}
export let world: TestServer
export let metrics: PrometheusRegistry

function openApiAnswer({ url, headers }: IncomingMessage, response: ServerResponse): void {
  const etag = '"known"'
  backend.documentsAsked.push(
    [url, headers['x-remote-user'], headers['if-none-match']].filter(Boolean).join(' '),
  )
  const document = backend.openApi[url!.slice('/openapi/'.length).split('?')[0]!]
  if (document === undefined || typeof document === 'number') response.statusCode = document ?? 404
  else if (headers['if-none-match'] === etag) response.statusCode = 304
  else response.setHeader('etag', etag)
  response.end(response.statusCode === 304 ? undefined : JSON.stringify(document ?? {}))
}

/** Starts one for the tests of a file, and a server in front of it for each. */
export function withBackend(): void {
  before(listenAsBackend)
  after(() => backend.close())
  beforeEach(startWorld)
}

async function listenAsBackend(): Promise<void> {
  const { certificatePem: cert, privateKeyPem: key } = certificates.serving
  const tls = { cert, key, requestCert: true, rejectUnauthorized: false }
  const server = createServer(tls, async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    response.setHeader('content-type', 'application/json')
    if (request.url!.startsWith('/openapi/')) return openApiAnswer(request, response)
    if (request.url === GROUP_VERSION) {
      backend.looks++
      await backend.ready
      return void response.end(
        typeof backend.list === 'string' ? backend.list : JSON.stringify(backend.list),
      )
    }
    if (request.url === '/apis') {
      if (backend.aggregated === undefined) response.statusCode = 404
      return void response.end(JSON.stringify(backend.aggregated ?? {}))
    }
    backend.asked.push(`${request.method} ${request.url}`)
    backend.respond(request, response, Buffer.concat(chunks).toString())
  })
  server.on('upgrade', (request, socket) => backend.switchTo(request, socket))
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  backend.port = (server.address() as AddressInfo).port
  backend.close = () => {
    server.close()
    server.closeAllConnections()
  }
}

async function startWorld(): Promise<void> {
  backend.asked.length = 0
  backend.documentsAsked.length = 0
  backend.openApi = {}
  backend.aggregated = undefined
  backend.list = LIST
  backend.looks = 0
  backend.ready = Promise.resolve()
  backend.reachedAt = backend.port
  metrics = new PrometheusRegistry()
  world = await startServer({
    metrics,
    proxyClient: certificates.frontProxyClient,
    resolveService: () => ({ host: '127.0.0.1', port: backend.reachedAt }),
  })
  await makeNamespace(world, 'a')
  const spec = { type: 'ExternalName', externalName: 'backend.example' }
  await world.call('POST', '/api/v1/namespaces/a/services', { metadata: { name: 'backend' }, spec })
}

export async function announce(trust: object): Promise<void> {
  const answer = await world.call('POST', API_SERVICES, {
    metadata: { name: `v1.${GROUP}` },
    spec: {
      group: GROUP,
      version: 'v1',
      groupPriorityMinimum: 100,
      versionPriority: 10,
      service: { namespace: 'a', name: 'backend' },
      ...trust,
    },
  })
  assert.equal(answer.status, 201, JSON.stringify(answer.body))
}

export async function condition(reason: string): Promise<AnyValue> {
  return until(async () => {
    const { body } = await world.call('GET', `${API_SERVICES}/v1.${GROUP}`)
    const found = body.status?.conditions?.[0]
    return found?.reason === reason && found
  })
}

export async function available(): Promise<void> {
  const { certificatePem } = certificates.authority
  await announce({ caBundle: Buffer.from(certificatePem).toString('base64') })
  const { status, message } = await condition('Passed')
  assert.deepEqual([status, message], ['True', 'all checks passed'])
}
