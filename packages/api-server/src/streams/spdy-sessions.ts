/** Commands and ports over SPDY/3.1: which streams a client opens, and what flows on them. */
import type { Clock, Timer } from '@gyropilot/foundation'
import { endOf, statusOfEnd, textOfEnd } from '../kubelets/command-end.ts'
import type { SpdyConnection, SpdyStream } from './spdy-connection.ts'
import type { ConnectionTarget } from '../kubelets/connection-target.ts'

/** In the order of preference. The last three, and clients that name none, read the text of a failure instead of a Status. */
export const COMMAND_PROTOCOLS = [
  'v5.channel.k8s.io',
  'v4.channel.k8s.io',
  'v3.channel.k8s.io',
  'v2.channel.k8s.io',
  'channel.k8s.io',
] as const
const STATUS_PROTOCOLS: readonly string[] = COMMAND_PROTOCOLS.slice(0, 2)
export const PORT_PROTOCOL = 'portforward.k8s.io'

/** Returns what takes the streams that the client opens; the command runs once all that it asked for are there. */
export function serveCommand(
  connection: SpdyConnection,
  { wanted, run }: Extract<ConnectionTarget, { kind: 'command' }>,
  protocol: string,
): (stream: SpdyStream) => void {
  const expected = ['error']
  if (wanted.stdin) expected.push('stdin')
  if (wanted.stdout) expected.push('stdout')
  if (wanted.stderr && !wanted.tty) expected.push('stderr')
  const streams = new Map<string, SpdyStream>()
  let running = false
  const start = async (): Promise<void> => {
    const to = (name: string) => async (bytes: Uint8Array) => streams.get(name)?.write(bytes)
    const end = await endOf(() =>
      run({
        stdin: streams.get('stdin')?.input ?? nothing(),
        stdout: to('stdout'),
        stderr: to('stderr'),
        signal: connection.signal,
      }),
    )
    await streams.get('stdout')?.close()
    await streams.get('stderr')?.close()
    const said = STATUS_PROTOCOLS.includes(protocol) ? statusOfEnd(end) : textOfEnd(end)
    await streams.get('error')?.write(Buffer.from(said))
    await streams.get('error')?.close()
    await streams.get('stdin')?.close()
    connection.close()
  }
  return (stream) => {
    streams.set(stream.headers.get('streamtype') ?? '', stream)
    if (running || !expected.every((name) => streams.has(name))) return
    running = true
    void start()
  }
}

/** For the second stream of a pair, as a kubelet waits for it. */
const PAIR_TIMEOUT_MS = 30_000

interface Pair {
  readonly error?: SpdyStream | undefined
  readonly data?: SpdyStream | undefined
  readonly timeout: Timer
}

/** Streams come in pairs of one request: data, and an error stream that carries a text when the port cannot be served. */
export function servePorts(
  connection: SpdyConnection,
  { forward }: Extract<ConnectionTarget, { kind: 'ports' }>,
  clock: Clock,
): (stream: SpdyStream) => void {
  const waiting = new Map<string, Pair>()
  connection.signal.addEventListener('abort', () => {
    for (const { timeout } of waiting.values()) timeout.cancel()
  })
  const serve = async (port: number, error: SpdyStream, data: SpdyStream): Promise<void> => {
    const { input } = data
    const output = (bytes: Uint8Array): Promise<void> => data.write(bytes)
    let problem: string | undefined
    try {
      problem = await forward(port, { input, output, signal: connection.signal })
    } catch (thrown) {
      problem = thrown instanceof Error ? thrown.message : String(thrown)
    }
    if (problem !== undefined) await error.write(Buffer.from(problem))
    await data.close()
    await error.close()
  }
  const giveUp = async (id: string): Promise<void> => {
    const { error, data } = waiting.get(id)!
    waiting.delete(id)
    await error?.write(Buffer.from(`(request=${id}) timed out waiting for streams`))
    for (const stream of [data, error]) {
      if (stream === undefined) continue
      await stream.close()
      connection.forget(stream)
    }
  }
  return (stream) => {
    const id = stream.headers.get('requestid') ?? ''
    const isError = stream.headers.get('streamtype') === 'error'
    const timeout = waiting.get(id)?.timeout ?? clock.after(PAIR_TIMEOUT_MS, () => void giveUp(id))
    const pair = { ...waiting.get(id), [isError ? 'error' : 'data']: stream, timeout }
    waiting.set(id, pair)
    const { error, data } = pair
    if (error === undefined || data === undefined) return
    timeout.cancel()
    waiting.delete(id)
    void serve(Number(data.headers.get('port')), error, data)
  }
}

async function* nothing(): AsyncGenerator<Uint8Array> {}
