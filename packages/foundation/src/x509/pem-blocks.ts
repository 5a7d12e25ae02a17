interface PemBlock {
  /** `CERTIFICATE` */
  readonly type: string
  /** From its first line to its last. */
  readonly pem: string
}

const MARK = /^-----(BEGIN|END) ([^\n]+?)-----[ \t\r]*$/gm

/**
 * The blocks of a PEM text, one after the other; what stands around them is passed over. A beginning without its end is none, and the
 * next one is looked at, as Go does it. Reads the text once: it may be a stranger's.
 */
export function pemBlocks(text: string): PemBlock[] {
  const blocks: PemBlock[] = []
  let open: { readonly type: string; readonly start: number } | undefined
  for (const { 0: line, 1: mark, 2: type = '', index } of text.matchAll(MARK)) {
    if (mark === 'BEGIN') open = { type, start: index }
    else {
      if (open?.type === type)
        blocks.push({ type, pem: text.slice(open.start, index + line.length) })
      open = undefined
    }
  }
  return blocks
}
