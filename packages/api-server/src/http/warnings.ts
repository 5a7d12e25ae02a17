/** Warning headers. Contract: docs/behaviour/api-server/requests.md, "Warnings". */
const TOTAL_RUNES = 4096
const CUT_RUNES = 256

/** The warnings of one request, each text once, in the order in which they came. */
export class Warnings {
  readonly #texts = new Set<string>()

  /** A text with control characters cannot be in a header, and is not said at all. */
  add(text: string): void {
    if (text !== '' && !/\p{Cc}/u.test(text)) this.#texts.add(text)
  }

  /** Values of the Warning header. */
  headers(): string[] {
    if (this.#texts.size === 0) return []
    const texts = [...this.#texts].map((text) => [...text])
    const total = texts.reduce((sum, runes) => sum + runes.length, 0)
    if (total <= TOTAL_RUNES) return texts.map((runes) => quote(runes.join('')))
    // The first text that is too much shortens all before it, and is said with them.
    const tooMuch = pastTotal(texts)
    const headers: string[] = []
    let used = 0
    for (const [index, runes] of texts.entries()) {
      const cut = runes.slice(0, CUT_RUNES)
      if (index > tooMuch && used + cut.length > TOTAL_RUNES) continue
      used += cut.length
      headers.push(quote(cut.join('')))
    }
    return headers
  }
}

/** The text with which all together become too long. */
function pastTotal(texts: readonly (readonly string[])[]): number {
  let sum = 0
  return texts.findIndex(({ length }) => (sum += length) > TOTAL_RUNES)
}

/** Text beyond Latin-1 cannot be sent raw: it goes out as its UTF-8 bytes. */
function quote(text: string): string {
  const escaped = text.replace(/["\\]/g, '\\$&')
  return `299 - "${Buffer.from(escaped, 'utf8').toString('latin1')}"`
}
