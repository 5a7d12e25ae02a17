/** Turns an accepted exec, attach or port-forward request into a connection, by WebSocket or SPDY/3.1. */
import type { Duplex } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { drained, type Clock } from '@gyropilot/foundation'
import { protobufAnswers } from '@gyropilot/protobuf'
import type { WebSocket } from 'ws'
import type { Answer, AnswerBody, Tunnel } from '../http/answer.ts'
import { encodeBody, encodeEvent, protobufMessages } from '../http/encode.ts'
import { badRequest } from '../http/errors.ts'
import { headerOf, type ServerRequest } from '../http/exchange.ts'
import { PROTOBUF } from '../http/negotiation.ts'
import { offeredProtocols } from '../http/web-socket-protocols.ts'
import { BYTES_FORMS, COMMAND_FORMS, PORT_FORMS, chosenProtocol } from './channel-form.ts'
import { SpdyConnection, type ByteSink } from './spdy-connection.ts'
import { COMMAND_PROTOCOLS, PORT_PROTOCOL, serveCommand, servePorts } from './spdy-sessions.ts'
import type { ConnectionTarget } from '../kubelets/connection-target.ts'

const SPDY = 'spdy/3.1'
const PHRASES: ReadonlyMap<number, string> = new Map([
  [101, 'Switching Protocols'],
  [200, 'OK'],
  [400, 'Bad Request'],
  [401, 'Unauthorized'],
  [403, 'Forbidden'],
  [404, 'Not Found'],
  [405, 'Method Not Allowed'],
  [409, 'Conflict'],
  [422, 'Unprocessable Entity'],
  [429, 'Too Many Requests'],
  [500, 'Internal Server Error'],
  [503, 'Service Unavailable'],
])
const TUNNEL_PROTOCOL = 'SPDY/3.1+portforward.k8s.io'
/** Served by a kube-apiserver itself; the older ones are passed on to the kubelet. */
const CLOSABLE_PROTOCOL = 'v5.channel.k8s.io'

type WatchBody = Extract<AnswerBody, { kind: 'watch' }>
type PortTarget = Extract<ConnectionTarget, { kind: 'ports' }>

/** A fault of ours ends the connection alone. */
export async function upgrade(
  request: ServerRequest,
  socket: Duplex,
  head: Buffer,
  answerOf: (request: ServerRequest) => Promise<Answer>,
  clock: Clock,
): Promise<void> {
  socket.on('error', () => socket.destroy())
  try {
    await connect(request, socket, head, answerOf, clock)
  } catch {
    socket.destroy()
  }
}

async function connect(
  request: ServerRequest,
  socket: Duplex,
  head: Buffer,
  answerOf: (request: ServerRequest) => Promise<Answer>,
  clock: Clock,
): Promise<void> {
  const answer = await answerOf(request)
  const wanted = (headerOf(request.headers, 'upgrade') ?? '').toLowerCase()
  if (answer.body.kind === 'stream' && answer.status === 200 && wanted === 'websocket')
    return acceptStream(request, socket, head, answer.body.chunks)
  if (answer.body.kind === 'watch' && wanted === 'websocket')
    return acceptWatch(request, socket, head, answer)
  if (answer.body.kind === 'tunnel') return join(socket, head, answer.body.tunnel)
  if (answer.body.kind !== 'connection') return refuse(socket, answer)
  const { target } = answer.body
  if (wanted === 'websocket') await acceptWebSocket(request, socket, head, target, clock)
  else if (wanted === SPDY) acceptSpdy(request, socket, head, target, clock)
  else await refuse(socket, refusal(`unable to upgrade: ${JSON.stringify(wanted)} is not known`))
}

/** What one says the other hears. When one has said all, the other is told all of it and both are closed. */
function join(socket: Duplex, head: Buffer, { headers, peer, head: theirs }: Tunnel): void {
  const leave = (side: Duplex): void => void side.end(() => side.destroy())
  if (socket.destroyed) return leave(peer)
  peer.on('error', () => peer.destroy())
  for (const [side, other] of [
    [socket, peer],
    [peer, socket],
  ] as const)
    for (const event of ['end', 'close']) side.once(event, () => leave(other))
  const lines = headers.map(([name, value]) => `${name}: ${value}`)
  writeHead(socket, 101, lines)
  if (theirs.length > 0) socket.write(theirs)
  if (head.length > 0) peer.write(head)
  socket.pipe(peer, { end: false })
  peer.pipe(socket, { end: false })
}

const EMPTY_REFUSAL: Answer = { status: 403, body: { kind: 'empty' } }

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
  if (body.kind === 'stream') {
    writeHead(socket, status, [...lines, `content-type: ${body.contentType}`, 'connection: close'])
    return pipeline(body.chunks, socket).catch(() => {})
  }
  writeHead(socket, status, [
    ...lines,
    ...(body.kind === 'empty' ? [] : [`content-type: ${contentType}`]),
    `content-length: ${bytes.length}`,
    'connection: close',
  ])
  socket.end(bytes)
}

function writeHead(socket: Duplex, status: number, headers: readonly string[]): void {
  // Clients show the phrase when they are refused: several show nothing else of the answer.
  socket.write(`HTTP/1.1 ${status} ${PHRASES.get(status) ?? ''}\r\n${headers.join('\r\n')}\r\n\r\n`)
}

async function acceptWebSocket(
  request: ServerRequest,
  socket: Duplex,
  head: Buffer,
  target: ConnectionTarget,
  clock: Clock,
): Promise<void> {
  const known = target.kind === 'ports' ? PORT_FORMS : COMMAND_FORMS
  const preferred = target.kind === 'ports' ? TUNNEL_PROTOCOL : CLOSABLE_PROTOCOL
  const protocol = chosenProtocol(known, offeredProtocols(request.headers), preferred)
  if (protocol === undefined)
    return refuse(socket, unknownProtocols(offeredProtocols(request.headers)))
  const form = known.get(protocol)
  if (target.kind === 'refused' && protocol !== preferred)
    return refuseAsKubelet(socket, target.why)
  if (target.kind === 'ports' && form !== undefined && target.ports.length === 0)
    return refuse(socket, refusal('query parameter "port" is required'))
  const sessions = await import('./web-socket.ts')
  await handshake(request, socket, head, protocol, (webSocket) => {
    if (form === undefined)
      sessions.tunnelPortsOverWebSocket(webSocket, target as PortTarget, clock)
    else if (target.kind === 'ports') void sessions.servePortsOverWebSocket(webSocket, target, form)
    else if (target.kind === 'command')
      void sessions.serveCommandOverWebSocket(webSocket, target, form, clock)
    else void sessions.refuseOverWebSocket(webSocket, target, form)
  })
}

/** What others read as a body: one message for each piece. */
async function acceptStream(
  request: ServerRequest,
  socket: Duplex,
  head: Buffer,
  chunks: AsyncIterable<Uint8Array>,
): Promise<void> {
  const protocol = chosenProtocol(BYTES_FORMS, offeredProtocols(request.headers), '')
  if (protocol === undefined)
    return refuse(socket, unknownProtocols(offeredProtocols(request.headers)))
  const { sendStreamOverWebSocket } = await import('./web-socket.ts')
  const form = BYTES_FORMS.get(protocol)!
  await handshake(
    request,
    socket,
    head,
    protocol,
    (webSocket) => void sendStreamOverWebSocket(webSocket, chunks, form),
  )
}

/** What makes an upgrade none that a watch is sent over, before anybody asks where its reader comes from. */
function badHandshake(headers: ServerRequest['headers']): Answer | undefined {
  const refused = (text: string): Answer => ({
    status: 400,
    body: { kind: 'bytes', bytes: Buffer.from(text), contentType: 'text/plain' },
  })
  if (!headerOf(headers, 'sec-websocket-key')) return refused('mismatch challenge/response')
  if (headerOf(headers, 'sec-websocket-version') === '13') return undefined
  return {
    ...refused('missing or bad WebSocket Version'),
    headers: { 'Sec-WebSocket-Version': '13' },
  }
}

/** The reader has to say where it comes from, and may name one protocol, of any name. */
async function acceptWatch(
  request: ServerRequest,
  socket: Duplex,
  head: Buffer,
  { body, mediaType }: Answer,
): Promise<void> {
  const bad = badHandshake(request.headers)
  if (bad !== undefined) return refuse(socket, bad)
  const offered = offeredProtocols(request.headers)
  if (!headerOf(request.headers, 'origin')) return refuse(socket, EMPTY_REFUSAL)
  if (offered.length > 1) return refuse(socket, { ...EMPTY_REFUSAL, status: 400 })
  const { watchOverWebSocket } = await import('./web-socket-watch.ts')
  const binary = mediaType === PROTOBUF
  const encode = binary ? protobufMessages(await protobufAnswers()) : encodeEvent
  await handshake(request, socket, head, offered[0] ?? '', (webSocket) =>
    watchOverWebSocket(webSocket, body as WatchBody, {
      encode,
      binary,
      hangUp: () => socket.end(),
    }),
  )
}

/** `serve` is called before the first message of the client can come. */
async function handshake(
  { method, headers, path: url }: ServerRequest,
  socket: Duplex,
  head: Buffer,
  protocol: string,
  serve: (webSocket: WebSocket) => void,
): Promise<void> {
  const { WebSocketServer } = await import('ws')
  const server = new WebSocketServer({ noServer: true, perMessageDeflate: false })
  // Chosen already, and not the library's to judge: it refuses the slash of the tunnel, which RFC 6455 does not allow either.
  if (protocol !== '')
    server.on('headers', (lines) => void lines.push(`Sec-WebSocket-Protocol: ${protocol}`))
  const { 'sec-websocket-protocol': _, ...others } = headers
  type Incoming = Parameters<typeof server.handleUpgrade>[0]
  server.handleUpgrade({ method, headers: others, url } as Incoming, socket, head, serve)
}

function unknownProtocols(offered: readonly string[]): Answer {
  return refusal(`unable to upgrade: none of the protocols ${JSON.stringify(offered)} is known`)
}

/** In the kubelet's words, which are text: here a kube-apiserver only passes bytes on. */
function refuseAsKubelet(socket: Duplex, why: string): Promise<void> {
  const bytes = Buffer.from(why)
  return refuse(socket, { status: 500, body: { kind: 'bytes', bytes, contentType: 'text/plain' } })
}

function acceptSpdy(
  request: ServerRequest,
  socket: Duplex,
  head: Buffer,
  target: ConnectionTarget,
  clock: Clock,
): void {
  if (target.kind === 'refused') {
    void refuseAsKubelet(socket, target.why)
    return
  }
  const known: readonly string[] = target.kind === 'command' ? COMMAND_PROTOCOLS : [PORT_PROTOCOL]
  const header = request.headers['x-stream-protocol-version']
  const offered = [header ?? []].flat().flatMap(listOf)
  const silent = offered.length === 0 && target.kind === 'command'
  const protocol = silent ? '' : known.find((name) => offered.includes(name))
  if (protocol === undefined) {
    void refuse(socket, unknownProtocols(offered))
    return
  }
  writeHead(socket, 101, [
    'Connection: Upgrade',
    'Upgrade: SPDY/3.1',
    ...(silent ? [] : [`X-Stream-Protocol-Version: ${protocol}`]),
  ])
  const sink: ByteSink = {
    async write(bytes) {
      if (socket.destroyed || socket.writableEnded) return
      if (!socket.write(bytes)) await drained(socket)
    },
    end: () => socket.end(),
  }
  const connection: SpdyConnection = new SpdyConnection(sink, (stream) => session(stream))
  const session =
    target.kind === 'command'
      ? serveCommand(connection, target, protocol)
      : servePorts(connection, target, clock)
  socket.on('data', (chunk: Buffer) => {
    socket.pause()
    void connection.receive(chunk).then(() => socket.resume())
  })
  socket.on('close', () => connection.close())
  socket.on('end', () => connection.close())
  if (head.length > 0) void connection.receive(head)
}

function listOf(header: string | undefined): string[] {
  return (header ?? '')
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '')
}
