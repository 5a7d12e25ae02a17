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

test('while due writes come the others begin one after the other, 25 ms apart, in their order; reads pass', async () => {
  const { clock, got, due, other } = ordered()
  const run = async (): Promise<void> => {
    for (const path of ['1', '2', '3', '4', '5', '6', '7', '8', '9', '10']) await due(path)
  }
  void run()
  await clock.advance(1)
  for (const path of ['a', 'b', 'c', 'd', 'e']) void other(path)
  for (const method of ['GET', 'HEAD', 'OPTIONS'] as const) void other('read', method)
  await clock.advance(200)
  assert.deepEqual(
    got.filter((line) => !/\d$/.test(line)),
    ['1 a', '1 read', '1 read', '1 read', '26 b', '51 c', '60 d', '60 e'],
  )
  assert.equal(got.length, 18)
})

test('ten milliseconds after the last due write nobody waits any more', async () => {
  const { clock, got, due, other } = ordered()
  void due('due')
  await clock.advance(13)
  for (const path of ['a', 'b', 'c']) void other(path)
  await clock.advance(3)
  void other('d')
  await clock.advance(100)
  assert.deepEqual(got, ['0 due', '13 a', '15 b', '15 c', '16 d'])
})

test('it lasts as long as one of several due writes is under way', async () => {
  const { clock, got, due, other } = ordered()
  void due('quick')
  await clock.advance(2)
  void due('later')
  await clock.advance(4)
  for (const path of ['a', 'b']) void other(path)
  await clock.advance(100)
  assert.deepEqual(got, ['0 quick', '2 later', '6 a', '17 b'])
})

test('the next burst has a pace of its own, which those of the last one keep to as well', async () => {
  const { clock, got, due, other } = ordered()
  for (let burst = 0; burst < 2; burst++) {
    void due('due')
    for (const path of ['a', 'b']) void other(path)
    await clock.advance(14)
  }
  void due('due')
  await clock.advance(100)
  assert.deepEqual(got, ['0 due', '0 a', '14 due', '25 b', '28 due', '43 a', '43 b'])
})

test('a write that fails or is not answered holds nobody up, due or not', async () => {
  const clock = virtualClock()
  const order = new DueFirst(clock)
  const sent: string[] = []
  const transport = order.transport({
    send: ({ path }) => {
      sent.push(`${clock.monotonicMs()} ${path}`)
      if (path === 'hangs') return new Promise(() => {})
      return sleep(clock, 40).then(() => Promise.reject(new Error('no answer')))
    },
    close: () => Promise.resolve(),
  })
  const send = (path: string, due?: true) =>
    transport.send({ method: 'POST', path, headers: {}, ...(due && { due }) }).catch(() => {})
  void send('due', true)
  for (const path of ['hangs', 'a', 'b', 'c']) void send(path)
  await clock.advance(100)
  assert.deepEqual(sent, ['0 due', '0 hangs', '25 a', '50 b', '50 c'])
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
  await clock.advance(10)
  void due('due')
  await clock.advance(100)
  assert.deepEqual(got, ['0 due', '0 a', '11 due', '25 b'])
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
