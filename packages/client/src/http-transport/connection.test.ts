/** The client, its credentials and the transport together, over real sockets. */
import assert from 'node:assert/strict'
import { createServer, connect as connectTcp } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'
import { after, test } from 'node:test'
import { createServer as createTlsServer } from 'node:tls'
import type { TLSSocket } from 'node:tls'
import { resources } from '@gyropilot/api'
import type { ResourceType } from '@gyropilot/api'
import { SystemClock } from '@gyropilot/foundation'
import { FakeHost, virtualClock } from '@gyropilot/foundation/testing'
import { ApiClient } from '../api-client.ts'
import { TransportPool } from '../auth/connect.ts'
import type { RestConfig } from '../kubeconfig/rest-config.ts'
import { isUnauthorized } from '../answers/status-error.ts'
import { LoopbackServer } from './loopback-server.ts'
import * as certificates from './test-certificates.ts'

const pods = resources.pods as ResourceType
const cleanups: (() => Promise<void> | void)[] = []
after(async () => {
  for (const cleanup of cleanups.reverse()) await cleanup()
})

async function serve(...args: Parameters<typeof LoopbackServer.start>): Promise<LoopbackServer> {
  const server = await LoopbackServer.start(...args)
  cleanups.push(() => server.stop())
  return server
}

function connectWith(
  config: RestConfig,
  host = new FakeHost(),
  clock = new SystemClock() as never,
): ApiClient {
  const pool = new TransportPool({ host, clock })
  cleanups.push(() => pool.close())
  return new ApiClient({ transport: pool.transport(config), clock, qps: -1 })
}

const status = (code: number, reason: string): string =>
  JSON.stringify({
    kind: 'Status',
    apiVersion: 'v1',
    status: 'Failure',
    code,
    reason,
    message: reason,
  })

test('a watch over the network gives events, then ends when the server does, and is opened again after a restart', async () => {
  const handler: Parameters<typeof LoopbackServer.start>[0] = (request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' })
    response.write(
      `{"type":"ADDED","object":{"metadata":{"name":"${request.headers['user-agent']}"}}}\n`,
    )
  }
  const first = await LoopbackServer.start(handler)
  const client = connectWith({ server: first.url, tls: { caData: certificates.authority } })
  const names: (string | undefined)[] = []
  const before = (await client.resource(pods).watch())[Symbol.asyncIterator]()
  names.push((await before.next()).value?.object.metadata?.name)
  const ended = before.next()
  await first.stop()
  assert.equal((await ended).done, true)
  await serve(handler, { port: first.port })
  const again = (await client.resource(pods).watch())[Symbol.asyncIterator]()
  names.push((await again.next()).value?.object.metadata?.name)
  assert.deepEqual(names, ['gyropilot', 'gyropilot'])
})

test('an authority that cannot be read stands in the way of none behind it', async () => {
  const server = await serve((_, response) => {
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ metadata: { name: 'served' } }))
  })
  const damaged = '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n'
  const client = connectWith({
    server: server.url,
    tls: { caData: damaged + certificates.authority },
  })
  assert.equal((await client.resource(pods, 'default').get('p')).metadata?.name, 'served')
})

test('Given exec credentials, then token or certificate is used and refreshed after 401 or expiry. (over TLS)', async () => {
  const server = await serve(
    (request, response) => {
      const peer = (request.stream.session!.socket as TLSSocket).getPeerCertificate()
      const name = peer.subject?.CN === undefined ? 'nobody' : String(peer.subject.CN)
      const accepted = request.headers['authorization'] === 'Bearer good'
      response.writeHead(accepted ? 200 : 401, { 'content-type': 'application/json' })
      response.end(accepted ? JSON.stringify({ metadata: { name } }) : status(401, 'Unauthorized'))
    },
    { requestCert: true },
  )
  const host = new FakeHost()
  const answers = [
    {
      token: 'stale',
      clientCertificateData: certificates.aliceCertificate,
      clientKeyData: certificates.aliceKey,
    },
    {
      token: 'good',
      clientCertificateData: certificates.bobCertificate,
      clientKeyData: certificates.bobKey,
    },
  ]
  host.onCommand = () => ({
    exitCode: 0,
    stdout: JSON.stringify({
      kind: 'ExecCredential',
      apiVersion: 'client.authentication.k8s.io/v1',
      status: answers.shift(),
    }),
  })
  const exec = {
    command: 'login',
    args: [],
    env: [],
    apiVersion: 'client.authentication.k8s.io/v1',
    interactiveMode: 'Never',
    provideClusterInfo: false,
    installHint: '',
  }
  const client = connectWith(
    { server: server.url, tls: { caData: certificates.authority }, exec },
    host,
  )
  await assert.rejects(client.resource(pods, 'a').get('x'), isUnauthorized)
  assert.equal((await client.resource(pods, 'a').get('x')).metadata?.name, 'bob')
  assert.equal(server.accepted, 2)
})

test('Given a rotated client certificate or CA, then new connections use it. (CA)', async () => {
  const server = await serve((_, response) => void response.end('{}'))
  const clock = virtualClock()
  const host = new FakeHost({ '/ca.crt': `${certificates.authority}` })
  const client = connectWith(
    { server: server.url, tls: { caFile: '/ca.crt' } },
    host,
    clock as never,
  )
  await client.raw({ method: 'GET', path: '/' })
  host.files.set('/ca.crt', certificates.otherAuthority)
  await clock.advance(5 * 60_000)
  // Finds the change on its way; whatever comes after it needs the new authority, which did not sign this server.
  await client.raw({ method: 'GET', path: '/' }).catch(() => {})
  await assert.rejects(client.raw({ method: 'GET', path: '/' }), /tls to 127\.0\.0\.1/)
})

test('Given token and tokenFile, then the file wins.', async () => {
  const seen: (string | undefined)[] = []
  const server = await serve((request, response) => {
    seen.push(request.headers['authorization'])
    response.end('{}')
  })
  const config = {
    server: server.url,
    tls: { caData: certificates.authority },
    bearerToken: 'of the kubeconfig',
    bearerTokenFile: '/token',
  }
  const client = connectWith(config, new FakeHost({ '/token': 'of the file\n' }))
  await client.raw({ method: 'GET', path: '/' })
  assert.deepEqual(seen, ['Bearer of the file'])
})

test('a token that is rotated during a long watch is sent with the next request, and the watch goes on', async () => {
  const seen: (string | undefined)[] = []
  const watching = Promise.withResolvers<{ write(text: string): void }>()
  const server = await serve((request, response) => {
    seen.push(request.headers['authorization'])
    if (!request.url.includes('watch')) return void response.end('{}')
    response.writeHead(200, { 'content-type': 'application/json' })
    watching.resolve(response)
    response.write('{"type":"ADDED","object":{"metadata":{"name":"a"}}}\n')
  })
  const clock = virtualClock()
  const host = new FakeHost({ '/token': 'one' })
  const config = {
    server: server.url,
    tls: { caData: certificates.authority },
    bearerTokenFile: '/token',
  }
  const client = connectWith(config, host, clock as never)
  const events = (await client.resource(pods).watch())[Symbol.asyncIterator]()
  assert.equal((await events.next()).value?.object.metadata?.name, 'a')
  host.files.set('/token', 'two')
  // Not in one step: the health check of the connection would find 50 s of silence in it.
  for (let seconds = 0; seconds < 50; seconds += 10) {
    await clock.advance(10_000)
    await client.raw({ method: 'GET', path: '/' })
  }
  assert.deepEqual([seen[0], seen.at(-1)], ['Bearer one', 'Bearer two'])
  ;(await watching.promise).write('{"type":"ADDED","object":{"metadata":{"name":"b"}}}\n')
  assert.equal((await events.next()).value?.object.metadata?.name, 'b')
  assert.equal(server.accepted, 1)
})

test('a proxy is asked for a tunnel, with its own credentials, and HTTP/2 goes through it', async () => {
  const server = await serve((request, response) => void response.end(`"${request.httpVersion}"`))
  const asked: string[] = []
  const sockets: Socket[] = []
  const proxy = createServer((socket) => {
    sockets.push(socket)
    socket.on('error', () => {})
    socket.once('data', (head) => {
      asked.push(head.toString())
      const [, target] = /^CONNECT (\S+)/.exec(head.toString())!
      const onward = connectTcp(Number(target!.split(':')[1]), '127.0.0.1', () => {
        socket.write('HTTP/1.1 200 Connection established\r\n\r\n')
        socket.pipe(onward).pipe(socket)
      })
      onward.on('error', () => {})
      sockets.push(onward)
    })
  })
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  cleanups.push(() => {
    for (const socket of sockets) socket.destroy()
    proxy.close()
  })
  const proxyUrl = `http://user:p%40ss@127.0.0.1:${(proxy.address() as AddressInfo).port}`
  const client = connectWith({
    server: server.url,
    tls: { caData: certificates.authority },
    proxyUrl,
  })
  assert.equal(await client.raw({ method: 'GET', path: '/' }), '"2.0"')
  assert.match(asked[0]!, new RegExp(`^CONNECT 127\\.0\\.0\\.1:${server.port} HTTP/1\\.1\r\n`))
  assert.ok(
    asked[0]!.includes(
      `Proxy-Authorization: Basic ${Buffer.from('user:p@ss').toString('base64')}\r\n`,
    ),
  )
})

test('a proxy that refuses is told with its answer; one of another kind cannot be used', async () => {
  const proxy = createServer((socket) => {
    socket.on('error', () => {})
    socket.once('data', () => socket.end('HTTP/1.1 407 Proxy Authentication Required\r\n\r\n'))
  })
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  cleanups.push(() => void proxy.close())
  const proxyUrl = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`
  const refused = connectWith({ server: 'https://127.0.0.1:1', tls: {}, proxyUrl })
  await assert.rejects(
    refused.raw({ method: 'GET', path: '/' }),
    /407 Proxy Authentication Required/,
  )
  const unknown = connectWith({ server: 'https://127.0.0.1:1', tls: {}, proxyUrl: 'ftp://p' })
  await assert.rejects(unknown.raw({ method: 'GET', path: '/' }), { code: 'PROXY_UNSUPPORTED' })
})

test('an https proxy is checked by the authorities of the cluster, and the server behind it too', async () => {
  const server = await serve((_, response) => void response.end('"through"'))
  const identity = { cert: certificates.serverCertificate, key: certificates.serverKey }
  const sockets: Socket[] = []
  const proxy = createTlsServer(identity, (socket) => {
    sockets.push(socket)
    socket.on('error', () => {})
    socket.once('data', () => {
      const onward = connectTcp(server.port, '127.0.0.1', () => {
        socket.write('HTTP/1.1 200 OK\r\n\r\n')
        socket.pipe(onward).pipe(socket)
      })
      onward.on('error', () => {})
      sockets.push(onward)
    })
  })
  proxy.on('tlsClientError', () => {})
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  cleanups.push(() => {
    for (const socket of sockets) socket.destroy()
    proxy.close()
  })
  const proxyUrl = `https://127.0.0.1:${(proxy.address() as AddressInfo).port}`
  const get = (caData: string): Promise<unknown> =>
    connectWith({ server: server.url, tls: { caData }, proxyUrl }).raw({ method: 'GET', path: '/' })
  assert.equal(await get(certificates.authority), '"through"')
  await assert.rejects(
    get(certificates.otherAuthority),
    new RegExp(`tls to ${new URL(proxyUrl).host}`),
  )
})
