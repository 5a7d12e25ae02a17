const BEYOND_ASCII = /[\u0080-\uffff]/
const strictUtf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/**
 * The value of a header that says `text` in UTF-8, as Go sends what it is told to: HTTP knows bytes, which Node takes and gives as
 * characters up to U+00FF (RFC 9110, 5.5).
 */
export function headerOfText(text: string): string {
  return BEYOND_ASCII.test(text) ? Buffer.from(text).toString('latin1') : text
}

/** What a header says whose bytes are UTF-8; of other bytes what Node makes of them. */
export function textOfHeader(value: string): string {
  if (!BEYOND_ASCII.test(value)) return value
  try {
    return strictUtf8.decode(Buffer.from(value, 'latin1'))
  } catch {
    return value
  }
}
