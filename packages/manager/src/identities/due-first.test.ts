import assert from 'node:assert/strict'
import { test } from 'node:test'
import { memoryTransport } from '@gyropilot/client'
import type { TransportRequest, TransportResponse } from '@gyropilot/client'
import { sleep } from '@gyropilot/foundation'
import { virtualClock } from '@gyropilot/foundation/testing'
import { DueFirst } from './due-first.ts'

const TAKES_MS = 5
const ANSWER: TransportResponse = { status: 200, headers: {}, body: { kind: 'value', value: {} } }

/** A server that takes 5 ms for each request and notes when it gets it. */
function ordered() {
  const clock = virtualClock()
  const got: string[] = []
  const inner = memoryTransport(async ({ path, signal }) => {
    signal?.throwIfAborted()
    got.push(`${clock.monotonicMs()} ${path}`)
    await sleep(clock, TAKES_MS)
    return ANSWER
  })
  const order = new DueFirst(clock)
  const [cronJobs, jobs] = [order.transport(inner), order.transport(inner)]
  const due = (path: string) => cronJobs.send({ method: 'POST', path, headers: {}, due: true })
  const other = (path: string, method: TransportRequest['method'] = 'PUT', signal?: AbortSignal) =>
    jobs.send({ method, path, headers: {}, ...(signal === undefined ? {} : { signal }) })
  return { clock, got, due, other }
}

test('with nothing due nothing waits', async () => {
  const { clock, got, other } = ordered()
  void other('a')
  void other('b')
  await clock.advance(0)
  assert.deepEqual(got, ['0 a', '0 b'])
})

test('while due writes come the others go one after the other, in their order; reads pass', async () => {
  const { clock, got, due, other } = ordered()
  const run = async (): Promise<void> => {
    for (const path of ['due-1', 'due-2', 'due-3', 'due-4']) await due(path)
  }
  void run()
  await clock.advance(1)
  for (const path of ['a', 'b', 'c']) void other(path)
  void other('read', 'GET')
  await clock.advance(100)
  assert.deepEqual(got, [
    '0 due-1',
    '1 a',
    '1 read',
    '5 due-2',
    '6 b',
    '10 due-3',
    '11 c',
    '15 due-4',
  ])
})

test('ten milliseconds after the last due write nobody waits any more', async () => {
  const { clock, got, due, other } = ordered()
  void due('due')
  await clock.advance(14)
  for (const path of ['a', 'b', 'c']) void other(path)
  await clock.advance(2)
  void other('d')
  await clock.advance(100)
  assert.deepEqual(got, ['0 due', '14 a', '15 b', '15 c', '16 d'])
})

test('in the next burst others go one after the other again, those of the last one too', async () => {
  const { clock, got, due, other } = ordered()
  for (let burst = 0; burst < 2; burst++) {
    void due('due')
    for (const path of ['a', 'b', 'c', 'd']) void other(path)
    await clock.advance(16)
  }
  await clock.advance(100)
  assert.deepEqual(got, [
    '0 due',
    '0 a',
    '5 b',
    '10 c',
    '15 d',
    '16 due',
    '20 a',
    '25 b',
    '30 c',
    '31 d',
  ])
})

test('a write that fails holds nobody up, due or not', async () => {
  const clock = virtualClock()
  const order = new DueFirst(clock)
  const sent: string[] = []
  const transport = order.transport({
    send: ({ path }) => {
      sent.push(`${clock.monotonicMs()} ${path}`)
      return sleep(clock, 5).then(() => Promise.reject(new Error('no answer')))
    },
    close: () => Promise.resolve(),
  })
  const send = (path: string, due?: true) =>
    transport.send({ method: 'POST', path, headers: {}, ...(due && { due }) }).catch(() => {})
  void send('due', true)
  for (const path of ['a', 'b', 'c', 'd', 'e']) void send(path)
  await clock.advance(100)
  assert.deepEqual(sent, ['0 due', '0 a', '5 b', '10 c', '15 d', '15 e'])
})

test('a write that the server does not answer keeps the others for a tenth of a second and no longer', async () => {
  const clock = virtualClock()
  const sent: string[] = []
  const transport = new DueFirst(clock).transport({
    send: ({ path }) => {
      sent.push(`${clock.monotonicMs()} ${path}`)
      return path === 'quick' ? sleep(clock, 5).then(() => ANSWER) : new Promise(() => {})
    },
    close: () => Promise.resolve(),
  })
  const send = (path: string, due?: true) =>
    void transport.send({ method: 'POST', path, headers: {}, ...(due && { due }) })
  send('due', true)
  for (const path of ['hangs', 'hangs too', 'quick', 'quick']) send(path)
  await clock.advance(1_000)
  assert.deepEqual(sent, ['0 due', '0 hangs', '100 hangs too', '200 quick', '205 quick'])
})

test('who gives up does not wait for its turn, and keeps nobody from it', async () => {
  const { clock, got, due, other } = ordered()
  void due('due')
  void other('a')
  const giving = new AbortController()
  const gone = assert.rejects(other('given up', 'PUT', giving.signal))
  void other('b')
  await clock.advance(1)
  giving.abort()
  await gone
  await clock.advance(100)
  assert.deepEqual(got, ['0 due', '0 a', '5 b'])
})

test('closing one closes the transport behind it', async () => {
  let closed = false
  const inner = {
    send: () => Promise.reject(new Error('none')),
    close: async () => void (closed = true),
  }
  await new DueFirst(virtualClock()).transport(inner).close()
  assert.equal(closed, true)
})
