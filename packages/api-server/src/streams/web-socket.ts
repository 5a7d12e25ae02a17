/**
 * Commands and ports over WebSocket. Contract: docs/behaviour/api-server/subresources-and-admission.md, "exec, attach,
 * port-forward": channels of one byte for commands, a SPDY connection inside binary messages for ports.
 */
import type { WebSocket } from 'ws'
import { ByteQueue } from './byte-queue.ts'
import { endOf, statusOfEnd } from './command-end.ts'
import { servePorts } from './spdy-sessions.ts'
import { SpdyConnection, type ByteSink } from './spdy-connection.ts'
import type { ConnectionTarget } from './target.ts'

export const CHANNEL_PROTOCOLS = ['v5.channel.k8s.io', 'v4.channel.k8s.io'] as const
export const TUNNEL_PROTOCOL = 'SPDY/3.1+portforward.k8s.io'

const STDIN = 0
const STDOUT = 1
const STDERR = 2
const ERROR = 3
/** v5 only: the next byte is the channel that the client closes. */
const CLOSE = 255
const NORMAL_CLOSURE = 1000
/** The sender waits for a reader that is behind by more. */
const COMFORTABLE_BYTES = 1_048_576

export async function serveCommandOverWebSocket(
  socket: WebSocket,
  target: Extract<ConnectionTarget, { kind: 'command' }>,
): Promise<void> {
  const { wanted } = target
  const stdin = new ByteQueue()
  if (!wanted.stdin) stdin.end()
  const gone = new AbortController()
  const closable = socket.protocol === 'v5.channel.k8s.io'
  socket.on('message', (message: Buffer) => {
    if (message[0] === STDIN) stdin.push(message.subarray(1))
    else if (closable && message[0] === CLOSE && message[1] === STDIN) stdin.end()
  })
  socket.on('error', () => socket.terminate())
  socket.on('close', () => {
    stdin.end()
    gone.abort(new Error('the client is gone'))
  })
  const send = (channel: number, bytes: Uint8Array): Promise<void> =>
    bytes.length === 0 ? Promise.resolve() : write(socket, framed(channel, bytes))
  const drop = (): Promise<void> => Promise.resolve()
  const end = await endOf(() =>
    target.run({
      stdin,
      stdout: wanted.stdout ? (bytes) => send(STDOUT, bytes) : drop,
      stderr: wanted.stderr && !wanted.tty ? (bytes) => send(STDERR, bytes) : drop,
      signal: gone.signal,
    }),
  )
  await write(socket, framed(ERROR, Buffer.from(statusOfEnd(end))))
  socket.close(NORMAL_CLOSURE)
}

/** A kube-apiserver accepts a WebSocket before it asks the kubelet: the refusal comes on the error channel. */
export async function refuseOverWebSocket(
  socket: WebSocket,
  { why }: Extract<ConnectionTarget, { kind: 'refused' }>,
): Promise<void> {
  socket.on('error', () => socket.terminate())
  const error = `Internal error occurred: unable to upgrade connection: ${why}`
  await write(socket, framed(ERROR, Buffer.from(statusOfEnd({ error }))))
  socket.close(NORMAL_CLOSURE)
}

export function servePortsOverWebSocket(
  socket: WebSocket,
  target: Extract<ConnectionTarget, { kind: 'ports' }>,
): void {
  const sink: ByteSink = {
    write: (bytes) => write(socket, bytes),
    end: () => socket.close(NORMAL_CLOSURE),
  }
  const connection: SpdyConnection = new SpdyConnection(sink, (stream) => ports(stream))
  const ports = servePorts(connection, target)
  socket.on('message', (message: Buffer) => connection.receive(message))
  socket.on('error', () => socket.terminate())
  socket.on('close', () => connection.close())
}

function framed(channel: number, bytes: Uint8Array): Buffer {
  return Buffer.concat([Buffer.from([channel]), bytes])
}

function write(socket: WebSocket, bytes: Uint8Array): Promise<void> {
  return new Promise((resolve) => {
    if (socket.readyState !== socket.OPEN) return resolve()
    const waits = socket.bufferedAmount > COMFORTABLE_BYTES
    socket.send(bytes, { binary: true }, () => {
      if (waits) resolve()
    })
    if (!waits) resolve()
  })
}
