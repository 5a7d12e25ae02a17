import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SeededRandom } from '@gyropilot/foundation'
import { virtualClock } from '@gyropilot/foundation/testing'
import { memoryTransport } from './memory-transport.ts'
import { TransportError } from './transport.ts'
import type { TransportRequest, TransportResponse } from './transport.ts'

const request: TransportRequest = { method: 'GET', path: '/x', headers: {} }
const answer = (value: unknown): TransportResponse => ({
  status: 200,
  headers: {},
  body: { kind: 'value', value },
})
const hasCode = (code: string) => (error: unknown) =>
  error instanceof TransportError && error.code === code

test('hands values over as they are, in both directions', async () => {
  const sent = { kind: 'Pod' }
  let received: unknown
  const transport = memoryTransport(async (incoming) => {
    received = (incoming.body as { json: unknown }).json
    return answer(sent)
  })
  const response = await transport.send({ ...request, body: { json: sent } })
  assert.equal(received, sent)
  assert.equal((response.body as { value: unknown }).value, sent)
})

test('delays by the clock, with the same seed in the same way', async () => {
  const arrivals = async (): Promise<number[]> => {
    const clock = virtualClock(0)
    const times: number[] = []
    const delay = { clock, random: new SeededRandom('net'), minimumMs: 5, maximumMs: 50 }
    const transport = memoryTransport(
      async () => {
        times.push(clock.nowMs())
        return answer(1)
      },
      { delay },
    )
    for (let i = 0; i < 5; i++) void transport.send(request)
    await clock.advance(100)
    return times
  }
  const first = await arrivals()
  assert.equal(first.length, 5)
  for (const time of first) assert.ok(time >= 5 && time < 50)
  assert.deepEqual(await arrivals(), first)
})

test('a request given up on its way never arrives; one given up later rejects at once', async () => {
  const clock = virtualClock()
  let arrived = 0
  const delay = { clock, random: new SeededRandom('net'), minimumMs: 5, maximumMs: 6 }
  const transport = memoryTransport(
    () => {
      arrived++
      return new Promise(() => {})
    },
    { delay },
  )
  const early = new AbortController()
  const pending = transport.send({ ...request, signal: early.signal })
  early.abort()
  await assert.rejects(pending, hasCode('ABORTED'))
  await clock.advance(100)
  assert.equal(arrived, 0)
  const late = new AbortController()
  const hanging = transport.send({ ...request, signal: late.signal })
  await clock.advance(100)
  assert.equal(arrived, 1)
  late.abort()
  await assert.rejects(hanging, hasCode('ABORTED'))
  await assert.rejects(transport.send({ ...request, signal: late.signal }), hasCode('ABORTED'))
})

test('a closed transport refuses', async () => {
  const transport = memoryTransport(async () => answer(1))
  await transport.close()
  await assert.rejects(transport.send(request), hasCode('CLOSED'))
})
