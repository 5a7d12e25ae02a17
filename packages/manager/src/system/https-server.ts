/** The HTTPS port of the manager: HTTP/2 and HTTP/1.1, client certificates asked for and never required. */
import { X509Certificate } from 'node:crypto'
import { createSecureServer } from 'node:http2'
import type { Http2SecureServer, Http2ServerRequest, Http2ServerResponse } from 'node:http2'
import type { AddressInfo } from 'node:net'
import type { TLSSocket } from 'node:tls'
import { errorText } from '@gyropilot/foundation'
import type { CertificateAndKey } from '@gyropilot/foundation/x509'
import { managerErrors } from '../errors.ts'
import type { IncomingRequest, User } from '../serving/delegated-auth.ts'
import type { Answer } from '../serving/routes.ts'

const MOST_HEADER_BYTES = 1 << 20
const HEADERS_TIMEOUT_MS = 32_000

export interface HttpsServerOptions {
  readonly host: string
  readonly port: number
  readonly certificate: CertificateAndKey
  /** Vouches for client certificates; absent: they are not looked at. */
  readonly clientAuthorityPem?: string
  readonly allowHttp2: boolean
  answer(request: IncomingRequest): Promise<Answer>
}

export interface HttpsServer {
  readonly port: number
  /** Ends at once, without a drain period. */
  close(): void
}

export function startHttpsServer(options: HttpsServerOptions): Promise<HttpsServer> {
  const { host, port, certificate, clientAuthorityPem, allowHttp2 } = options
  const server = createSecureServer({
    cert: certificate.certificatePem,
    key: certificate.privateKeyPem,
    allowHTTP1: true,
    ALPNProtocols: allowHttp2 ? ['h2', 'http/1.1'] : ['http/1.1'],
    minVersion: 'TLSv1.2',
    maxHeaderSize: MOST_HEADER_BYTES,
    ...(clientAuthorityPem === undefined
      ? {}
      : { requestCert: true, rejectUnauthorized: false, ca: clientAuthorityPem }),
  } as Parameters<typeof createSecureServer>[0])
  server.setTimeout(HEADERS_TIMEOUT_MS)
  server.on('request', (request, response) => void respond(request, response, options))
  server.on('sessionError', () => {})
  return listening(server, host, port)
}

function listening(server: Http2SecureServer, host: string, port: number): Promise<HttpsServer> {
  return new Promise((resolve, reject) => {
    server.once('error', (error) => {
      const message = `failed to create listener: failed to listen on ${host}:${port}: ${errorText(error)}`
      reject(managerErrors.make('SERVING_FAILED', message, { cause: error }))
    })
    server.listen(port, host, () =>
      resolve({
        port: (server.address() as AddressInfo).port,
        close: () => server.close(),
      }),
    )
  })
}

async function respond(
  request: Http2ServerRequest,
  response: Http2ServerResponse,
  options: HttpsServerOptions,
): Promise<void> {
  const url = new URL(request.url, 'https://localhost')
  const authorization = String(request.headers.authorization ?? '')
  const bearerToken = /^Bearer\s+(\S+)$/i.exec(authorization)?.[1]
  const certificateUser = verifiedUser(request.socket as TLSSocket)
  const answer = await options.answer({
    method: request.method,
    path: url.pathname,
    query: url.searchParams,
    ...(bearerToken === undefined ? {} : { bearerToken }),
    ...(certificateUser === undefined ? {} : { certificateUser }),
  })
  response.statusCode = answer.status
  response.setHeader('content-type', answer.contentType)
  response.setHeader('content-length', Buffer.byteLength(answer.body))
  response.setHeader('x-content-type-options', 'nosniff')
  response.setHeader('cache-control', 'no-cache, private')
  if (request.method === 'HEAD') response.end()
  else response.end(answer.body)
}

/** Common name and organizations of a client certificate that the client CA vouches for. */
function verifiedUser(socket: TLSSocket): User | undefined {
  if (socket.authorized !== true) return undefined
  const certificate = socket.getPeerX509Certificate?.()
  if (!(certificate instanceof X509Certificate)) return undefined
  const attributes = certificate.subject.split('\n').map((line) => line.split(/=(.*)/s))
  const valuesOf = (key: string): string[] =>
    attributes.flatMap(([name, value]) => (name === key && value !== undefined ? [value] : []))
  return { name: valuesOf('CN')[0] ?? '', groups: valuesOf('O') }
}
