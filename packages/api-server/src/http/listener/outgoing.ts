/** Writing to a peer that may be slow or gone. */
import type { OutgoingHttpHeader, ServerResponse as Http1Response } from 'node:http'
import { constants as http2Constants } from 'node:http2'
import type { Writable } from 'node:stream'
import { promisify } from 'node:util'
import { constants, createGzip, gzip } from 'node:zlib'
import { contentTypeOf } from '../answer.ts'
import type { Answer } from '../answer.ts'
import type { GatheredAnswers } from './gathered-answers.ts'
import { isGone } from './peer.ts'
import type { Incoming, Outgoing } from './peer.ts'

const compress = promisify(gzip)

/** How an answer is compressed, where its peer can read it. */
interface Compression {
  /** Only when it has more bytes. */
  readonly above: number
  /** The peer may weigh its codings. Else it has to name gzip and nothing more, and caches are told. */
  readonly weighed: boolean
}

/** Ends the answer with `chunks`. */
export async function writeChunks(
  incoming: Incoming,
  outgoing: Outgoing,
  status: number,
  chunks: readonly Uint8Array[],
  compression: Compression,
  sent?: (bytes: number) => void,
): Promise<void> {
  const size = chunks.reduce((total, chunk) => total + chunk.length, 0)
  sent?.(size)
  setStatus(outgoing, status)
  if (size > compression.above && acceptsGzip(incoming, compression)) {
    outgoing.setHeader('content-encoding', 'gzip')
    if (!compression.weighed) outgoing.setHeader('vary', 'Accept-Encoding')
    if (chunks.length === 1) {
      const packed = await compress(chunks[0]!, { level: constants.Z_BEST_SPEED })
      outgoing.setHeader('content-length', packed.length)
      ;(outgoing as Http1Response).end(packed)
      return
    }
    const packer = createGzip({ level: constants.Z_BEST_SPEED })
    packer.pipe(outgoing as Http1Response)
    for (const chunk of chunks) {
      if (!packer.write(chunk)) await answerDrained(outgoing, packer)
      // The packer has nobody to pass anything to any more, and would wait for ever.
      if (isGone(outgoing)) return void packer.destroy()
    }
    packer.end()
    return
  }
  outgoing.setHeader('content-length', size)
  for (let i = 0; i < chunks.length - 1; i++) {
    if (!(outgoing as Http1Response).write(chunks[i]!)) await answerDrained(outgoing)
    if (isGone(outgoing)) return
  }
  ;(outgoing as Http1Response).end(chunks.at(-1))
}

/**
 * Ends an answer whose whole body is `text`, of ASCII characters only. No header was set before: they go to Node at once, which
 * writes them as they are and keeps them in no table.
 */
export function writeText(
  outgoing: Outgoing,
  answer: Answer,
  text: string,
  answers: GatheredAnswers,
): void {
  answer.sent?.(text.length)
  const headers: OutgoingHttpHeader[] = []
  for (const name in answer.headers) headers.push(name, answer.headers[name] as OutgoingHttpHeader)
  headers.push('content-type', contentTypeOf(answer)!, 'content-length', text.length)
  const response = outgoing as Http1Response
  setStatus(outgoing, answer.status)
  response.writeHead(response.statusCode, headers)
  // The streams of an HTTP/2 session are gathered by Node.
  if ('stream' in outgoing) outgoing.end(text, 'latin1')
  else answers.end(response, text)
}

const INTERNAL_ERROR = 500

export function setStatus(outgoing: Outgoing, status: number): void {
  outgoing.statusCode = sendable(outgoing, status)
  if (status === TOO_LARGE && !('stream' in outgoing)) outgoing.statusMessage = TOO_LARGE_PHRASE
}

/** Which Node calls otherwise. */
const TOO_LARGE = 413
const TOO_LARGE_PHRASE = 'Request Entity Too Large'

/** Webhooks may refuse with a code that is no status, and Node sends none beyond 599 (HTTP/2) or 999. */
function sendable(outgoing: Outgoing, status: number): number {
  const most = 'stream' in outgoing ? 599 : 999
  return status > most ? INTERNAL_ERROR : status
}

/** Resolves when more can be written, to the answer or to what is before it, or when nobody reads any more. */
export function answerDrained(
  outgoing: Outgoing,
  writable: Writable = outgoing as Http1Response,
): Promise<void> {
  return new Promise((resolve) => {
    if (isGone(outgoing)) return resolve()
    const done = (): void => {
      writable.removeListener('drain', done)
      outgoing.removeListener('close', done)
      resolve()
    }
    writable.on('drain', done)
    ;(outgoing as Http1Response).on('close', done)
  })
}

/** Ends a stream whose reader is behind, without sending what waits. */
export function cutOff(outgoing: Outgoing): void {
  if ('stream' in outgoing) outgoing.stream?.close(http2Constants.NGHTTP2_CANCEL)
  else outgoing.destroy()
}

/** Ends an answer that cannot be finished, so that its reader does not take it for whole. */
export function breakOff(outgoing: Outgoing): void {
  if ('stream' in outgoing) outgoing.stream?.close(http2Constants.NGHTTP2_INTERNAL_ERROR)
  else outgoing.destroy()
}

function acceptsGzip(incoming: Incoming, { weighed }: Compression): boolean {
  const codings = String(incoming.headers['accept-encoding'] ?? '').split(',')
  if (!weighed) return codings.some((coding) => coding.trim() === 'gzip')
  return codings.some((coding) => {
    const [name = '', ...parameters] = coding.split(';').map((part) => part.trim())
    const weight = parameters.find((parameter) => parameter.startsWith('q='))
    return name === 'gzip' && (weight === undefined || Number(weight.slice(2)) > 0)
  })
}
