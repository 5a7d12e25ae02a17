/** What arrived at the socket, as a request of the pipeline. */
import type { IncomingMessage, ServerResponse as Http1Response } from 'node:http'
import type { X509Certificate } from 'node:crypto'
import type { Socket } from 'node:net'
import { TLSSocket } from 'node:tls'
import { presentedBy } from '@gyropilot/foundation/x509'
import type { Headers, ServerRequest } from '../exchange.ts'
import { isGone } from './peer.ts'
import type { Incoming, Outgoing } from './peer.ts'
import { BODY_LIMIT_BYTES } from '../request-body.ts'
import { isWatch } from '../request-info.ts'

/**
 * Of what is larger than allowed only so much that the pipeline sees it and refuses. Rejects when the peer goes away before the end. By
 * events, for an iterator of the stream costs a request of this size as much as reading its JSON.
 */
export function readBody(incoming: Incoming): Promise<Uint8Array | undefined> {
  if (incoming.method === 'GET' || incoming.method === 'HEAD') return Promise.resolve(undefined)
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let size = 0
    const body = incoming as IncomingMessage
    body.on('data', (chunk: Buffer) => {
      if (size > BODY_LIMIT_BYTES) return
      chunks.push(chunk)
      size += chunk.length
    })
    body.once('end', () =>
      resolve(size === 0 ? undefined : chunks.length === 1 ? chunks[0] : Buffer.concat(chunks)),
    )
    body.once('error', reject)
    // It comes after the end too, with every request: an error, which takes a look at the stack, is only for those that lack it.
    body.once('close', () => {
      if (!body.readableEnded) reject(new Error('the request was cut off'))
    })
  })
}

/**
 * Whether what follows the head of a request that offers to switch protocols belongs to those. Where it announces a body it does not
 * yet; and a watch is read as it comes by whoever offers something that it is not told over (`h2c`, which Java's client offers
 * everyone), unless it is one that a program behind a proxy is asked for.
 */
export function switchesProtocols({ headers, url = '' }: IncomingMessage): boolean {
  if (headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0)
    return false
  if (headers.upgrade?.toLowerCase() === 'websocket') return true
  const [path, query] = url.split('?', 2) as [string, string | undefined]
  const segments = path.split('/')
  if (segments.includes('proxy')) return true
  return !(segments.includes('watch') || isWatch(new URLSearchParams(query)))
}

/** A class for the sake of `signal`: hardly any request asks for it, and all others must not pay. */
class IncomingRequest implements ServerRequest {
  readonly method: string
  readonly path: string
  readonly headers: Headers
  readonly body: ServerRequest['body']
  readonly clientCertificates: readonly X509Certificate[]
  readonly unbounded: (() => void) | undefined
  readonly #incoming: Incoming
  readonly #outgoing: Outgoing | undefined
  #signal: AbortSignal | undefined

  constructor(
    incoming: Incoming,
    bytes: Uint8Array | undefined,
    outgoing: Outgoing | undefined,
    unbounded: (() => void) | undefined,
  ) {
    this.method = incoming.method ?? 'GET'
    this.path = pathOf(incoming.url ?? '/')
    this.headers = headersOf(incoming)
    this.body = bytes === undefined ? undefined : { bytes }
    this.clientCertificates = certificatesOf(incoming)
    this.unbounded = unbounded
    this.#incoming = incoming
    this.#outgoing = outgoing
  }

  get clientAddress(): string | undefined {
    return socketOf(this.#incoming)?.remoteAddress
  }

  get signal(): AbortSignal | undefined {
    if (this.#outgoing === undefined) return undefined
    return (this.#signal ??= goneSignal(this.#outgoing))
  }
}

/** Proxies may name the server too. */
function pathOf(target: string): string {
  if (target.startsWith('/')) return target
  return /^[a-z][-+.0-9a-z]*:\/\/[^/?]*(\/.*)$/i.exec(target)?.[1] ?? target
}

/** Without `outgoing` nobody learns that the peer has gone. */
export function requestOf(
  incoming: Incoming,
  bytes: Uint8Array | undefined,
  outgoing?: Outgoing,
  unbounded?: () => void,
): ServerRequest {
  return new IncomingRequest(incoming, bytes, outgoing, unbounded)
}

/** Aborts when nobody waits for the answer any more. */
function goneSignal(outgoing: Outgoing): AbortSignal {
  if (isGone(outgoing)) return AbortSignal.abort()
  const controller = new AbortController()
  ;(outgoing as Http1Response).once('close', () => controller.abort())
  return controller.signal
}

const IDENTITY_HEADER = /^(?:impersonate|x-remote)-/

/**
 * Node joins a repeated header into one text with commas; of an identity each value counts for itself. Every request comes here, most have
 * no such headers: only the names without which the others say nothing are looked for.
 */
function headersOf({ headers, rawHeaders }: Incoming): Headers {
  const isPlain =
    headers['impersonate-user'] === undefined &&
    headers['impersonate-group'] === undefined &&
    headers['x-remote-user'] === undefined
  if (isPlain) return headers
  const identity: Record<string, string[]> = {}
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index]!.toLowerCase()
    if (IDENTITY_HEADER.test(name)) (identity[name] ??= []).push(rawHeaders[index + 1]!)
  }
  return { ...headers, ...identity }
}

const certificates = new WeakMap<object, readonly X509Certificate[]>()
const NONE: readonly X509Certificate[] = []

/** What the peer showed, once per connection. */
function certificatesOf(incoming: Incoming): readonly X509Certificate[] {
  const socket = socketOf(incoming)
  if (!(socket instanceof TLSSocket)) return NONE
  let shown = certificates.get(socket)
  if (shown === undefined) {
    shown = presentedBy(socket)
    certificates.set(socket, shown)
  }
  return shown
}

function socketOf(incoming: Incoming): Socket | undefined {
  return 'stream' in incoming ? incoming.stream.session?.socket : incoming.socket
}
