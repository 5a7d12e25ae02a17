import type { TransportResponse } from '../transport.ts'

/** Told of every `Warning: 299` header of an answer: deprecations, unknown fields. */
export type WarningHandler = (text: string) => void

const WARNING = /(\d{3}) (\S+) "((?:[^"\\]|\\.)*)"(?: "[^"]*")?/g

/** Passes the texts of warnings with code 299 on, in order. Malformed headers are ignored, as RFC 9111 allows. */
export function handleWarnings(
  response: Pick<TransportResponse, 'headers'>,
  handler: WarningHandler,
): void {
  const header = response.headers['warning']
  if (header === undefined) return
  for (const line of typeof header === 'string' ? [header] : header) {
    for (const [, code, , text] of line.matchAll(WARNING)) {
      if (code === '299') handler(text!.replaceAll(/\\(.)/g, '$1'))
    }
  }
}
