/**
 * Commands, ports and logs over WebSocket. Contract: docs/behaviour/api-server/subresources-and-admission.md, "exec, attach,
 * port-forward": numbered channels, or for ports a SPDY connection inside binary messages.
 */
import { sleep, type Clock } from '@gyropilot/foundation'
import type { WebSocket } from 'ws'
import { ByteQueue } from '../kubelets/byte-queue.ts'
import { channelOf, sendBytes, sendChannel } from './channel-form.ts'
import type { ChannelForm } from './channel-form.ts'
import { endOf, statusOfEnd, textOfEnd } from '../kubelets/command-end.ts'
import { servePorts } from './spdy-sessions.ts'
import { SpdyConnection, type ByteSink } from './spdy-connection.ts'
import type { ConnectionTarget } from '../kubelets/connection-target.ts'

const STDIN = 0
const STDOUT = 1
const STDERR = 2
const ERROR = 3
const CLOSE = 255
const NORMAL_CLOSURE = 1000
/** How long a client that has said nothing yet is waited for; at a terminal it tells its size before anything else. */
const SILENCE_MS = { terminal: 250, plain: 20 }

type Command = Extract<ConnectionTarget, { kind: 'command' }>
type Ports = Extract<ConnectionTarget, { kind: 'ports' }>
type Refused = Extract<ConnectionTarget, { kind: 'refused' }>

export async function serveCommandOverWebSocket(
  socket: WebSocket,
  { wanted, run }: Command,
  form: ChannelForm,
  clock: Clock,
): Promise<void> {
  const stdin = new ByteQueue()
  if (!wanted.stdin) stdin.end()
  const gone = new AbortController()
  socket.on('message', (message: Buffer) => {
    const { channel, bytes } = channelOf(message, form) ?? {}
    if (channel === STDIN) take(socket, stdin, bytes!)
    else if (form.closable && channel === CLOSE && bytes![0] === STDIN) stdin.end()
  })
  socket.on('error', () => socket.terminate())
  socket.on('close', () => {
    stdin.end()
    gone.abort(new Error('the client is gone'))
  })
  const listening = clientListens(socket, clock, wanted.tty, gone.signal)
  const send = async (channel: number, bytes: Uint8Array): Promise<void> => {
    if (bytes.length === 0) return
    await listening
    await sendChannel(socket, form, channel, bytes)
  }
  const drop = (): Promise<void> => Promise.resolve()
  // Empty, on the first channel that the server writes: tells the client that it is connected.
  const first = wanted.stdout ? STDOUT : wanted.stderr && !wanted.tty ? STDERR : ERROR
  await sendChannel(socket, form, first, new Uint8Array(0))
  const end = await endOf(() =>
    run({
      stdin,
      stdout: wanted.stdout ? (bytes) => send(STDOUT, bytes) : drop,
      stderr: wanted.stderr && !wanted.tty ? (bytes) => send(STDERR, bytes) : drop,
      signal: gone.signal,
    }),
  )
  const said = form.status === 'json' ? statusOfEnd(end) : textOfEnd(end)
  await send(ERROR, Buffer.from(said))
  leave(socket)
}

/**
 * kubectl begins to read before it has made its channels, and drops what comes for one that it does not have yet. Containers
 * of real nodes take longer to start than kubectl needs; a simulated one has its prompt ready at once.
 */
async function clientListens(
  socket: WebSocket,
  clock: Clock,
  tty: boolean,
  gone: AbortSignal,
): Promise<void> {
  const heard = new AbortController()
  socket.once('message', () => heard.abort())
  const either = AbortSignal.any([heard.signal, gone])
  await sleep(clock, tty ? SILENCE_MS.terminal : SILENCE_MS.plain, either).catch(() => {})
}

/** A kube-apiserver accepts v5 before it asks the kubelet: the refusal comes on the error channel. */
export async function refuseOverWebSocket(
  socket: WebSocket,
  { why }: Refused,
  form: ChannelForm,
): Promise<void> {
  socket.on('error', () => socket.terminate())
  const error = `Internal error occurred: unable to upgrade connection: ${why}`
  await sendChannel(socket, form, ERROR, Buffer.from(statusOfEnd({ error })))
  leave(socket)
}

export function tunnelPortsOverWebSocket(socket: WebSocket, target: Ports, clock: Clock): void {
  const sink: ByteSink = {
    write: (bytes) => sendBytes(socket, bytes),
    end: () => leave(socket),
  }
  const connection: SpdyConnection = new SpdyConnection(sink, (stream) => ports(stream))
  const ports = servePorts(connection, target, clock)
  socket.on('message', (message: Buffer) => {
    socket.pause()
    void connection.receive(message).then(() => socket.resume())
  })
  socket.on('error', () => socket.terminate())
  socket.on('close', () => connection.close())
}

/** Two channels for each port asked for: data, then what went wrong. Both begin with the port's number, two bytes. */
export async function servePortsOverWebSocket(
  socket: WebSocket,
  { ports, forward }: Ports,
  form: ChannelForm,
): Promise<void> {
  const inputs = ports.map(() => new ByteQueue())
  const gone = new AbortController()
  socket.on('message', (message: Buffer) => {
    const { channel, bytes } = channelOf(message, form) ?? {}
    if (channel === undefined || channel % 2 === 1) return
    const input = inputs[channel / 2]
    if (input !== undefined) take(socket, input, bytes!)
  })
  socket.on('error', () => socket.terminate())
  socket.on('close', () => {
    for (const input of inputs) input.end()
    gone.abort(new Error('the client is gone'))
  })
  const serve = async (port: number, index: number): Promise<void> => {
    const number = Buffer.alloc(2)
    number.writeUInt16LE(port)
    await sendChannel(socket, form, 2 * index, number)
    await sendChannel(socket, form, 2 * index + 1, number)
    const output = (bytes: Uint8Array): Promise<void> => sendChannel(socket, form, 2 * index, bytes)
    const streams = { input: inputs[index]!, output, signal: gone.signal }
    const problem = await forward(port, streams).catch(textOf)
    if (problem !== undefined) await sendChannel(socket, form, 2 * index + 1, Buffer.from(problem))
  }
  await Promise.all(ports.map(serve))
  leave(socket)
}

/** Each piece of an answer as one message. */
export async function sendStreamOverWebSocket(
  socket: WebSocket,
  chunks: AsyncIterable<Uint8Array>,
  { base64 }: { readonly base64: boolean },
): Promise<void> {
  const iterator = chunks[Symbol.asyncIterator]()
  socket.on('error', () => socket.terminate())
  socket.on('close', () => void iterator.return?.())
  try {
    for (;;) {
      const { done, value } = await iterator.next()
      if (done === true) break
      await sendBytes(socket, base64 ? Buffer.from(value).toString('base64') : value)
    }
  } catch {
    // What was read broke off: its reader is told no more than that it has ended.
  }
  leave(socket)
}

/** A client that sends faster than its bytes are read is not read from until they are. */
function take(socket: WebSocket, queue: ByteQueue, bytes: Uint8Array): void {
  queue.push(bytes)
  const { relief } = queue
  if (relief === undefined) return
  socket.pause()
  void relief.then(() => socket.resume())
}

/** Reads on, or the client's own goodbye would never be seen. */
function leave(socket: WebSocket): void {
  socket.resume()
  socket.close(NORMAL_CLOSURE)
}

function textOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown)
}
