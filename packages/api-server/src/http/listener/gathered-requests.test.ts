/** Requests that were read in one turn are worked on at its end, over real sockets, since only the listener can see to it. */
import assert from 'node:assert/strict'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { test, type TestContext } from 'node:test'
import { connect, type TLSSocket } from 'node:tls'
import { SystemClock, SystemRandom, TurnGate, settle } from '@gyropilot/foundation'
import { createClusterCertificates } from '../../tls/index.ts'
import { listen } from './listener.ts'

const REQUESTS_STARTED = 'http.server.request.start'

/** A listener whose gate lets two pass in each turn that the test ends, and one socket for each path that asked for it. */
async function listenerAsked(context: TestContext, paths: readonly string[]) {
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
  const responses: ServerResponse[] = []
  for (const path of paths) {
    const ca = authority.certificatePem
    const socket = connect({ host: '127.0.0.1', port: listener.port, ca })
    sockets.push(socket)
    await once(socket, 'secureConnect')
    const response = nextRequest()
    socket.write(`GET ${path} HTTP/1.1\r\nhost: a\r\n\r\n`)
    responses.push(await response)
  }
  for (let turn = 0; turn < 5; turn++) await settle()
  const turn = async (): Promise<void> => {
    endTurn()
    await settle()
  }
  return { answered, sockets, responses, turn }
}

function nextRequest(): Promise<ServerResponse> {
  return new Promise((resolve) => {
    const onStart = (message: unknown): void => {
      unsubscribe(REQUESTS_STARTED, onStart)
      resolve((message as { readonly response: ServerResponse }).response)
    }
    subscribe(REQUESTS_STARTED, onStart)
  })
}

test('requests wait for the end of the turn in which they were read, and pass it in their order', async (context) => {
  const { answered, turn } = await listenerAsked(context, ['/a', '/b', '/c'])
  assert.deepEqual(answered, [])
  await turn()
  assert.deepEqual(answered, ['/a', '/b'])
  await turn()
  assert.deepEqual(answered, ['/a', '/b', '/c'])
  await turn()
})

test('what nobody waits for any more at the end of the turn is not worked on', async (context) => {
  const { answered, sockets, responses, turn } = await listenerAsked(context, ['/gone', '/b'])
  const closed = once(responses[0]!, 'close')
  sockets[0]!.destroy()
  await closed
  await turn()
  assert.deepEqual(answered, ['/b'])
  await turn()
})
