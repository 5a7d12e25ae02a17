/** A request as the manager's handlers see it, and what they answer. */
import type { X509Certificate } from 'node:crypto'

export interface IncomingRequest {
  readonly method: string
  readonly path: string
  readonly query: URLSearchParams
  /** By lower-case name; each value of a repeated header. */
  readonly headers: Readonly<Record<string, readonly string[]>>
  /** As presented, the client's own first; nobody has vouched for them yet. */
  readonly peerCertificates: readonly X509Certificate[]
  /** At most 1 MiB. */
  body(): Promise<string>
}

export interface PlainAnswer {
  readonly status: number
  readonly body: string
}

export interface Answer extends PlainAnswer {
  readonly contentType: string
  /** Without the header that forbids browsers to guess another type. */
  readonly sniffable?: true
  /** With gzip for those that weigh it above nothing. */
  readonly compressible?: true
  /** The HTTP/2 connection takes no more requests after this one. */
  readonly endsConnection?: true
  /** Beside those that every answer has. */
  readonly headers?: Readonly<Record<string, string>>
}

export interface User {
  readonly name: string
  readonly uid?: string
  readonly groups: readonly string[]
  readonly extra?: Readonly<Record<string, readonly string[]>>
}

interface Target {
  readonly path: string
  readonly query: URLSearchParams
}

/**
 * What a request asks for, as Go reads it: the path is decoded and otherwise left as it was sent, so that who may see it and what answers
 * are decided by the same text. Undefined: it cannot be read.
 */
export function requestTarget(written: string): Target | undefined {
  const [, relative = ''] = /^https?:\/\/[^/?]*(.*)$/i.exec(written) ?? [written, written]
  const question = relative.indexOf('?')
  const [path, query] =
    question < 0 ? [relative, ''] : [relative.slice(0, question), relative.slice(question + 1)]
  try {
    return { path: decodeURIComponent(path), query: new URLSearchParams(query) }
  } catch {
    return undefined
  }
}
