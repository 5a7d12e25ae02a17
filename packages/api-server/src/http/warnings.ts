/** Warning headers. Contract: docs/behaviour/api-server/requests.md, "Warnings". */
const TOTAL_RUNES = 4096
const CUT_RUNES = 256

/** The warnings of one request, each text once, in the order in which they came. */
export class Warnings {
  readonly #texts = new Set<string>()

  add(text: string): void {
    if (text !== '') this.#texts.add(text)
  }

  /** Values of the Warning header. */
  headers(): string[] {
    if (this.#texts.size === 0) return []
    const texts = [...this.#texts].map((text) => [...text])
    const total = texts.reduce((sum, runes) => sum + runes.length, 0)
    if (total <= TOTAL_RUNES) return texts.map((runes) => quote(runes.join('')))
    const headers: string[] = []
    let used = 0
    for (const runes of texts) {
      const cut = runes.slice(0, CUT_RUNES)
      used += cut.length
      if (used > TOTAL_RUNES) break
      headers.push(quote(cut.join('')))
    }
    return headers
  }
}

/** Control characters cannot be in a header, nor can text beyond Latin-1 be sent raw: it goes out as its UTF-8 bytes. */
function quote(text: string): string {
  const oneLine = text.replace(/\p{Cc}/gu, ' ').replace(/["\\]/g, '\\$&')
  return `299 - "${Buffer.from(oneLine, 'utf8').toString('latin1')}"`
}
