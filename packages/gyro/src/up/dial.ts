/** Connections of `kubectl port-forward` to a program on this machine or beyond, by TCP. */
import { once } from 'node:events'
import { drained } from '@gyropilot/foundation'
import type { Dial } from '@gyropilot/nodes'

const CONNECT_TIMEOUT_MS = 5_000

export const dial: Dial = async (host, port) => {
  const { connect } = await import('node:net')
  const socket = connect({ host, port, noDelay: true, allowHalfOpen: true })
  const timer = setTimeout(() => socket.destroy(new Error('connect timed out')), CONNECT_TIMEOUT_MS)
  try {
    await once(socket, 'connect')
  } finally {
    clearTimeout(timer)
  }
  socket.on('error', () => socket.destroy())
  return {
    input: socket,
    async write(bytes) {
      if (socket.destroyed || socket.writableEnded) return
      if (!socket.write(bytes)) await drained(socket)
    },
    end: () => void socket.end(),
    close: () => void socket.destroy(),
  }
}
