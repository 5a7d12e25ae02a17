/** What is held for others goes out before work that may take long: over real sockets, since only the listener can see to it. */
import assert from 'node:assert/strict'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { test } from 'node:test'
import { connect, type TLSSocket } from 'node:tls'
import { SystemClock, SystemRandom } from '@gyropilot/foundation'
import { createClusterCertificates } from '../../tls/index.ts'
import type { Answer } from '../answer.ts'
import { GatheredAnswers } from './gathered-answers.ts'
import { listen } from './listener.ts'

const REQUESTS_STARTED = 'http.server.request.start'
const REQUEST = 'GET / HTTP/1.1\r\nhost: a\r\n\r\n'

const done: Answer = { status: 200, body: { kind: 'object', value: { done: true } } }

/** Tells when an answer has been given to it. */
class SeenAnswers extends GatheredAnswers {
  given = (): void => {}

  override end(response: ServerResponse, text: string): void {
    super.end(response, text)
    this.given()
  }
}

test('an answer that waits for those of its turn goes out before the next request is worked on, once it waited a millisecond', async (context) => {
  const certificates = createClusterCertificates({
    clock: new SystemClock(),
    random: new SystemRandom(),
  })
  const { certificatePem, privateKeyPem: keyPem } = certificates.serving
  const responses: ServerResponse[] = []
  const onStart = (message: unknown): void => {
    responses.push((message as { readonly response: ServerResponse }).response)
  }
  subscribe(REQUESTS_STARTED, onStart)
  let nowMs = 0
  let endTurn = (): void => assert.fail('no turn is looked at')
  const answers = new SeenAnswers({
    nowMs: () => nowMs,
    whenTurnEnds: (then) => void (endTurn = then),
  })
  /** Whether the first request has its answer, when each is worked on. */
  const firstAnswered: boolean[] = []
  const listener = await listen('127.0.0.1', 0, {
    certificatePem,
    keyPem,
    requestClientCertificates: false,
    answers,
    answer: async () => {
      firstAnswered.push(responses[0]!.writableEnded)
      return done
    },
  })
  const sockets: TLSSocket[] = []
  context.after(async () => {
    unsubscribe(REQUESTS_STARTED, onStart)
    for (const socket of sockets) socket.destroy()
    await listener.stop(0)
  })
  for (let i = 0; i < 3; i++) {
    const ca = certificates.authority.certificatePem
    const socket = connect({ host: '127.0.0.1', port: listener.port, ca })
    await once(socket, 'secureConnect')
    sockets.push(socket)
  }
  // Several in one turn: those of the next are held.
  const answered = sockets.map((socket) => once(socket, 'data'))
  for (const socket of sockets) socket.write(REQUEST)
  await Promise.all(answered)
  endTurn()
  responses.length = 0
  firstAnswered.length = 0

  const ask = async (socket: TLSSocket): Promise<void> => {
    const { promise, resolve } = Promise.withResolvers<void>()
    answers.given = resolve
    socket.write(REQUEST)
    await promise
  }
  const all = sockets.map((socket) => once(socket, 'data'))
  await ask(sockets[0]!)
  await ask(sockets[1]!)
  nowMs = 1
  await ask(sockets[2]!)
  assert.deepEqual(firstAnswered, [false, false, true])
  endTurn()
  await Promise.all(all)
})
