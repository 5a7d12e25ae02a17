/** Listeners on this machine's addresses. */
import { once } from 'node:events'
import { createSocket } from 'node:dgram'
import { createServer as createHttpServer } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:net'
import type { Server, Socket } from 'node:net'
import { drained } from '@gyropilot/foundation'
import type { Connection, HttpAnswer, HttpRequest, Listening, Network } from '../network.ts'

const MOST_BODY_BYTES = 65_536

export const machineNetwork: Network = {
  async listenTcp(address, port, serve) {
    const sockets = new Set<Socket>()
    const server = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
      sockets.add(socket)
      socket.once('close', () => sockets.delete(socket))
      serve(connectionOf(socket))
    })
    return listening(server, address, port, () => {
      for (const socket of sockets) socket.resetAndDestroy()
    })
  },

  async listenUdp(address, port, serve) {
    const socket = createSocket('udp4')
    socket.on('message', (bytes, { address: from, port: back }) =>
      serve({ from, bytes, reply: (answer) => socket.send(answer, back, from) }),
    )
    await new Promise<void>((resolve, reject) => {
      socket.once('error', reject)
      socket.bind({ address, port, exclusive: true }, () => {
        socket.off('error', reject)
        socket.on('error', () => {})
        resolve()
      })
    })
    return { close: () => new Promise((resolve) => socket.close(() => resolve())) }
  },

  async listenHttp(address, port, answer) {
    const server = createHttpServer((request, response) => {
      respond(request, response, answer).catch(() => response.destroy())
    })
    return listening(server, address, port, () => server.closeAllConnections())
  },
}

async function listening(
  server: Server,
  host: string,
  port: number,
  endConnections: () => void,
): Promise<Listening> {
  server.listen({ host, port, exclusive: true })
  await once(server, 'listening')
  server.on('error', () => {})
  return {
    async close() {
      const closed = once(server, 'close')
      server.close()
      endConnections()
      await closed
    },
  }
}

function connectionOf(socket: Socket): Connection {
  const over = new AbortController()
  socket.on('error', () => socket.destroy())
  socket.once('close', () => over.abort(new Error('the connection is closed')))
  return {
    from: socket.remoteAddress ?? '',
    input: socket,
    async output(bytes) {
      if (socket.destroyed || socket.writableEnded) return
      if (!socket.write(bytes)) await drained(socket)
    },
    end: () => void socket.end(),
    reset: () => void socket.resetAndDestroy(),
    signal: over.signal,
  }
}

async function respond(
  request: IncomingMessage,
  response: ServerResponse,
  answer: (request: HttpRequest) => HttpAnswer,
): Promise<void> {
  const body = await bodyOf(request)
  const [path = ''] = (request.url ?? '').split('?', 1)
  const { status, value } = answer({ method: request.method ?? 'GET', path, body })
  response.writeHead(status, { 'content-type': 'application/json' })
  response.end(`${JSON.stringify(value)}\n`)
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  let text = ''
  for await (const chunk of request.setEncoding('utf8')) {
    text += chunk as string
    if (text.length > MOST_BODY_BYTES) throw new Error('too long')
  }
  return text
}
