/** Bodies that nothing is made of, in the words of the real decoder. Contract: docs/behaviour/api-server/requests.md, "Decoding". */
import { DEEPEST_NESTING } from '@gyropilot/api'
import { badRequest } from './api-error.ts'

export { DEEPEST_NESTING }

export function unrecognized(expected: string, why: string, shown: string): Error {
  return badRequest(
    `the object provided is unrecognized (must be of type ${expected}): ${why} (${shown})`,
  )
}

/** Up to 30 bytes of the body: as they are when they start an object, otherwise in hex. */
export function excerpt(bytes: Uint8Array): string {
  if (bytes.length === 0) return '<empty>'
  const cut = Buffer.from(bytes.subarray(0, 30))
  const shown = bytes[0] === 0x7b ? cut.toString('utf8') : cut.toString('hex')
  return bytes.length > 30 ? `${shown} ...` : shown
}

/** Of JSON text. Throws 400. */
export function checkNesting(text: string): void {
  if (text.length < 2 * DEEPEST_NESTING) return
  let depth = 0
  let inString = false
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (inString) {
      if (code === 0x5c) i++
      else if (code === 0x22) inString = false
    } else if (code === 0x22) inString = true
    else if (code === 0x7b || code === 0x5b) {
      if (++depth > DEEPEST_NESTING) throw badRequest('exceeded max depth')
    } else if (code === 0x7d || code === 0x5d) depth--
  }
}
