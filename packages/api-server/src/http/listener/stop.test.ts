import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, type ClientHttp2Session } from 'node:http2'
import { connect as connectTcp } from 'node:net'
import { test, type TestContext } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { connect as connectTls, type TLSSocket } from 'node:tls'
import { SystemClock, SystemRandom, VirtualClock } from '@gyropilot/foundation'
import type { AdmissionPlugin } from '../../contracts.ts'
import { createTestServer, turn } from '../../testing/test-server.ts'
import { createClusterCertificates } from '../../tls/index.ts'
import type { Listener } from './listener.ts'

const MAPS = '/api/v1/namespaces/default/configmaps'
const TOKEN = 'Bearer test-token'
const GRACE_MS = 10_000
// Certificates are judged by real time.
const now = new SystemClock().nowMs()
const certificates = createClusterCertificates({
  clock: new SystemClock(),
  random: new SystemRandom(),
})

interface Served {
  readonly listener: Listener
  /** Lets the object `slow` be created. */
  readonly release: () => void
  /** Resolves when it is being. */
  readonly entered: Promise<void>
  http1(): TLSSocket
  http2(): ClientHttp2Session
}

async function served(context: TestContext): Promise<Served> {
  const entering = Promise.withResolvers<void>()
  const leaving = Promise.withResolvers<void>()
  const slow: AdmissionPlugin = {
    name: 'slow',
    handles: ({ name }) => name === 'slow',
    validate: () => {
      entering.resolve()
      return leaving.promise
    },
  }
  const { server, request } = await createTestServer({
    admission: [slow],
    clock: new VirtualClock({ settle: turn, startMs: now }),
    clientAuthorityPem: certificates.authority.certificatePem,
  })
  for (let i = 0; i < 20; i++) {
    const made = { metadata: { name: `large-${i}` }, data: { text: 'x'.repeat(400_000) } }
    await request('POST', MAPS, made)
  }
  const { certificatePem, privateKeyPem: keyPem } = certificates.serving
  const listener = await server.listen({ host: '127.0.0.1', port: 0, certificatePem, keyPem })
  const ca = certificates.authority.certificatePem
  const opened: { destroy(): unknown }[] = []
  const open = <Peer extends { destroy(): unknown }>(peer: Peer): Peer => {
    opened.push(peer)
    return peer
  }
  context.after(async () => {
    for (const peer of opened) peer.destroy()
    await server.stop(0)
  })
  return {
    listener,
    release: leaving.resolve,
    entered: entering.promise,
    http1: () => open(connectTls({ host: '127.0.0.1', port: listener.port, ca })),
    http2: () => open(connect(`https://127.0.0.1:${listener.port}`, { ca })),
  }
}

const head = (method: string, path: string, more = ''): string =>
  `${method} ${path} HTTP/1.1\r\nhost: here\r\nauthorization: ${TOKEN}\r\n${more}\r\n`

test('Given an HTTP/1.1 answer that is being read slowly, when the server stops, then it arrives whole', async (context) => {
  const { listener, http1 } = await served(context)
  const socket = http1()
  socket.write(head('GET', MAPS))
  const [first] = (await once(socket, 'data')) as [Buffer]
  socket.pause()
  const stopped = listener.stop(GRACE_MS)
  // Longer than peers are given that have nothing more to read.
  await setTimeout(300)
  const chunks = [first]
  for await (const chunk of socket) chunks.push(chunk as Buffer)
  const bytes = Buffer.concat(chunks)
  const length = Number(/content-length: (\d+)/.exec(bytes.toString('latin1', 0, 2000))![1])
  assert.ok(length > 8_000_000)
  assert.equal(bytes.length - bytes.indexOf('\r\n\r\n') - 4, length)
  await stopped
})

test('Given an HTTP/1.1 request that is being worked on, when the server stops, then its answer says that the connection ends', async (context) => {
  const { listener, release, entered, http1 } = await served(context)
  const socket = http1()
  const body = JSON.stringify({ metadata: { name: 'slow' } })
  const more = `content-type: application/json\r\ncontent-length: ${body.length}\r\n`
  socket.write(head('POST', MAPS, more) + body)
  await entered
  const stopped = listener.stop(GRACE_MS)
  release()
  let received = ''
  for await (const chunk of socket) received += chunk
  assert.match(received, /^HTTP\/1\.1 201 Created\r\n/)
  assert.match(received, /\r\nconnection: close\r\n/i)
  await stopped
})

test('Given streams of HTTP/2, when the server stops, then those that it has begun are answered and the session ends', async (context) => {
  const { listener, release, entered, http2 } = await served(context)
  const session = http2()
  const headers = { authorization: TOKEN, 'content-type': 'application/json' }
  const slow = session.request({ ':method': 'POST', ':path': MAPS, ...headers })
  slow.end(JSON.stringify({ metadata: { name: 'slow' } }))
  slow.resume()
  const list = session.request({ ':path': MAPS, ...headers })
  await Promise.all([entered, once(list, 'response')])
  const stopped = listener.stop(GRACE_MS)
  release()
  const [[{ ':status': status }], text] = await Promise.all([
    once(slow, 'response') as Promise<[{ ':status': number }]>,
    list.setEncoding('utf8').reduce((all: string, part: string) => all + part, ''),
    once(session, 'close'),
  ])
  assert.equal(status, 201)
  assert.ok(JSON.parse(text).items.length >= 20)
  await stopped
})

test('Given a peer that resets its connection while the server stops, then the server stops all the same', async (context) => {
  const { listener } = await served(context)
  const tcp = connectTcp(listener.port, '127.0.0.1')
  const ca = certificates.authority.certificatePem
  const socket = connectTls({ socket: tcp, servername: 'localhost', ca })
  socket.on('error', () => {})
  socket.write(head('GET', `${MAPS}?watch=true&resourceVersion=0`))
  await once(socket, 'data')
  const stopped = listener.stop(GRACE_MS)
  tcp.resetAndDestroy()
  await stopped
})
