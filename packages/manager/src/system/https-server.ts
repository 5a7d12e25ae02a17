/** The HTTPS port of the manager: HTTP/2 and HTTP/1.1, client certificates asked for and never required. */
import { createSecureServer } from 'node:http2'
import type { Http2SecureServer, Http2ServerRequest, Http2ServerResponse } from 'node:http2'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer as createHttp1Server } from 'node:https'
import type { Server as Http1Server } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import { createSecureContext } from 'node:tls'
import type { SecureContext, TLSSocket } from 'node:tls'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { hostAndPort } from '@gyropilot/api'
import { errorText, refusePlainHttp, textOfHeader } from '@gyropilot/foundation'
import { presentedBy } from '@gyropilot/foundation/x509'
import type { CertificateAndKey } from '@gyropilot/foundation/x509'
import { managerErrors } from '../errors.ts'
import { acceptsGzip } from '../serving/gzip.ts'
import { byName, chosen } from '../serving/named-certificates.ts'
import { requestTarget } from '../serving/request.ts'
import type { Answer, IncomingRequest } from '../serving/request.ts'
import type { TlsSettings } from '../serving/tls-settings.ts'

const compress = promisify(gzip)
const MOST_HEADER_BYTES = 1 << 20
const MOST_BODY_BYTES = 1 << 20
const HEADERS_TIMEOUT_MS = 32_000
const IDLE_TIMEOUT_MS = 90_000
const DEFAULT_MAX_STREAMS = 100
const FAULT = 'internal server error: look in the log for what happened\n'

export interface NamedCertificate extends CertificateAndKey {
  /** Empty: those of the certificate. */
  readonly names: readonly string[]
}

/** What the handshake shows; may be replaced while the server runs. */
export interface ServingMaterial {
  readonly certificate: CertificateAndKey
  /** Shown instead of it to clients that ask for one of their names. */
  readonly named: readonly NamedCertificate[]
  /** The authorities named as acceptable; empty: any certificate is asked for. */
  readonly authoritiesPem: string
}

export interface HttpsServerOptions {
  readonly host: string
  readonly port: number
  readonly tls: TlsSettings
  readonly material: ServingMaterial
  readonly allowHttp2: boolean
  /** Streams of one HTTP/2 connection; 0: 100. */
  readonly maxStreams: number
  answer(request: IncomingRequest): Promise<Answer>
  /** An answer could not be made, and its client was told 500. */
  onFault(error: unknown, asked: { readonly method: string; readonly target: string }): void
}

interface HttpsServer {
  readonly port: number
  /** For handshakes from now on. Throws when certificate and key do not fit; the former ones then stay. */
  replace(material: ServingMaterial): void
  /** Ends at once, without a drain period. */
  close(): void
}

/** Both kinds of server, as far as they are used alike here. */
type AnyServer = Http2SecureServer | Http1Server

export async function startHttpsServer(options: HttpsServerOptions): Promise<HttpsServer> {
  let server: AnyServer
  const contexts = { named: new Map() as NamedContexts }
  try {
    contexts.named = namedContexts(options.tls, options.material)
    server = createServer(options, contexts)
  } catch (error) {
    const message = `unable to serve TLS: ${errorText(error)}`
    throw managerErrors.make('SERVING_FAILED', message, { cause: error })
  }
  refusePlainHttp(server)
  server.setTimeout(IDLE_TIMEOUT_MS)
  // Both belong to HTTP/1.1 connections, which the types of an HTTP/2 server do not mention.
  Object.assign(server, { headersTimeout: HEADERS_TIMEOUT_MS, keepAliveTimeout: IDLE_TIMEOUT_MS })
  return listening(server, contexts, options)
}

function createServer(
  options: HttpsServerOptions,
  contexts: { readonly named: NamedContexts },
): AnyServer {
  const { tls, material, allowHttp2, maxStreams } = options
  const common = {
    ...secureContext(tls, material.certificate, material.authoritiesPem),
    // Without a match the certificate of the server itself is shown.
    SNICallback: (
      serverName: string,
      done: (error: Error | null, context?: SecureContext) => void,
    ): void => done(null, chosen(contexts.named, serverName)),
    requestCert: true,
    // Who may ask is decided per request; a certificate nobody vouches for is answered 401, not cut off.
    rejectUnauthorized: false,
    maxHeaderSize: MOST_HEADER_BYTES,
  }
  // An HTTP/2 server of Node offers h2 whatever it is told.
  if (!allowHttp2) {
    return createHttp1Server(common, (request, response) => void serve(request, response, options))
  }
  const server = createSecureServer({
    ...common,
    allowHTTP1: true,
    settings: {
      maxConcurrentStreams: maxStreams === 0 ? DEFAULT_MAX_STREAMS : maxStreams,
      maxHeaderListSize: MOST_HEADER_BYTES,
    },
  } as Parameters<typeof createSecureServer>[0])
  server.on('request', (request, response) => void serve(request, response, options))
  server.on('sessionError', () => {})
  return server
}

type NamedContexts = ReadonlyMap<string, SecureContext>

/** Throws when a certificate and its key do not fit. */
function namedContexts(
  tls: TlsSettings,
  { named, authoritiesPem }: ServingMaterial,
): NamedContexts {
  return byName(
    named.map((pair) => ({
      names: pair.names,
      certificatePem: pair.certificatePem,
      choice: createSecureContext(secureContext(tls, pair, authoritiesPem)),
    })),
  )
}

function secureContext(tls: TlsSettings, certificate: CertificateAndKey, authoritiesPem: string) {
  return {
    ...tls,
    cert: certificate.certificatePem,
    key: certificate.privateKeyPem,
    ca: authoritiesPem === '' ? [] : [authoritiesPem],
  }
}

function listening(
  server: AnyServer,
  contexts: { named: NamedContexts },
  options: HttpsServerOptions,
): Promise<HttpsServer> {
  const { host, port, tls } = options
  const connections = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    connections.add(socket)
    socket.once('close', () => connections.delete(socket))
  })
  return new Promise((resolve, reject) => {
    server.on('error', (error: NodeJS.ErrnoException) => {
      const at = hostAndPort(host, port)
      const why = BIND_PROBLEMS[error.code ?? '']
      const told = why === undefined ? errorText(error) : `listen tcp ${at}: bind: ${why}`
      const message = `failed to create listener: failed to listen on ${at}: ${told}`
      reject(managerErrors.make('SERVING_FAILED', message, { cause: error }))
    })
    server.once('listening', () =>
      resolve({
        port: (server.address() as AddressInfo).port,
        replace(material) {
          const named = namedContexts(tls, material)
          server.setSecureContext(secureContext(tls, material.certificate, material.authoritiesPem))
          contexts.named = named
        },
        close() {
          server.close()
          for (const socket of connections) socket.destroy()
        },
      }),
    )
    server.listen(port, isOfBothFamilies(host) ? undefined : host)
  })
}

/** As Go tells them. */
const BIND_PROBLEMS: Readonly<Record<string, string>> = {
  EACCES: 'permission denied',
  EADDRINUSE: 'address already in use',
  EADDRNOTAVAIL: 'cannot assign requested address',
}

/**
 * As Go: where the machine has both, no address and 0.0.0.0 are those of IPv6 too. Node takes them so when it is told none; to judge
 * `::` costs a start 25 ms of CPU on a slow machine.
 */
function isOfBothFamilies(host: string): boolean {
  return host === '' || host === '0.0.0.0'
}

/** What goes wrong with one request is no reason to end the process, and with it the controllers. */
async function serve(
  request: Http2ServerRequest | IncomingMessage,
  response: Http2ServerResponse | ServerResponse,
  options: HttpsServerOptions,
): Promise<void> {
  try {
    await respond(request, response, options)
  } catch (error) {
    const { method = 'GET', url: target = '/' } = request
    // A client that leaves before it has said all is no fault.
    const isGone = 'stream' in response ? response.stream.destroyed : request.readableAborted
    if (!isGone) options.onFault(error, { method, target })
    if (isGone || response.headersSent) return void response.destroy()
    response.statusCode = 500
    response.setHeader('content-type', 'text/plain; charset=utf-8')
    response.setHeader('x-content-type-options', 'nosniff')
    response.end(FAULT)
  }
}

async function respond(
  request: Http2ServerRequest | IncomingMessage,
  response: Http2ServerResponse | ServerResponse,
  options: HttpsServerOptions,
): Promise<void> {
  const target = requestTarget(request.url ?? '/')
  const headers = headersOf(request.rawHeaders)
  const answer: Answer =
    target === undefined
      ? { status: 400, contentType: 'text/plain; charset=utf-8', body: '400 Bad Request' }
      : await options.answer({
          method: request.method ?? 'GET',
          ...target,
          headers,
          // Over HTTP/2 a stand-in for the socket, which is asked in the same way.
          peerCertificates: presentedBy(request.socket as TLSSocket),
          body: () => bodyOf(request),
        })
  const isPacked = answer.compressible === true && acceptsGzip(headers['accept-encoding'] ?? [])
  const body = isPacked ? await compress(answer.body) : Buffer.from(answer.body)
  if (response.destroyed) return
  response.statusCode = answer.status
  response.setHeader('content-type', answer.contentType)
  if (isPacked) response.setHeader('content-encoding', 'gzip')
  response.setHeader('content-length', body.length)
  if (answer.sniffable !== true) response.setHeader('x-content-type-options', 'nosniff')
  response.setHeader('cache-control', 'no-cache, private')
  for (const [name, value] of Object.entries(answer.headers ?? {})) response.setHeader(name, value)
  if (request.method === 'HEAD') response.end()
  else response.end(body)
  if (answer.endsConnection === true && 'stream' in response) response.stream.session?.close()
}

/** Names and values alternate in `raw`. */
function headersOf(raw: readonly string[]): Record<string, string[]> {
  const headers: Record<string, string[]> = Object.create(null)
  for (let i = 0; i + 1 < raw.length; i += 2)
    (headers[raw[i]!.toLowerCase()] ??= []).push(textOfHeader(raw[i + 1]!))
  return headers
}

async function bodyOf(request: AsyncIterable<unknown>): Promise<string> {
  const pieces: Buffer[] = []
  let size = 0
  for await (const piece of request) {
    size += (piece as Buffer).length
    if (size > MOST_BODY_BYTES) break
    pieces.push(piece as Buffer)
  }
  return Buffer.concat(pieces).toString('utf8')
}
