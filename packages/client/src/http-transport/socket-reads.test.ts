import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'
import { test } from 'node:test'
import type { TestContext } from 'node:test'
import { TURN_MS } from '@gyropilot/foundation'
import type { Clock, Timer } from '@gyropilot/foundation'
import { SocketReads } from './socket-reads.ts'

/** Turns as long as it says, and the next one when it is told. */
class Turns implements Clock {
  lengthMs = 0
  waiting: (() => void)[] = []
  readonly nowMs = () => 0
  readonly monotonicMs = () => 0

  turnMs(): number {
    return this.lengthMs
  }

  after(_delayMs: number, callback: () => void): Timer {
    this.waiting.push(callback)
    return { cancel() {} }
  }

  next(): void {
    for (const callback of this.waiting.splice(0)) callback()
  }
}

/** A connection on the loopback interface, read by `SocketReads` at this side. */
async function connected(t: TestContext, clock: Clock = new Turns()) {
  const listener = createServer({ noDelay: true }).listen(0, '127.0.0.1')
  await once(listener, 'listening')
  const accepted = once(listener, 'connection') as Promise<[Socket]>
  const reads = new SocketReads(clock)
  const { port } = listener.address() as AddressInfo
  const socket = connect({ host: '127.0.0.1', port, onread: reads.onread })
  reads.of(socket)
  const [peer] = await accepted
  t.after(() => {
    socket.destroy()
    peer.destroy()
    listener.close()
  })
  return { socket, peer, reads }
}

/** Bytes in which each place is another. */
function counted(length: number): Buffer {
  const bytes = Buffer.alloc(length)
  for (let at = 0; at + 4 <= length; at += 4) bytes.writeUInt32BE(at, at)
  return bytes
}

test('what came before it was taken over comes first; what was handed on keeps its bytes', async (t) => {
  const { socket, peer, reads } = await connected(t)
  const sent = counted(400_000)
  peer.write(sent.subarray(0, 1_000))
  await once(socket, 'readable')
  const pieces: Buffer[] = []
  reads.receive((bytes) => pieces.push(bytes))
  assert.deepEqual(pieces, [sent.subarray(0, 1_000)])
  peer.end(sent.subarray(1_000))
  await once(socket, 'end')
  assert.ok(pieces.length >= 6, `${pieces.length} pieces`)
  assert.ok(Buffer.concat(pieces).equals(sent))
})

test('more than the stream holds, before and after it was taken over', async (t) => {
  const { peer, reads } = await connected(t)
  const sent = counted(8 << 20)
  peer.end(sent)
  while (peer.bytesWritten === 0) await new Promise((resolve) => setTimeout(resolve, 5))
  await new Promise((resolve) => setTimeout(resolve, 50))
  let at = 0
  const all = new Promise<void>((resolve) => {
    reads.receive((bytes) => {
      assert.ok(bytes.equals(sent.subarray(at, at + bytes.length)))
      at += bytes.length
      if (at === sent.length) resolve()
    })
  })
  await all
})

test('until then it is a stream like any other, which waits for its reader', async (t) => {
  const { socket, peer } = await connected(t)
  const sent = counted(32 << 20)
  peer.end(sent)
  await once(socket, 'readable')
  await new Promise((resolve) => setTimeout(resolve, 50))
  assert.ok(socket.bytesRead < 1 << 20, `${socket.bytesRead} bytes were read ahead`)
  const pieces: Buffer[] = []
  for await (const piece of socket) pieces.push(piece)
  assert.ok(Buffer.concat(pieces).equals(sent))
})

test('in a turn that is long already a socket is read once, and again in the next', async (t) => {
  const turns = new Turns()
  const { peer, reads } = await connected(t, turns)
  const sent = counted(8 << 20)
  const pieces: Buffer[] = []
  let received = 0
  turns.lengthMs = TURN_MS
  const all = new Promise<void>((resolve) => {
    reads.receive((bytes) => {
      pieces.push(bytes)
      received += bytes.length
      if (received === sent.length) resolve()
    })
  })
  peer.end(sent)
  for (const count of [1, 2]) {
    while (pieces.length < count) await new Promise(setImmediate)
    await new Promise((resolve) => setTimeout(resolve, 50))
    assert.equal(pieces.length, count)
    assert.equal(turns.waiting.length, 1)
    turns.next()
  }
  turns.lengthMs = 0
  await all
  assert.ok(Buffer.concat(pieces).equals(sent))
})
