import assert from 'node:assert/strict'
import { connect as connectTcp, createServer } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'
import { test } from 'node:test'
import { virtualClock } from '@gyropilot/foundation/testing'
import { HttpTransport } from './http-transport.ts'
import { LoopbackServer } from './loopback-server.ts'
import { SharedDials } from './shared-dials.ts'
import * as certificates from './test-certificates.ts'

function world() {
  const clock = virtualClock()
  const dials: PromiseWithResolvers<void>[] = []
  const shared = new SharedDials(clock, () => {
    dials.push(Promise.withResolvers<void>())
    return dials.at(-1)!.promise
  })
  const told: string[] = []
  const wait = (who: string): void =>
    void shared.next().then(
      () => told.push(`${who}: connected`),
      (error: Error) => told.push(`${who}: ${error.message}`),
    )
  return { clock, dials, told, wait }
}

test('all wait for one dial, and the next begins another when that has taken 2 s', async () => {
  const { clock, dials, wait } = world()
  wait('a')
  await clock.advance(1_999)
  wait('b')
  assert.equal(dials.length, 1)
  await clock.advance(1)
  wait('c')
  wait('d')
  assert.equal(dials.length, 2)
  await clock.advance(2_000)
  wait('e')
  assert.equal(dials.length, 3)
})

test('the failure of a dial that hung is not told while a later one may succeed', async () => {
  const { clock, dials, told, wait } = world()
  wait('a')
  await clock.advance(2_000)
  wait('b')
  dials[0]!.reject(new Error('handshake timeout'))
  await clock.advance(0)
  assert.deepEqual(told, [])
  dials[1]!.resolve()
  await clock.advance(0)
  assert.deepEqual(told, ['a: connected', 'b: connected'])
})

test('what comes of the later dial counts for all who wait, and what comes of the others then is no concern of theirs', async () => {
  for (const [end, expected] of [
    [(dial: PromiseWithResolvers<void>) => dial.resolve(), 'connected'],
    [(dial: PromiseWithResolvers<void>) => dial.reject(new Error('refused')), 'refused'],
  ] as const) {
    const { clock, dials, told, wait } = world()
    wait('a')
    await clock.advance(2_000)
    wait('b')
    end(dials[1]!)
    await clock.advance(0)
    assert.deepEqual(told, [`a: ${expected}`, `b: ${expected}`])
    // It is over: whoever comes now dials anew, while the first still hangs.
    wait('c')
    assert.equal(dials.length, 3)
    dials[0]!.reject(new Error('handshake timeout'))
    await clock.advance(0)
    wait('d')
    assert.equal(dials.length, 3)
    dials[2]!.resolve()
    await clock.advance(0)
    assert.deepEqual(told.slice(2), ['c: connected', 'd: connected'])
  }
})

/** A load balancer in front of a server: the first connection goes to a machine that takes it and says nothing. */
async function balancer(port: number) {
  const sockets = new Set<Socket>()
  const taken = Promise.withResolvers<void>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    if (sockets.size === 1) {
      socket.once('data', () => taken.resolve())
      return
    }
    const behind = connectTcp({ port, host: '127.0.0.1' })
    behind.on('error', () => {})
    sockets.add(behind.pipe(socket).pipe(behind))
  })
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  return {
    url: `https://127.0.0.1:${(server.address() as AddressInfo).port}`,
    taken: taken.promise,
    stop(): void {
      for (const socket of sockets) socket.destroy()
      server.close()
    },
  }
}

test('a handshake that hangs does not hold up the next request, nor, from then on, those that waited', async () => {
  const server = await LoopbackServer.start((_, response) => void response.end('{}'))
  const { url, taken, stop } = await balancer(server.port)
  const clock = virtualClock()
  const transport = new HttpTransport({ server: url, clock, tls: { ca: certificates.authority } })
  const send = () => transport.send({ method: 'GET', path: '/', headers: {} })
  const first = send()
  await taken
  await clock.advance(2_000)
  const answers = await Promise.all([send(), first])
  assert.deepEqual(
    answers.map(({ status }) => status),
    [200, 200],
  )
  await transport.close()
  stop()
  await server.stop()
})
