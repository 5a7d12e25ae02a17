import { PLAIN_TEXT, pageBytes } from '../answers/port-answers.ts'

/** A text as HTTP/1.1 answers it. */
export function responseBytes(status: number, text: string, type = PLAIN_TEXT): Uint8Array {
  return pageBytes({ status, type, body: Buffer.from(text) })
}
