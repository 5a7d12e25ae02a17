import assert from 'node:assert/strict'
import { connect, createServer } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'
import { after, test } from 'node:test'
import { SystemClock } from '@gyropilot/foundation'
import { FakeHost, virtualClock } from '@gyropilot/foundation/testing'
import { ApiClient } from '../api-client.ts'
import { TransportPool } from '../auth/connect.ts'
import { TransportError } from '../transport.ts'
import { LoopbackServer } from './loopback-server.ts'
import { openSocks5 } from './socks5.ts'
import * as certificates from './test-certificates.ts'

const cleanups: (() => unknown)[] = []
after(async () => {
  for (const cleanup of cleanups.reverse()) await cleanup()
})

/** A server that expects and answers these bytes in turn, the answers cut into single bytes; then it is `then`'s. */
async function scripted(
  exchanges: readonly (readonly [expected: string, answer: string])[],
  then: (socket: Socket) => void = () => {},
): Promise<{ readonly port: number; readonly received: string[] }> {
  const received: string[] = []
  const sockets: Socket[] = []
  const server = createServer(async (socket) => {
    sockets.push(socket)
    socket.setNoDelay(true)
    socket.on('error', () => {})
    for (const [expected, answer] of exchanges) {
      received.push(await bytesOf(socket, expected.length / 2))
      for (const byte of Buffer.from(answer, 'hex'))
        await new Promise((resolve) => socket.write(Buffer.from([byte]), resolve))
    }
    then(socket)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  cleanups.push(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return { port: (server.address() as AddressInfo).port, received }
}

async function bytesOf(socket: Socket, count: number): Promise<string> {
  for (;;) {
    const bytes = socket.read(count) as Buffer | null
    if (bytes !== null) return bytes.toString('hex')
    await new Promise<void>((resolve) => socket.once('readable', resolve))
  }
}

async function open(
  port: number,
  request: { host: string; credentials?: { username: string; password: string } },
): Promise<Socket> {
  const socket = connect(port, '127.0.0.1')
  cleanups.push(() => socket.destroy())
  await new Promise((resolve) => socket.once('connect', resolve))
  await openSocks5({
    clock: new SystemClock(),
    socket,
    port: 6443,
    credentials: undefined,
    timeoutMs: 30_000,
    what: 'proxy',
    ...request,
  })
  return socket
}

const GRANTED = '05000001000000000000'
const TARGETS = [
  ['a name, which the proxy resolves', 'api.test', '05010003086170692e74657374192b'],
  ['an IPv4 address', '10.1.2.3', '050100010a010203192b'],
  ['an IPv6 address', 'fd00::10:1', '05010004fd000000000000000000000000100001192b'],
] as const
for (const [title, host, request] of TARGETS) {
  test(`a connection is asked for to ${title}`, async () => {
    const { port, received } = await scripted([
      ['050100', '0500'],
      [request, GRANTED],
    ])
    await open(port, { host })
    assert.deepEqual(received, ['050100', request])
  })
}

test('user and password are given when the proxy wants them', async () => {
  const { port, received } = await scripted([
    ['05020002', '0502'],
    ['0103626f620470407373', '0100'],
    [TARGETS[1][2], '050000030470726f780438' + Buffer.from('hello').toString('hex')],
  ])
  const socket = await open(port, {
    host: '10.1.2.3',
    credentials: { username: 'bob', password: 'p@ss' },
  })
  assert.equal(received[1], '0103626f620470407373')
  assert.equal(await bytesOf(socket, 5), Buffer.from('hello').toString('hex'), 'the server speaks')
})

const REFUSALS = [
  ['a proxy that wants a password that nobody has', [['050100', '05ff']], /no acceptable auth/],
  ['another protocol', [['050100', '4854']], /unexpected protocol version 72/],
  [
    'a refusal with its reason',
    [
      ['050100', '0500'],
      [TARGETS[1][2], '05050001000000000000'],
    ],
    /proxy: connection refused/,
  ],
] as const
for (const [title, exchanges, message] of REFUSALS) {
  test(`refused: ${title}`, async () => {
    const { port } = await scripted(exchanges)
    await assert.rejects(open(port, { host: '10.1.2.3' }), message)
  })
}

test('a proxy that closes, resets or says nothing is an error', async () => {
  const closing = await scripted([['050100', '05']], (socket) => void socket.end())
  await assert.rejects(open(closing.port, { host: 'x' }), /proxy: closed by the proxy/)
  const resetting = await scripted([['050100', '']], (socket) => void socket.resetAndDestroy())
  await assert.rejects(open(resetting.port, { host: 'x' }), TransportError)
  const silent = await scripted([])
  const clock = virtualClock()
  const socket = connect(silent.port, '127.0.0.1')
  const opening = openSocks5({
    clock,
    socket,
    host: 'x',
    port: 1,
    credentials: undefined,
    timeoutMs: 30_000,
    what: 'proxy',
  })
  const rejected = assert.rejects(opening, { code: 'ETIMEDOUT' })
  await clock.advance(30_000)
  await rejected
})

test('a client with a socks5 proxy-url talks HTTP/2 through it', async () => {
  const server = await LoopbackServer.start((request, response) => {
    response.end(`"${request.httpVersion}"`)
  })
  cleanups.push(() => server.stop())
  const connected = `050100017f000001${server.port.toString(16).padStart(4, '0')}`
  const { port, received } = await scripted(
    [
      ['050100', '0500'],
      [connected, GRANTED],
    ],
    (socket) => {
      const onward = connect(server.port, '127.0.0.1')
      onward.on('error', () => {})
      socket.pipe(onward).pipe(socket)
      cleanups.push(() => onward.destroy())
    },
  )
  const clock = new SystemClock()
  const pool = new TransportPool({ host: new FakeHost(), clock })
  cleanups.push(() => pool.close())
  const transport = pool.transport({
    server: server.url,
    tls: { caData: certificates.authority },
    proxyUrl: `socks5://127.0.0.1:${port}`,
  })
  const client = new ApiClient({ transport, clock, qps: -1 })
  assert.equal(await client.raw({ method: 'GET', path: '/' }), '"2.0"')
  assert.equal(received[1], connected)
})
