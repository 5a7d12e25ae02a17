import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ChunkStream } from '../http-transport/chunk-stream.ts'
import { decodeWatch, takeDecoded } from './decoded-events.ts'

const line = (name: string): string =>
  `${JSON.stringify({ type: 'ADDED', object: { kind: 'Pod', apiVersion: 'v1', metadata: { name } } })}\n`

function world() {
  const state = { cancelled: 0 }
  const chunks = new ChunkStream({ pause() {}, resume() {}, cancel: () => state.cancelled++ })
  const events = decodeWatch(chunks)
  const send = (text: string): void => chunks.push(Buffer.from(text))
  const taken = (): string | undefined => {
    const event = takeDecoded(events)
    return event?.type === 'ADDED' ? event.object.metadata?.name : undefined
  }
  return { state, chunks, events, send, taken }
}

test('what came in one piece with an event that was waited for is there to be taken', async () => {
  const { events, send, taken } = world()
  send(line('a') + line('b') + line('c') + line('d').slice(0, 20))
  assert.equal(taken(), undefined)
  assert.equal((await events.next()).done, false)
  assert.deepEqual([taken(), taken(), taken()], ['b', 'c', undefined])
  send(line('d').slice(20))
  assert.equal((await events.next()).done, false)
  assert.equal(taken(), undefined)
})

test('events before a fault are taken before it is told', async () => {
  const { events, send, taken, state } = world()
  send(`${line('a')}${line('b')}no event\n`)
  await events.next()
  assert.equal(taken(), 'b')
  assert.equal(taken(), undefined)
  await assert.rejects(events.next(), /not a watch event/)
  assert.equal(state.cancelled, 1)
  assert.deepEqual(await events.next(), { done: true, value: undefined })
})

test('breaking off ends the body at once, also one that is waited for in the middle of an event', async () => {
  const { events, send, state } = world()
  send(line('a').slice(0, 20))
  const waiting = events.next()
  await new Promise(setImmediate)
  await events.return()
  assert.equal(state.cancelled, 1)
  assert.deepEqual(await waiting, { done: true, value: undefined })
})

test('events of other makers are not there to be taken', () => {
  const others = (async function* () {})()
  assert.equal(takeDecoded(others), undefined)
})
