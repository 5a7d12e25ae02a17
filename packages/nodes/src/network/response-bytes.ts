import { PLAIN_TEXT, reasonPhrase } from '../answers/port-answers.ts'

/** An answer of HTTP/1.1, after which the connection ends. */
export function responseBytes(status: number, text: string, type = PLAIN_TEXT): Uint8Array {
  const body = Buffer.from(text)
  const head = [
    `HTTP/1.1 ${status} ${reasonPhrase(status)}`,
    `Content-Type: ${type}`,
    `Content-Length: ${body.length}`,
    'Connection: close',
  ]
  return Buffer.concat([Buffer.from(`${head.join('\r\n')}\r\n\r\n`), body])
}
