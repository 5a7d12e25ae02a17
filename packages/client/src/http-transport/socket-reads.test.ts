import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'
import { test } from 'node:test'
import type { TestContext } from 'node:test'
import { SocketReads } from './socket-reads.ts'

/** A connection on the loopback interface, read by `SocketReads` at this side. */
async function connected(t: TestContext) {
  const listener = createServer({ noDelay: true }).listen(0, '127.0.0.1')
  await once(listener, 'listening')
  const accepted = once(listener, 'connection') as Promise<[Socket]>
  const reads = new SocketReads()
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
