import { connect as connectTcp, isIP } from 'node:net'
import type { Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import type { TLSSocket } from 'node:tls'
import { errorText } from '@gyropilot/foundation'
import type { Clock } from '@gyropilot/foundation'
import { presentedBy, serverCertificateProblem } from '@gyropilot/foundation/x509'
import { clientErrors } from '../errors.ts'
import { TransportError } from '../transport.ts'
import { SocketReads, receiveFrom } from './socket-reads.ts'
import type { Receive } from './socket-reads.ts'
import { openSocks5 } from './socks5.ts'
import type { TlsMaterial } from './tls-source.ts'

const DIAL_TIMEOUT_MS = 30_000
const HANDSHAKE_TIMEOUT_MS = 10_000
const KEEP_ALIVE_MS = 30_000
const LONGEST_PROXY_ANSWER = 16_384
const DEFAULT_PORTS: Readonly<Record<string, number>> = {
  'https:': 443,
  'socks5:': 1080,
  'socks5h:': 1080,
}

interface DialOptions {
  readonly clock: Clock
  readonly server: URL
  /** Undefined: plain text. */
  readonly tls: TlsMaterial | undefined
  readonly protocols: readonly ('h2' | 'http/1.1')[]
  readonly proxy: URL | undefined
}

interface Dialled {
  readonly socket: Socket | TLSSocket
  readonly protocol: 'h2' | 'http/1.1'
  /** Instead of the socket's `data`. */
  readonly receive: Receive
}

function hostOf(url: URL): string {
  return url.hostname.startsWith('[') ? url.hostname.slice(1, -1) : url.hostname
}

function portOf(url: URL): number {
  return url.port === '' ? (DEFAULT_PORTS[url.protocol] ?? 80) : Number(url.port)
}

/** Opens a connection, through the proxy if there is one, and shakes hands. Rejects with TransportError. */
export async function dial(options: DialOptions): Promise<Dialled> {
  const { server, tls, clock, proxy } = options
  const tcp = proxy === undefined ? undefined : await dialProxy(options, proxy)
  if (tls === undefined) {
    const socket = tcp ?? (await dialTcp(clock, server))
    return { socket, protocol: 'http/1.1', receive: receiveFrom(socket) }
  }
  const { socket, receive } = await handshake({ ...options, tls }, tcp)
  return { socket, protocol: socket.alpnProtocol === 'h2' ? 'h2' : 'http/1.1', receive }
}

function addressOf(url: URL) {
  return {
    host: hostOf(url),
    port: portOf(url),
    noDelay: true,
    keepAlive: true,
    keepAliveInitialDelay: KEEP_ALIVE_MS,
  }
}

async function dialTcp(clock: Clock, url: URL): Promise<Socket> {
  const socket = connectTcp(addressOf(url))
  await connected(clock, socket, url)
  return socket
}

function connected(clock: Clock, socket: Socket, { host }: URL): Promise<void> {
  return ready(clock, socket, 'connect', DIAL_TIMEOUT_MS, `dial tcp ${host}`)
}

interface HandshakeOptions extends Pick<DialOptions, 'clock' | 'server' | 'protocols'> {
  readonly tls: TlsMaterial
}

/** In a tunnel, or on a connection of its own. */
async function handshake(
  options: HandshakeOptions,
  tunnel: Socket | undefined,
): Promise<{ readonly socket: TLSSocket; readonly receive: Receive }> {
  const { clock, server, tls } = options
  const host = hostOf(server)
  const servername = tls.serverName ?? (isIP(host) ? undefined : host)
  const reads = new SocketReads(clock)
  let socket: TLSSocket
  try {
    socket = connectTls({
      ...(tunnel === undefined
        ? { ...addressOf(server), onread: reads.onread }
        : { host, socket: tunnel }),
      ...(servername === undefined ? {} : { servername }),
      ...(tls.ca === undefined ? {} : { ca: tls.ca }),
      ...(tls.cert === undefined ? {} : { cert: tls.cert }),
      ...(tls.key === undefined ? {} : { key: tls.key }),
      // Judged below, as Go does: no word is sent before.
      rejectUnauthorized: false,
      allowPartialTrustChain: true,
      checkServerIdentity: () => undefined,
      minVersion: 'TLSv1.2',
      ALPNProtocols: [...options.protocols],
    })
  } catch (error) {
    tunnel?.destroy()
    throw new TransportError('TLS_INVALID', `tls to ${server.host}: ${errorText(error)}`, {
      cause: error,
    })
  }
  reads.of(socket)
  if (tunnel === undefined) await connected(clock, socket, server)
  await ready(clock, socket, 'secureConnect', HANDSHAKE_TIMEOUT_MS, `tls to ${server.host}`)
  if (tls.insecure !== true) checkServer(options, socket, servername ?? host)
  return { socket, receive: tunnel === undefined ? reads.receive : receiveFrom(socket) }
}

/** Throws TransportError when the certificate does not prove that the server is who was asked for. */
function checkServer(
  { clock, server, tls }: HandshakeOptions,
  socket: TLSSocket,
  host: string,
): void {
  const presented = presentedBy(socket)
  const problem =
    presented.length === 0
      ? { code: 'TLS_INVALID', text: 'no certificate was shown' }
      : serverCertificateProblem({
          presented,
          chainError: socket.authorized ? undefined : String(socket.authorizationError),
          host,
          authoritiesPem: tls.ca,
          nowMs: clock.nowMs(),
        })
  if (problem === undefined) return
  socket.on('error', () => {})
  socket.destroy()
  const { code, text } = problem
  const message = `tls to ${server.host}: tls: failed to verify certificate: ${text}`
  throw new TransportError(code, message)
}

/** Resolves at `event`; rejects and destroys the socket on an error, an early close or the timeout. */
function ready(
  clock: Clock,
  socket: Socket,
  event: string,
  timeoutMs: number,
  what: string,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const settle = (error?: TransportError): void => {
      timer.cancel()
      socket.off(event, onReady)
      socket.off('error', onError)
      socket.off('close', onClose)
      if (error === undefined) {
        resolve()
        return
      }
      socket.on('error', () => {})
      socket.destroy()
      reject(error)
    }
    const onReady = (): void => settle()
    const onError = (error: NodeJS.ErrnoException): void =>
      settle(new TransportError(codeOf(error), `${what}: ${errorText(error)}`, { cause: error }))
    const onClose = (): void =>
      settle(new TransportError('EOF', `${what}: closed by the other side`))
    const timer = clock.after(timeoutMs, () =>
      settle(new TransportError('ETIMEDOUT', `${what}: i/o timeout after ${timeoutMs / 1000}s`)),
    )
    socket.once(event, onReady)
    socket.once('error', onError)
    socket.once('close', onClose)
  })
}

/** Node's code of an error. An AggregateError of several addresses has that of its first. */
export function codeOf(error: unknown): string {
  const { code, errors } = error as { code?: unknown; errors?: readonly unknown[] }
  if (typeof code === 'string') return code
  return errors !== undefined && errors.length > 0 ? codeOf(errors[0]) : 'UNKNOWN'
}

/** A tunnel: by HTTP CONNECT, for plain http servers too, or by SOCKS5. */
async function dialProxy(options: DialOptions, proxy: URL): Promise<Socket> {
  const { clock, server } = options
  const host = hostOf(server)
  const port = portOf(server)
  const username = decodeURIComponent(proxy.username)
  const password = decodeURIComponent(proxy.password)
  switch (proxy.protocol) {
    case 'socks5:':
    case 'socks5h:': {
      const socket = await dialTcp(clock, proxy)
      const what = `proxy ${proxy.host}: SOCKS5 connect ${server.host}`
      const credentials = username === '' ? undefined : { username, password }
      const timeoutMs = DIAL_TIMEOUT_MS
      await openSocks5({ clock, socket, host, port, credentials, timeoutMs, what })
      return socket
    }
    case 'http:':
    case 'https:':
      break
    default:
      throw clientErrors.make(
        'PROXY_UNSUPPORTED',
        `proxy ${proxy.protocol}//${proxy.host}: only http, https and socks5 proxies can be used`,
      )
  }
  const tcp = await dialTcp(clock, proxy)
  const socket =
    proxy.protocol === 'https:'
      ? (await handshake(proxyHandshake(options, proxy), tcp)).socket
      : tcp
  const target = `${server.hostname}:${port}`
  const secret = Buffer.from(`${username}:${password}`).toString('base64')
  const authorization = username === '' ? '' : `Proxy-Authorization: Basic ${secret}\r\n`
  socket.write(`CONNECT ${target} HTTP/1.1\r\nHost: ${target}\r\n${authorization}\r\n`)
  await tunnelOpen(clock, socket, `proxy ${proxy.host}: CONNECT ${target}`)
  return socket
}

/** As in client-go, a proxy is checked by the cluster's authorities. It is not shown the client certificate. */
function proxyHandshake({ clock, tls }: DialOptions, proxy: URL): HandshakeOptions {
  const material = { ca: tls?.ca, insecure: tls?.insecure }
  return { clock, server: proxy, tls: material, protocols: ['http/1.1'] }
}

function tunnelOpen(clock: Clock, socket: Socket, what: string): Promise<void> {
  return new Promise((resolve, reject) => {
    let answer = ''
    const settle = (error?: TransportError): void => {
      timer.cancel()
      socket.off('data', onData)
      socket.off('error', onError)
      socket.off('close', onClose)
      if (error === undefined) {
        socket.pause()
        resolve()
        return
      }
      socket.on('error', () => {})
      socket.destroy()
      reject(error)
    }
    const onData = (chunk: Buffer): void => {
      answer += chunk.toString('latin1')
      const end = answer.indexOf('\r\n\r\n')
      if (end === -1) {
        if (answer.length > LONGEST_PROXY_ANSWER)
          settle(new TransportError('PROXY_REFUSED', `${what}: endless answer`))
        return
      }
      const statusLine = answer.slice(0, answer.indexOf('\r\n'))
      if (!/^HTTP\/1\.[01] 200/.test(statusLine)) {
        settle(new TransportError('PROXY_REFUSED', `${what}: ${statusLine}`))
        return
      }
      // A server talks only after the client's hello: bytes behind the answer would not be TLS. Kept for plain text.
      const rest = Buffer.from(answer.slice(end + 4), 'latin1')
      if (rest.length > 0) socket.unshift(rest)
      settle()
    }
    const onError = (error: Error): void =>
      settle(new TransportError(codeOf(error), `${what}: ${errorText(error)}`, { cause: error }))
    const onClose = (): void => settle(new TransportError('EOF', `${what}: closed by the proxy`))
    const timer = clock.after(DIAL_TIMEOUT_MS, () =>
      settle(new TransportError('ETIMEDOUT', `${what}: i/o timeout`)),
    )
    socket.on('data', onData)
    socket.once('error', onError)
    socket.once('close', onClose)
  })
}
