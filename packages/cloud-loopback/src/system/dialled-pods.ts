/** Pods that this machine reaches under their own addresses, as on a node of a real cluster. */
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { connect } from 'node:net'
import { drained } from '@gyropilot/foundation'
import type { PodNetwork } from '../network.ts'

const CONNECT_TIMEOUT_MS = 5_000
const ANSWER_TIMEOUT_MS = 5_000

export const dialledPods: PodNetwork = {
  async connect({ ip, port }, { input, output, signal }) {
    const socket = connect({ host: ip, port, noDelay: true, allowHalfOpen: true })
    const timer = setTimeout(() => socket.destroy(new Error('timed out')), CONNECT_TIMEOUT_MS)
    try {
      await once(socket, 'connect')
    } catch (error) {
      return `${ip}:${port}: ${(error as Error).message}`
    } finally {
      clearTimeout(timer)
    }
    socket.on('error', () => socket.destroy())
    signal.addEventListener('abort', () => socket.destroy(), { once: true })
    const sending = (async () => {
      for await (const chunk of input) {
        if (!socket.write(chunk)) await drained(socket)
      }
      socket.end()
    })()
    sending.catch(() => socket.destroy())
    for await (const chunk of socket) await output(chunk as Uint8Array)
    return undefined
  },

  async exchange({ ip, port }, bytes) {
    const socket = createSocket('udp4')
    try {
      socket.send(bytes, port, ip)
      const [answer] = (await once(socket, 'message', {
        signal: AbortSignal.timeout(ANSWER_TIMEOUT_MS),
      })) as [Uint8Array]
      return answer
    } catch {
      return undefined
    } finally {
      socket.close()
    }
  },
}
