// The same mutations over a socket, and bytes that are no requests at all. FUZZ_SEED=... repeats a run.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { connect } from 'node:tls'
import { SeededRandom, SystemClock, SystemRandom, integerBetween } from '@gyropilot/foundation'
import type { RandomSource } from '@gyropilot/foundation'
import { createClusterCertificates } from '@gyropilot/api-server'
import { createTestServer } from '@gyropilot/api-server/testing'
import { objectionTo, pollution } from './answers.ts'
import { instantiate, mutate, pick, recordedSteps } from './mutations.ts'
import type { FuzzRequest } from './mutations.ts'

const SEED = process.env['FUZZ_SEED'] ?? 'wire'
const CASES = 800
const LANES = 8
const GARBAGE_SHARE = 0.2
const clock = new SystemClock()
// Streams and upgrades have no end to wait for, and a version of the future is waited for in real time.
const steps = recordedSteps().filter(
  ({ path, query }) =>
    !/watch|exec|attach|portforward|proxy|log/.test(path + JSON.stringify(query)),
)

/** What the server says until it closes the connection; empty when it says nothing. */
function exchange(port: number, bytes: Buffer, complete: boolean): Promise<string> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = []
    const socket = connect({ host: '127.0.0.1', port, rejectUnauthorized: false }, () => {
      if (complete) socket.write(bytes)
      else socket.end(bytes)
    })
    socket.on('data', (chunk: Buffer) => chunks.push(chunk))
    socket.on('error', () => {})
    socket.on('close', () => resolve(Buffer.concat(chunks).toString('latin1')))
  })
}

function serialized({ method, path, headers, body }: FuzzRequest): Buffer {
  const lines = Object.entries({
    host: 'x',
    authorization: 'Bearer test-token',
    ...headers,
    connection: 'close',
    'content-length': String(body?.length ?? 0),
  }).map(([name, value]) => `${name}: ${value}\r\n`)
  return Buffer.concat([
    Buffer.from(`${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n`),
    body ?? Buffer.alloc(0),
  ])
}

/** Random bytes, or a request with random bytes in it. */
function garbage(random: RandomSource, request: FuzzRequest): Buffer {
  const bytes = Buffer.from(
    Array.from({ length: integerBetween(random, 1, 300) }, () => integerBetween(random, 0, 256)),
  )
  if (random.next() < 0.5) return bytes
  const whole = serialized(request)
  const at = integerBetween(random, 0, whole.length)
  return Buffer.concat([whole.subarray(0, at), bytes, whole.subarray(at)])
}

test('random bytes and random requests over a socket are answered or cut, and the server goes on', async (t) => {
  const server = await createTestServer({ clock: clock as never })
  const certificates = createClusterCertificates({ clock, random: new SystemRandom() })
  const { certificatePem, privateKeyPem: keyPem } = certificates.serving
  const { port } = await server.server.listen({
    host: '127.0.0.1',
    port: 0,
    certificatePem,
    keyPem,
  })
  t.after(() => server.server.stop(0))
  const failures: string[] = []
  const statuses = new Map<string, number>()
  const lane = async (_: unknown, index: number): Promise<void> => {
    const random = new SeededRandom(`${SEED}/${index}`)
    for (let i = 0; i < CASES / LANES; i++) {
      const request = instantiate(pick(random, steps), 'default')
      mutate(random, request)
      const broken = random.next() < GARBAGE_SHARE
      if (/watch|follow|resourceVersion|timeout/i.test(request.path)) continue
      const text = await exchange(
        port,
        broken ? garbage(random, request) : serialized(request),
        !broken,
      )
      const status = text.slice(9, 12)
      statuses.set(status, (statuses.get(status) ?? 0) + 1)
      const objection =
        text === ''
          ? undefined
          : (objectionTo(Number(status), text.slice(text.indexOf('\r\n\r\n') + 4)) ?? pollution())
      if (objection !== undefined)
        failures.push(
          `FUZZ_SEED=${SEED} lane ${index} case ${i}: ${objection}\n${request.method} ${request.path}`,
        )
    }
  }
  await Promise.all(Array.from({ length: LANES }, lane))
  assert.deepEqual(failures.slice(0, 5), [])
  const taken = (statuses.get('200') ?? 0) + (statuses.get('201') ?? 0)
  assert.ok(taken > 20 && (statuses.get('400') ?? 0) > 50, JSON.stringify([...statuses]))
  const alive = await exchange(
    port,
    Buffer.from('GET /readyz HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n'),
    true,
  )
  assert.match(alive, /^HTTP\/1\.1 200 /)
})
