import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ChunkStream } from './chunk-stream.ts'

function setup() {
  const calls: string[] = []
  const stream = new ChunkStream({
    pause: () => void calls.push('pause'),
    resume: () => void calls.push('resume'),
    cancel: () => void calls.push('cancel'),
  })
  return { stream, calls, reader: stream[Symbol.asyncIterator]() }
}
const half = Buffer.alloc(512 * 1024)

test('a reader that does not keep up has its connection paused above 1 MiB, and resumed when it has read all', async () => {
  const { stream, calls, reader } = setup()
  stream.push(half)
  stream.push(half)
  assert.deepEqual(calls, [])
  stream.push(Buffer.from([1]))
  stream.push(half)
  assert.deepEqual(calls, ['pause'])
  for (let i = 0; i < 3; i++) await reader.next()
  assert.deepEqual(calls, ['pause'])
  await reader.next()
  assert.deepEqual(calls, ['pause', 'resume'])
})

test('breaking off cancels the source once; afterwards nothing is kept', async () => {
  const { stream, calls, reader } = setup()
  stream.push(half)
  await reader.return!()
  await reader.return!()
  stream.push(half)
  assert.deepEqual(calls, ['cancel'])
  assert.deepEqual(await reader.next(), { done: true, value: undefined })
})

test('a body that has ended is not cancelled; what is queued is read before the failure, which comes once', async () => {
  const { stream, calls, reader } = setup()
  stream.push(half)
  stream.finish(new Error('cut off'))
  assert.equal((await reader.next()).value, half)
  await assert.rejects(reader.next(), /cut off/)
  assert.equal((await reader.next()).done, true)
  await reader.return!()
  assert.deepEqual(calls, [])
})

test('a reader that waits is given the chunk, the end or the failure at once', async () => {
  const { stream, reader } = setup()
  const first = reader.next()
  stream.push(half)
  assert.equal((await first).value, half)
  const last = reader.next()
  stream.finish()
  assert.equal((await last).done, true)
  const other = setup()
  const failing = other.reader.next()
  other.stream.finish(new Error('reset'))
  await assert.rejects(failing, /reset/)
})

test('the whole body: what is queued and what comes, without a pause, or the failure', async () => {
  const { stream, calls } = setup()
  stream.push(half)
  stream.push(half)
  stream.push(half)
  assert.deepEqual(calls, ['pause'])
  const whole = stream.whole()
  assert.deepEqual(calls, ['pause', 'resume'])
  stream.push(half)
  stream.finish()
  assert.equal((await whole).length, 4 * half.length)
  assert.deepEqual(calls, ['pause', 'resume'])

  const ended = setup()
  ended.stream.push(half)
  ended.stream.finish()
  assert.equal(await ended.stream.whole(), half, 'one chunk is not copied')
  const empty = setup()
  empty.stream.finish()
  assert.equal((await empty.stream.whole()).length, 0)
  for (const failsLater of [true, false]) {
    const failing = setup()
    failing.stream.push(half)
    if (!failsLater) failing.stream.finish(new Error('cut off'))
    const failed = assert.rejects(failing.stream.whole(), /cut off/)
    if (failsLater) failing.stream.finish(new Error('cut off'))
    await failed
  }
})
