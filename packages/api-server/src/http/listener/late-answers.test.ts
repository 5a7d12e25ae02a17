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
import { listen } from './listener.ts'

const REQUESTS_STARTED = 'http.server.request.start'
const REQUEST = 'GET / HTTP/1.1\r\nhost: a\r\n\r\n'
/** Of chance, and rare where others take the processor away: that a round is read in one turn, and its answers within a millisecond. */
const MOST_ROUNDS = 5_000

const done: Answer = { status: 200, body: { kind: 'object', value: { done: true } } }

/** Without a pause, in which others would have a turn. */
function workFor(ms: number): void {
  const start = performance.now()
  while (performance.now() - start < ms);
}

test('an answer that waits for those of its turn goes out before the next request is worked on for long', async (context) => {
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
  let answer: () => Answer | Promise<Answer> = () => done
  const listener = await listen('127.0.0.1', 0, {
    certificatePem,
    keyPem,
    requestClientCertificates: false,
    answer: async () => answer(),
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
  /** A request on each connection, and the answers to all. */
  const round = async (): Promise<void> => {
    responses.length = 0
    const answered = sockets.map((socket) => once(socket, 'data'))
    for (const socket of sockets) socket.write(REQUEST)
    // So that all have arrived when the listener looks, on a busy machine too.
    workFor(2)
    await Promise.all(answered)
  }
  /** Of the first answer, when the next two requests are worked on. */
  let sent: readonly boolean[] = []
  for (let i = 0; i < MOST_ROUNDS && sent[0] !== false; i++) {
    // Several in one turn: those of the next are held.
    answer = () => done
    await round()
    let asked = 0
    const seen: boolean[] = []
    answer = async () => {
      asked++
      if (asked > 1) seen.push(responses[0]!.writableEnded)
      if (asked === 2) {
        workFor(2)
        await new Promise(setImmediate)
      }
      return done
    }
    await round()
    sent = seen
  }
  assert.deepEqual(sent, [false, true])
})
