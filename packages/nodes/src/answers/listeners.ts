/** Connections to programs that take them themselves. */
import type { Incoming } from '../shell/network.ts'
import type { PortStreams } from './port-answers.ts'

/** By port: whom a connection there is handed to; resolves when the program is done with it. */
export type Listeners = Map<number, (streams: PortStreams) => Promise<void>>

/** The next one at that port; whoever comes after it is turned away. Rejects when the program is stopped. */
export function nextConnection(
  listeners: Listeners,
  port: number,
  signal: AbortSignal,
): Promise<Incoming> {
  const next = Promise.withResolvers<Incoming>()
  const closed = Promise.withResolvers<void>()
  const stop = (): void => {
    listeners.delete(port)
    closed.resolve()
    next.reject(signal.reason as Error)
  }
  signal.addEventListener('abort', stop, { once: true })
  listeners.set(port, ({ input, output, signal: gone }) => {
    listeners.delete(port)
    next.resolve({ input, output, signal: gone, close: () => closed.resolve() })
    return closed.promise
  })
  return next.promise
}
