/** Requests that were read in one turn are worked on at its end, over real sockets, since only the listener can see to it. */
import assert from 'node:assert/strict'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { once } from 'node:events'
import { test } from 'node:test'
import { connect, type TLSSocket } from 'node:tls'
import { SystemClock, SystemRandom, TurnGate, settle } from '@gyropilot/foundation'
import { createClusterCertificates } from '../../tls/index.ts'
import { listen } from './listener.ts'

const REQUESTS_STARTED = 'http.server.request.start'

function nextRequest(): Promise<void> {
  return new Promise((resolve) => {
    const onStart = (): void => {
      unsubscribe(REQUESTS_STARTED, onStart)
      resolve()
    }
    subscribe(REQUESTS_STARTED, onStart)
  })
}

test('requests wait for the end of the turn in which they were read, and pass it in their order', async (context) => {
  const { serving, authority } = createClusterCertificates({
    clock: new SystemClock(),
    random: new SystemRandom(),
  })
  let endTurn = (): void => assert.fail('nobody waits for a turn')
  const gate = new TurnGate({
    clock: { monotonicMs: () => 0 },
    nextTurn: () => new Promise((resolve) => (endTurn = resolve)),
    perTurn: 2,
    gathers: true,
  })
  const answered: string[] = []
  const listener = await listen('127.0.0.1', 0, {
    certificatePem: serving.certificatePem,
    keyPem: serving.privateKeyPem,
    requestClientCertificates: false,
    gate,
    answer: async ({ path }) => {
      answered.push(path)
      return { status: 200, body: { kind: 'object', value: {} } }
    },
  })
  const sockets: TLSSocket[] = []
  context.after(async () => {
    for (const socket of sockets) socket.destroy()
    await listener.stop(0)
  })
  for (const path of ['/a', '/b', '/c']) {
    const ca = authority.certificatePem
    const socket = connect({ host: '127.0.0.1', port: listener.port, ca })
    sockets.push(socket)
    await once(socket, 'secureConnect')
    const isRead = nextRequest()
    socket.write(`GET ${path} HTTP/1.1\r\nhost: a\r\n\r\n`)
    await isRead
  }
  for (let turn = 0; turn < 5; turn++) await settle()
  assert.deepEqual(answered, [])
  endTurn()
  await settle()
  assert.deepEqual(answered, ['/a', '/b'])
  endTurn()
  await settle()
  assert.deepEqual(answered, ['/a', '/b', '/c'])
  endTurn()
})
