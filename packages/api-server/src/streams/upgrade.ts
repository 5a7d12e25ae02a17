/** Turns an accepted exec, attach or port-forward request into a connection, by WebSocket or SPDY/3.1. */
import { once } from 'node:events'
import type { Duplex } from 'node:stream'
import type { Answer } from '../http/answer.ts'
import { encodeBody } from '../http/encode.ts'
import { badRequest } from '../http/errors.ts'
import { headerOf, type ServerRequest } from '../http/exchange.ts'
import { SpdyConnection, type ByteSink } from './spdy-connection.ts'
import { COMMAND_PROTOCOLS, PORT_PROTOCOL, serveCommand, servePorts } from './spdy-sessions.ts'
import type { ConnectionTarget } from './target.ts'

const SPDY = 'spdy/3.1'

export async function upgrade(
  request: ServerRequest,
  socket: Duplex,
  head: Buffer,
  answerOf: (request: ServerRequest) => Promise<Answer>,
): Promise<void> {
  socket.on('error', () => socket.destroy())
  const answer = await answerOf(request)
  if (answer.body.kind !== 'connection') return refuse(socket, answer)
  const { target } = answer.body
  const wanted = (headerOf(request.headers, 'upgrade') ?? '').toLowerCase()
  if (wanted === 'websocket') await acceptWebSocket(request, socket, head, target)
  else if (wanted === SPDY) acceptSpdy(request, socket, head, target)
  else await refuse(socket, refusal(`unable to upgrade: ${JSON.stringify(wanted)} is not known`))
}

function refusal(message: string): Answer {
  return { status: 400, body: { kind: 'object', value: badRequest(message).toStatus() } }
}

/** The answer of a request that asked for an upgrade and does not get it. */
async function refuse(socket: Duplex, answer: Answer): Promise<void> {
  const { status, body, headers = {}, mediaType = 'application/json' } = answer
  let bytes: Uint8Array = new Uint8Array(0)
  let contentType: string = answer.contentType ?? mediaType
  if (body.kind === 'object' || body.kind === 'list') {
    bytes = Buffer.concat(await encodeBody(body, mediaType, answer.pretty === true))
  } else if (body.kind === 'bytes') {
    bytes = body.bytes
    contentType = body.contentType
  }
  const lines = Object.entries(headers).flatMap(([name, values]) =>
    [values].flat().map((value) => `${name}: ${value}`),
  )
  writeHead(socket, status, [
    ...lines,
    `content-type: ${contentType}`,
    `content-length: ${bytes.length}`,
    'connection: close',
  ])
  socket.end(bytes)
}

function writeHead(socket: Duplex, status: number, headers: readonly string[]): void {
  // The phrase after the code may be empty, and only people read it.
  const phrase = status === 101 ? 'Switching Protocols' : ''
  socket.write(`HTTP/1.1 ${status} ${phrase}\r\n${headers.join('\r\n')}\r\n\r\n`)
}

async function acceptWebSocket(
  request: ServerRequest,
  socket: Duplex,
  head: Buffer,
  target: ConnectionTarget,
): Promise<void> {
  const [{ WebSocketServer }, sessions] = await Promise.all([
    import('ws'),
    import('./web-socket.ts'),
  ])
  const known: readonly string[] =
    target.kind === 'ports' ? [sessions.TUNNEL_PROTOCOL] : sessions.CHANNEL_PROTOCOLS
  const offered = listOf(headerOf(request.headers, 'sec-websocket-protocol'))
  const protocol = known.find((name) => offered.includes(name))
  if (protocol === undefined) {
    const why = `unable to upgrade: none of the protocols ${JSON.stringify(offered)} is known`
    return refuse(socket, refusal(why))
  }
  const server = new WebSocketServer({
    noServer: true,
    perMessageDeflate: false,
    handleProtocols: () => protocol,
  })
  const { method, headers, path: url } = request
  type Incoming = Parameters<typeof server.handleUpgrade>[0]
  server.handleUpgrade({ method, headers, url } as Incoming, socket, head, (webSocket) => {
    if (target.kind === 'ports') sessions.servePortsOverWebSocket(webSocket, target)
    else if (target.kind === 'command') void sessions.serveCommandOverWebSocket(webSocket, target)
    else void sessions.refuseOverWebSocket(webSocket, target)
  })
}

function acceptSpdy(
  request: ServerRequest,
  socket: Duplex,
  head: Buffer,
  target: ConnectionTarget,
): void {
  if (target.kind === 'refused') {
    // In the kubelet's words, which are text: here a kube-apiserver only passes bytes on.
    const bytes = Buffer.from(target.why)
    void refuse(socket, { status: 500, body: { kind: 'bytes', bytes, contentType: 'text/plain' } })
    return
  }
  const known: readonly string[] = target.kind === 'command' ? COMMAND_PROTOCOLS : [PORT_PROTOCOL]
  const header = request.headers['x-stream-protocol-version']
  const offered = [header ?? []].flat().flatMap(listOf)
  const protocol = known.find((name) => offered.includes(name))
  if (protocol === undefined) {
    const why = `unable to upgrade: none of the protocols ${JSON.stringify(offered)} is known`
    void refuse(socket, refusal(why))
    return
  }
  writeHead(socket, 101, [
    'Connection: Upgrade',
    'Upgrade: SPDY/3.1',
    `X-Stream-Protocol-Version: ${protocol}`,
  ])
  const sink: ByteSink = {
    async write(bytes) {
      if (socket.destroyed || socket.writableEnded) return
      if (!socket.write(bytes)) await Promise.race([once(socket, 'drain'), once(socket, 'close')])
    },
    end: () => socket.end(),
  }
  const connection: SpdyConnection = new SpdyConnection(sink, (stream) => session(stream))
  const session =
    target.kind === 'command' ? serveCommand(connection, target) : servePorts(connection, target)
  socket.on('data', (chunk: Buffer) => connection.receive(chunk))
  socket.on('close', () => connection.close())
  socket.on('end', () => connection.close())
  if (head.length > 0) connection.receive(head)
}

function listOf(header: string | undefined): string[] {
  return (header ?? '')
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '')
}
