/** Contract: docs/behaviour/runtime/rest-client.md, Transport. */
import assert from 'node:assert/strict'
import type { AddressInfo } from 'node:net'
import { after, test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { createServer } from 'node:tls'
import { virtualClock, FakeHost } from '@gyropilot/foundation/testing'
import * as certificates from '../http-transport/test-certificates.ts'
import { TransportPool } from './connect.ts'

const cleanups: (() => Promise<void>)[] = []
after(async () => {
  for (const cleanup of cleanups.reverse()) await cleanup()
})

/** Takes requests and answers none, as a machine that lost power. */
async function silentServer() {
  const identity = { cert: certificates.serverCertificate, key: certificates.serverKey }
  const asked = Promise.withResolvers<string>()
  const server = createServer({ ...identity, ALPNProtocols: ['h2', 'http/1.1'] }, (socket) => {
    socket.on('error', () => {})
    const protocol = String(socket.alpnProtocol)
    if (protocol === 'h2') socket.write(Buffer.from('000000040000000000', 'hex'))
    socket.on('data', (chunk) => chunk.includes('/hangs') && asked.resolve(protocol))
    cleanups.push(async () => void socket.destroy())
  })
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  cleanups.push(async () => void server.close())
  return {
    url: `https://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked: asked.promise,
  }
}

async function hanging(variables: Readonly<Record<string, string>>) {
  const { url, asked } = await silentServer()
  const clock = virtualClock()
  const pool = new TransportPool({ host: new FakeHost({}, { ...variables }), clock })
  cleanups.push(() => pool.close())
  const transport = pool.transport({ server: url, tls: { caData: certificates.authority } })
  let lost = false
  transport.send({ method: 'GET', path: '/hangs', headers: {} }).catch(() => {
    lost = true
  })
  return { clock, protocol: await asked, isLost: () => lost }
}

const LOST: readonly (readonly [string, Readonly<Record<string, string>>, number])[] = [
  ['30 s and 15 s', {}, 45_000],
  ['that of the environment', { HTTP2_READ_IDLE_TIMEOUT_SECONDS: '5' }, 20_000],
  ['its answer that of the environment', { HTTP2_PING_TIMEOUT_SECONDS: '2' }, 32_000],
  ['what is no number is not heard', { HTTP2_READ_IDLE_TIMEOUT_SECONDS: '5s' }, 45_000],
]
for (const [title, variables, afterMs] of LOST)
  test(`the silence that a connection is given up after: ${title}`, async () => {
    const { clock, isLost } = await hanging(variables)
    await clock.advance(afterMs - 1_000)
    assert.equal(isLost(), false)
    await clock.advance(1_001)
    for (let turn = 0; turn < 100 && !isLost(); turn++) await setImmediate()
    assert.equal(isLost(), true)
  })

test('a wait of 0 asks no connection whether it lives', async () => {
  const { clock, isLost } = await hanging({ HTTP2_READ_IDLE_TIMEOUT_SECONDS: '0' })
  await clock.advance(3_600_000)
  assert.equal(isLost(), false)
})

test('DISABLE_HTTP2 leaves HTTP/1.1', async () => {
  assert.equal((await hanging({})).protocol, 'h2')
  assert.equal((await hanging({ DISABLE_HTTP2: '1' })).protocol, 'http/1.1')
})
