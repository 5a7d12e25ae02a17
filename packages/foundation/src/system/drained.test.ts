import assert from 'node:assert/strict'
import { Writable } from 'node:stream'
import { test } from 'node:test'
import { drained } from './drained.ts'

test('a stream that takes more is waited for as often as need be, and keeps no listener', async () => {
  const taken: (() => void)[] = []
  const stream = new Writable({
    highWaterMark: 1,
    write: (_chunk, _encoding, done) => void taken.push(done),
  })
  const listeners = (): number[] =>
    ['drain', 'close', 'error'].map((of) => stream.listenerCount(of))
  const before = listeners()
  for (let round = 0; round < 20; round++) {
    assert.equal(stream.write('some'), false)
    const waited = drained(stream)
    taken.pop()!()
    await waited
  }
  assert.deepEqual(listeners(), before)
})

test('the end of a stream ends the wait, whether it comes or came before, with an error or without', async () => {
  const stuck = (): Writable => new Writable({ highWaterMark: 1, write() {} }).on('error', () => {})
  for (const error of [undefined, new Error('reset')]) {
    const stream = stuck()
    stream.write('some')
    const waited = drained(stream)
    stream.destroy(error)
    await waited
    await drained(stream)
  }
})
