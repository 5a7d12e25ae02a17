// A failure prints the seed of its batch: FUZZ_SEED=... repeats exactly that batch. FUZZ_BATCHES=500 looks for longer.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { SeededRandom, silentLogger } from '@gyropilot/foundation'
import type { Logger, VirtualClock } from '@gyropilot/foundation'
import { createTestServer, turn } from '@gyropilot/api-server/testing'
import type { TestServer } from '@gyropilot/api-server/testing'
import { objectionTo, pollution } from './answers.ts'
import { instantiate, mutate, pick, recordedSteps } from './mutations.ts'
import type { FuzzRequest } from './mutations.ts'

const BATCHES = Number(process.env['FUZZ_BATCHES'] ?? 40)
const CASES_PER_BATCH = 400
const SEED = process.env['FUZZ_SEED']
/** Of requests that stay as they were recorded: they fill the server with objects for the others to meet. */
const UNCHANGED_SHARE = 0.2
const SHOWN_FAILURES = Number(process.env['FUZZ_SHOWN'] ?? 5)
const TOKEN = 'test-token'
const steps = recordedSteps()

const rejections: unknown[] = []
const onRejection = (reason: unknown): void => void rejections.push(reason)
process.on('unhandledRejection', onRejection)
after(() => process.off('unhandledRejection', onRejection))

/** What the server logs as an error is a failure that it did not expect, whatever it answered. */
function recordingLogger(errors: string[]): Logger {
  const logger: Logger = {
    ...silentLogger,
    error: (error, message) =>
      void errors.push(`${message}: ${error instanceof Error ? error.stack : String(error)}`),
    named: () => logger,
  }
  return logger
}

interface Told {
  readonly status: number
  readonly text: string
}

/** Virtual time goes on while the request waits for something: a version of the future, the end of a watch. */
async function settled<T>(clock: VirtualClock, pending: Promise<T>): Promise<T> {
  const progress = { done: false }
  const watched = pending.finally(() => (progress.done = true))
  for (let turns = 0; turns < 20; turns++) {
    if (progress.done) return watched
    await turn()
  }
  if (!(await clock.advanceUntil(() => progress.done, 120_000)))
    throw new Error('no answer within two minutes')
  return watched
}

async function answered({ server, clock }: TestServer, request: FuzzRequest): Promise<Told> {
  const abort = new AbortController()
  const { method, path, body } = request
  const response = await settled(
    clock,
    server.handle({
      method,
      path,
      headers: { authorization: `Bearer ${TOKEN}`, ...request.headers },
      body: body === undefined ? undefined : { bytes: body },
      signal: abort.signal,
    }),
  )
  const { status } = response
  if (response.body.kind === 'value')
    return { status, text: JSON.stringify(response.body.value) ?? '' }
  if (response.body.kind === 'events') {
    let text = ''
    const { events } = response.body
    const reading = (async () => {
      for await (const event of events) text += JSON.stringify(event)
    })()
    await turn()
    abort.abort()
    await settled(clock, reading)
    return { status, text }
  }
  const chunks: Uint8Array[] = []
  const { chunks: stream } = response.body
  await settled(
    clock,
    (async () => {
      for await (const chunk of stream) chunks.push(chunk)
    })(),
  )
  return { status, text: Buffer.concat(chunks).toString() }
}

async function runBatch(seed: string, failures: string[]): Promise<Map<number, number>> {
  const random = new SeededRandom(seed)
  const errors: string[] = []
  const server = await createTestServer({ logger: recordingLogger(errors) })
  const namespaces = ['fuzz-a', 'fuzz-b', 'default']
  for (const name of namespaces) {
    await server.request('POST', '/api/v1/namespaces', {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name },
    })
    const account = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'default' } }
    await server.request('POST', `/api/v1/namespaces/${name}/serviceaccounts`, account)
  }
  const statuses = new Map<number, number>()
  for (let index = 0; index < CASES_PER_BATCH; index++) {
    const request = instantiate(pick(random, steps), pick(random, namespaces))
    if (random.next() >= UNCHANGED_SHARE) mutate(random, request)
    let objection: string | undefined
    try {
      const { status, text } = await answered(server, request)
      statuses.set(status, (statuses.get(status) ?? 0) + 1)
      objection = objectionTo(status, text)
    } catch (error) {
      objection = `threw ${error instanceof Error ? error.stack : String(error)}`
    }
    objection = errors.shift() ?? objection ?? pollution()
    if (rejections.length > 0) objection ??= `unhandled rejection: ${String(rejections.shift())}`
    if (objection === undefined) continue
    const { method, path, headers, body } = request
    const shown = `${method} ${path} ${JSON.stringify(headers)}\n${body?.toString() ?? ''}`
    failures.push(`FUZZ_SEED=${seed} case ${index}: ${objection}\n${shown.slice(0, 2000)}`)
  }
  const { status } = await server.request('GET', '/readyz')
  assert.equal(status, 200, `FUZZ_SEED=${seed}: the server is not ready any more`)
  await server.server.stop(0)
  return statuses
}

test('random mutations of valid requests never get an undocumented 5xx and never harm the process', async () => {
  const seeds =
    SEED === undefined
      ? Array.from({ length: BATCHES }, (_, batch) => `robustness/${batch}`)
      : [SEED]
  const total = new Map<number, number>()
  const failures: string[] = []
  for (const seed of seeds) {
    for (const [status, count] of await runBatch(seed, failures))
      total.set(status, (total.get(status) ?? 0) + count)
  }
  const shown = failures.slice(0, SHOWN_FAILURES).join('\n\n')
  assert.equal(failures.length, 0, `${failures.length} failures, the first of them:\n${shown}`)
  // A fuzz test whose requests all end at the door tests the door.
  if (SEED === undefined) {
    for (const status of [200, 201, 400, 404, 409, 422])
      assert.ok((total.get(status) ?? 0) > 5, `${status}: ${total.get(status)} times`)
  }
})
