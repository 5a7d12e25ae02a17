/** HTTP/1.1 as text: one request, and the answer to it until the connection ends. RFC 9112. Pure. */
import type { HttpUrl } from './url.ts'

const HEAD_END = '\r\n\r\n'

export interface HttpRequest {
  readonly method: string
  readonly url: HttpUrl
  /** By name in lower case; they take the place of those that a request has anyway. */
  readonly headers: ReadonlyMap<string, string>
  readonly body: Uint8Array
  readonly agent: string
}

export interface HttpAnswer {
  /** `HTTP/1.1 200 OK` */
  readonly statusLine: string
  readonly status: number
  readonly headers: ReadonlyMap<string, string>
  /** With the status line, as it came. */
  readonly head: string
  readonly body: Uint8Array
}

export function requestBytes({ method, url, headers, body, agent }: HttpRequest): Uint8Array {
  const isDefaultPort = url.port === (url.isEncrypted === true ? 443 : 80)
  const host = url.host.includes(':') ? `[${url.host}]` : url.host
  const all = new Map([
    ['host', isDefaultPort ? host : `${host}:${url.port}`],
    ['user-agent', agent],
    ['accept', '*/*'],
    ...(url.user === undefined ? [] : [['authorization', basic(url.user)] as const]),
    ...headers,
    ...(body.length === 0 ? [] : [['content-length', String(body.length)] as const]),
    ['connection', 'close'],
  ])
  const lines = [...all].map(([name, value]) => `${name}: ${value}`)
  const head = [`${method} ${url.path} HTTP/1.1`, ...lines].join('\r\n')
  return Buffer.concat([Buffer.from(`${head}${HEAD_END}`), body])
}

export function basic(user: string): string {
  return `Basic ${Buffer.from(user).toString('base64')}`
}

/** Undefined: not HTTP. */
export function readAnswer(bytes: Uint8Array): HttpAnswer | undefined {
  const raw = Buffer.from(bytes)
  const end = raw.indexOf(HEAD_END)
  if (end === -1) return undefined
  const head = raw.subarray(0, end).toString('latin1')
  const [statusLine = '', ...lines] = head.split('\r\n')
  const [, status] = /^HTTP\/1\.[01] (\d{3})(?: |$)/.exec(statusLine) ?? []
  if (status === undefined) return undefined
  const headers = new Map(
    lines.map((line) => {
      const colon = line.indexOf(':')
      return [line.slice(0, colon).trim().toLowerCase(), line.slice(colon + 1).trim()] as const
    }),
  )
  const rest = raw.subarray(end + HEAD_END.length)
  const body = headers.get('transfer-encoding') === 'chunked' ? unchunked(rest) : rest
  return { statusLine, status: Number(status), headers, head, body }
}

function unchunked(bytes: Buffer): Uint8Array {
  const chunks: Uint8Array[] = []
  for (let at = 0; ;) {
    const end = bytes.indexOf('\r\n', at)
    const length = end === -1 ? 0 : Number.parseInt(bytes.subarray(at, end).toString('latin1'), 16)
    if (!(length > 0)) return Buffer.concat(chunks)
    chunks.push(bytes.subarray(end + 2, end + 2 + length))
    at = end + 2 + length + 2
  }
}
